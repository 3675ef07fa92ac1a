BEGIN /1/ ;
END /2/;
