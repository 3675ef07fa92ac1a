/* A set of characters (strtok, strtoll) makes every needle longer in the sight of the verifier; the last variable has room for it. */
#pragma D option strsize=16
string word; string text;
BEGIN { word = " -12/a"; text = "a"; }
BEGIN { printf("%d\n", strtoll(word)); }
BEGIN { printf("%s\n", strstr(word, text)); }
BEGIN { printf("%d %d\n", index(word, text), rindex(word, text)); }
BEGIN { printf("%s\n", strtok(word, "/")); }
BEGIN { exit(0); }
