# examples.awk - the commands of the fenced ```console blocks of Markdown pages, one a line:
# FILE, what stands after `console` (or -), COMMAND; tabs between.  A line that ends in \ goes on in the next.
FNR == 1 { inside = 0 }
/^```/ { inside = !inside && /^```console/; needs = NF > 1 ? $2 : "-"; next }
inside && (/^\$ / || more) {
  line = more ? $0 : substr($0, 3)
  more = sub(/\\$/, "", line)
  command = command line
  if (!more) { print FILENAME "\t" needs "\t" command; command = "" }
}
