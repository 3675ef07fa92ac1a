# transcript.awk SAMPLE OUTPUT - what an example's header says that it prints, held against what it prints.
#
# Numbers, how long a bar is, and how many blanks stand between words are not compared, nor are empty lines.  A line "..." stands for any lines.
# Exit 1, and a word: a line that is not there, or one too many.
function plain(s) {
  gsub(/0x[0-9a-f]+|[0-9]+/, "N", s)
  gsub(/@+/, "@", s)
  gsub(/[ \t]+/, " ", s)
  sub(/^ /, "", s)
  sub(/ $/, "", s)
  return s
}
{ line = plain($0) }
line == "" { next }
FNR == NR { said[++n] = line; shown[n] = $0; next }
{ got[++m] = line }
END {
  for (i = 1; i <= n; i++) {
    if (said[i] == "...") { any = 1; continue }
    for (at++; any && at <= m && got[at] != said[i]; at++);
    if (at > m || got[at] != said[i]) { print "not there: " shown[i]; exit 1 }
    any = 0
  }
  if (!any && at < m) { print "one more line: " got[at + 1]; exit 1 }
}
