/* Every aggregating function, with and without keys, printed, normalized, cleared and cut. */
BEGIN { @c = count(); @c = count(); @s = sum(5); @s = sum(-8); @a = avg(3); @a = avg(8); @mn = min(4); @mn = min(-4); }
BEGIN { @mx = max(4); @mx = max(-4); @sd = stddev(2); @sd = stddev(4); @sd = stddev(9); @sd = stddev(-1000000007); }
BEGIN { x = 1; @k["one", x] = count(); x++; @k["two", x] = count(); @k["two", x] = count(); @k["one", x] = count(); }
BEGIN { @q = quantize(0); @q = quantize(1); @q = quantize(5); @q = quantize(-5); @q = quantize(1000000); @q = quantize(7, 3); }
BEGIN { x = -3; @l = lquantize(x, 0, 10, 2); x = 5; @l = lquantize(x, 0, 10, 2); x = 50; @l = lquantize(x, 0, 10, 2); }
BEGIN { x = 3; @ll = llquantize(x, 10, 0, 3, 10); x = 55; @ll = llquantize(x, 10, 0, 3, 10); x = 123456; @ll = llquantize(x, 10, 0, 3, 10); x = -700; @ll = llquantize(x, 10, 0, 3, 10); }
BEGIN { @kq["a"] = quantize(3); @kq["b"] = quantize(300); @kq["a"] = quantize(4); }
BEGIN { @n[1] = sum(100); @n[2] = sum(250); normalize(@n, 10); printa(@n); denormalize(@n); printa("%d is %@d\n", @n); }
BEGIN { @t[1] = count(); @t[2] = count(); trunc(@t); @u[1] = sum(1); @u[2] = sum(2); @u[3] = sum(3); trunc(@u, 2); }
BEGIN { @z[1] = count(); clear(@z); @two[1] = count(); @three[1] = sum(3); printa("%d %@d %@d\n", @two, @three); }
END { printa(@c); printa("[%s %d] %@d\n", @k); }
