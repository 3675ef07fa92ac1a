# md2man.awk - a page of doc/verb/*.md as a manual page.
#
#   awk -v page=tally-trace -v version=1.0 -f md2man.awk trace.md
#
# The Markdown that those pages use: `#` the page's title ("tally trace - ask in D"), `##` a section, `###` a
# subsection, paragraphs, `- ` items (below `## OPTIONS` one that opens with an option in code is a tagged paragraph),
# tables, fenced blocks, `code`, **strong**, *emphasis*, [text](target).
BEGIN { fence = table = para = 0 }

# Characters that roff would take for its own.
function plain(s) {
  gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s); gsub(/`/, "\\(ga", s); gsub(/\^/, "\\(ha", s); gsub(/~/, "\\(ti", s)
  return s
}
function guard(s) { return s ~ /^[.']/ ? "\\&" s : s }

# Words of code are not divided: a hyphen would be read as part of the name.
function whole(s) { gsub(/[^ ]+/, "\\%&", s); return s }

# One line's marks: code and strong are bold, emphasis is italic, a link is its text.
function inline(s,   out, at, kind, len, stop, body) {
  out = ""
  while (match(s, /`[^`]+`|[*][*][^*]+[*][*]|[*][^* ][^*]*[*]|\[[^]]+\]\([^)]*\)/)) {
    at = RSTART; len = RLENGTH
    out = out plain(substr(s, 1, at - 1))
    body = substr(s, at, len)
    s = substr(s, at + len)
    kind = substr(body, 1, 1)
    if (kind == "`") out = out "\\fB" whole(plain(substr(body, 2, len - 2))) "\\fP"
    else if (substr(body, 1, 2) == "**") out = out "\\fB" inline(substr(body, 3, len - 4)) "\\fP"
    else if (kind == "*") out = out "\\fI" inline(substr(body, 2, len - 2)) "\\fP"
    else { stop = index(body, "]("); out = out inline(substr(body, 2, stop - 2)) }
  }
  return out plain(s)
}
function text(s) { print guard(inline(s)) }
function end_table() { if (table) { print ".TE\n.ad"; table = 0 } }

/^```/ {
  end_table()
  if (fence) print ".EE\n.RE"
  else print ".PP\n.RS 4\n.EX"
  fence = !fence; para = 0
  next
}
fence { print guard(plain($0)); next }

/^\|/ {                                        # a table: its rule gives the number of columns
  row = $0
  sub(/^\|[ \t]*/, "", row); sub(/[ \t]*\|[ \t]*$/, "", row)
  if (row ~ /^[-: |]+$/) next
  gsub(/\\\|/, "\001", row)                      # a bar that belongs to a cell
  cells = split(row, cell, /[ \t]*\|[ \t]*/)
  if (!table) {
    print ".PP\n.na\n.TS\nallbox;"
    for (i = 1; i < cells; i++) printf "lb "
    print "lbx"
    for (i = 1; i < cells; i++) printf "l "
    print "lx."
    table = 1
  }
  for (i = 1; i <= cells; i++) {
    gsub(/\001/, "|", cell[i])
    said = guard(inline(cell[i]))
    if (cell[i] !~ /^`[^ `]+`$/) said = "T{\n" said "\nT}" # a block is broken to the column's width, a name is not
    printf "%s%s", (i > 1 ? "\t" : ""), said
  }
  print ""
  para = 0
  next
}
{ end_table() }

/^# / {
  title = substr($0, 3)
  sub(/^`?[a-z -]*`? *(-|--|:|\342\200\224) */, "", title)
  printf "'\\\" t\n.TH %s 1 \"\" \"tally %s\" \"tally manual\"\n", toupper(page), version
  print ".SH NAME"
  printf "%s \\- %s\n", plain(page), inline(title)
  para = 0
  next
}
/^## / { print ".SH " toupper(substr($0, 4)); options = $0 == "## OPTIONS"; para = 0; next }
/^###+ / { sub(/^#+ /, ""); print ".SS " inline($0); para = 0; next }
/^[ \t]*$/ { para = 0; next }
/^[ \t]*[-*] / {
  sub(/^[ \t]*[-*] /, "")
  if (options && match($0, /^`-[^`]*`(, `-[^`]*`)*/)) {
    tag = substr($0, 1, RLENGTH)                 # before inline() matches something else
    $0 = substr($0, RLENGTH + 1)
    print ".TP"; text(tag)
    sub(/^[ :]+/, "")
    if ($0 != "") text($0)
  } else {
    print ".IP \\(bu 2"; text($0)
  }
  para = 1
  next
}
{
  if (!para) print ".PP"
  para = 1
  sub(/^[ \t]+/, "")
  text($0)
}
END { end_table() }
