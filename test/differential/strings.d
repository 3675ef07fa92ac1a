/* Strings: comparison, the subroutines, and what happens at their bounds. */
string s; string t;

BEGIN { s = "abc"; t = "abd"; trace(s); trace(s == t); trace(s != t); trace(s < t); trace(s <= t); trace(s > t); }
BEGIN { trace(s == "abc"); trace("abc" == s); trace(s == "abcd"); trace(s == "ab"); trace(s == ""); trace("" == ""); }
BEGIN { trace(strlen(s)); trace(strlen("")); trace(strjoin(s, t)); trace(strjoin("", t)); trace(strjoin(s, "")); }
BEGIN { t = strjoin(s, s); t = strjoin(t, t); t = strjoin(t, t); t = strjoin(t, t); trace(t); trace(strlen(t)); }
BEGIN { t = strjoin(t, t); t = strjoin(t, t); t = strjoin(t, t); t = strjoin(t, t); trace(strlen(t)); }
BEGIN { trace(substr(s, 1)); trace(substr(s, 1, 1)); trace(substr(s, -2)); trace(substr(s, -2, 1)); trace(substr(s, 0)); }
BEGIN { trace(substr(s, 3)); trace(substr(s, 10)); trace(substr(s, -10)); trace(substr(s, 0, -1)); trace(substr(s, 2, 99)); }
BEGIN { trace(substr(s, -10, 9)); trace(substr(s, 1, -5)); trace(substr("", 0)); trace(substr(s, 0, 0)); }
BEGIN { trace(index(s, "b")); trace(index(s, "bc")); trace(index(s, "c")); trace(index(s, "d")); trace(index(s, s)); }
BEGIN { trace(index(s, "")); trace(index("", "")); trace(index("", "a")); trace(index(s, "abcd")); trace(index(s, "b", 2)); }
BEGIN { trace(index("aaaaaaaaab", "aaab")); trace(index("abababac", "ababac")); trace(index("aabaaabaaac", "aabaaac")); }
BEGIN { trace(index("mississippi", "issip")); trace(index("mississippi", "ss", 3)); trace(index("xyz", "z", 99)); }
BEGIN { trace(basename("/usr/bin/x")); trace(basename("x")); trace(basename("/")); trace(basename("")); trace(basename("a/b/")); }
BEGIN { trace(dirname("/usr/bin/x")); trace(dirname("x")); trace(dirname("/")); trace(dirname("")); trace(dirname("a/b/")); }
BEGIN { trace(basename(strjoin("/x/", s))); trace(dirname(strjoin(s, "/y"))); trace(substr(basename("/q/word"), 1, 2)); }
BEGIN { trace(probeprov); trace(probemod); trace(probefunc); trace(probename); }
BEGIN { s = "\ttab\\"; trace(s); s = s == "\ttab\\" ? "same" : "other"; trace(s); s = ""; trace(s); trace(s == ""); }
BEGIN { printf("%s|%10s|%-10s|%.2s|%c|%d|%5d|%-5d|%05d|%x|%X|%o|%u|%%", "str", "right", "left", "cut", 65, -5, 42, 42, 42, 255, 255, 8, 7); }
