/* What the verifier knows of strtoll()'s value on the path of each digit does not make it walk what follows for each. */
string word; string text; int i; int array[4];
BEGIN { word = " -0x1f/a"; text = "zz1f"; i = 1; }
BEGIN /strtoll(word, 16) < 0/ {
	if (strtoll(dirname(word), 16))
		@ = count();
	array[i & 3] = rindex(tolower(word), text + (i & 3) + 1, 9);
	printf("%d %d %d\n", array[1], strtoll(word, 16), strtoll(text, 36));
	printf("%d %d\n", strtoll(text, 2), index(strjoin(word, text), "1"));
}
BEGIN { exit(0); }
