BEGIN /1/ ;
END /2/;
/* expect-type clause line 2 default */
