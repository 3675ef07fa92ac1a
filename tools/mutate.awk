# mutate.awk - the mutants of C files: places where a small change may be made, and the change.
#
#   awk -f mutate.awk FILE...                               lists them, a row each: file, line, edits, change, source line
#   awk -v edits=EDITS -f mutate.awk FILE                   prints the file with these edits made
#
# Fields are parted by tabs.  Edits are OFFSET:LENGTH:TEXT, parted by a newline's stand-in, \001.  Only bodies of functions
# are changed, and in them neither comments, strings nor preprocessor lines.  It reads what clang-format writes: blanks around
# binary operators, the braces of a function alone in the first column.  LC_ALL=C: an offset is one of bytes.

BEGIN {
  swaps = "< <=,<= <,> >=,>= >,== !=,!= ==,&& ||,|| &&,+ -,- +,+= -=,-= +=,& |,| &,|= &=,&= |=,<< >>,>> <<"
  n = split(swaps, rows, ",")
  for (i = 1; i <= n; i++) { split(rows[i], pair, " "); swap[pair[1]] = pair[2] }
  keyword = "^(if|for|while|switch|return|sizeof|else|do|case|goto|default|static_assert|va_start|va_end|assert)$"
}

FNR == 1 { file_ends(); file = FILENAME; lines = 0; start[1] = 1; all = "" }
{ raw[++lines] = $0; start[lines + 1] = start[lines] + length($0) + 1 }
END { file_ends() }

function file_ends() {
  if (file == "") return
  for (l = 1; l <= lines; l++) all = all raw[l] "\n"
  if (edits != "") apply()
  else mutants_list()
}

function apply(   list, one, count, at, k, out) {
  count = split(edits, list, "\001")
  at = 1; out = ""
  for (k = 1; k <= count; k++) {
    split(list[k], one, ":")
    out = out substr(all, at, one[1] - at) substr(list[k], length(one[1] one[2]) + 3)
    at = one[1] + one[2]
  }
  printf "%s%s", out, substr(all, at)
}

# The same line with comments and what strings hold as blanks; `open` is an unclosed comment.
function mask_line(s,   i, c, n, out) {
  n = length(s)
  if (!open && s !~ /["\047\/]/) return s
  out = ""
  for (i = 1; i <= n; i++) {
    c = substr(s, i, 1)
    if (open) {
      if (substr(s, i, 2) == "*/") { open = 0; out = out " "; i++ }
      out = out " "
    } else if (substr(s, i, 2) == "/*") { open = 1; out = out "  "; i++ }
    else if (substr(s, i, 2) == "//") { for (; i <= n; i++) out = out " " }
    else if (c == "\"" || c == "\047") {
      out = out "\""
      for (i++; i <= n && substr(s, i, 1) != c; i++) {
        if (substr(s, i, 1) == "\\") { out = out "\""; i++ }
        out = out "\""
      }
      out = out "\""
    } else out = out c
  }
  return out
}

# Where the parenthesis that opens at column `col` of line `l` closes: line and column in close_line, close_col.
function find_close(l, col,   depth, n, c) {
  depth = 0
  for (; l <= lines; l++) {
    n = length(code[l])
    for (; col <= n; col++) {
      c = substr(code[l], col, 1)
      if (c == "(") depth++
      else if (c == ")" && --depth == 0) { close_line = l; close_col = col; return 1 }
    }
    col = 1
  }
  return 0
}

# Where the statement that begins in line `l` has its semicolon: 1-based offset in the file, 0 when it is no simple one.
function semicolon(l,   depth, n, col, c) {
  depth = 0
  for (; l <= lines; l++) {
    n = length(code[l])
    for (col = 1; col <= n; col++) {
      c = substr(code[l], col, 1)
      if (c == "(") depth++
      else if (c == ")") depth--
      else if (c == "{" || c == "}") return 0
      else if (c == ";") return depth ? 0 : start[l] + col - 1
    }
  }
  return 0
}

function row(l, edit, change,   text, key) {
  text = raw[l]
  gsub(/\t/, " ", text)
  sub(/^ +/, "", text)
  key = l SUBSEP change
  printf "%s\t%d\t%s\t%s%s\t%s\n", file, l, edit, change, (++seen[key] > 1 ? " #" seen[key] : ""), text
}

function edit_of(l, col, len, text) { return (start[l] + col - 1) ":" len ":" text }

function mutants_list(   l, body, before, split_seen) {
  open = 0
  for (l = 1; l <= lines; l++) code[l] = mask_line(raw[l])
  split("", seen)
  body = 0; before = ""
  for (l = 1; l <= lines; l++) {
    if (raw[l] == "{") body = 1
    else if (raw[l] ~ /^}/) body = 0
    else if (body && code[l] !~ /^#/ && raw[l - 1] !~ /\\$/) {
      list_operators(l)
      list_words(l)
      list_numbers(l)
      list_checks(l)
      if (before ~ /([;{}:)]|else)$/) list_statements(l)
    }
    if (code[l] !~ /^[ \t]*$/) { before = code[l]; sub(/[ \t]+$/, "", before) }
  }
}

function list_operators(l,   s, col, len, op) {
  s = code[l] " "
  for (col = 1; match(substr(s, col), / [-<>=!&|+]+ /); col += RSTART + RLENGTH - 2) {
    len = RLENGTH - 2
    op = substr(s, col + RSTART, len)
    if (op in swap) row(l, edit_of(l, col + RSTART, len, swap[op]), op " to " swap[op])
  }
  for (col = 1; match(substr(s, col), /![A-Za-z_(*]/); col += RSTART)
    row(l, edit_of(l, col + RSTART - 1, 1, ""), "! dropped")
}

function list_words(l,   s, col, word) {
  s = " " code[l] " "
  for (col = 1; match(substr(s, col), /[^A-Za-z0-9_](true|false|continue)[^A-Za-z0-9_]/); col += RSTART + RLENGTH - 2) {
    word = substr(s, col + RSTART, RLENGTH - 2)
    if (word == "true") row(l, edit_of(l, col + RSTART - 1, 4, "false"), "true to false")
    else if (word == "false") row(l, edit_of(l, col + RSTART - 1, 5, "true"), "false to true")
    else row(l, edit_of(l, col + RSTART - 1, 8, "break"), "continue to break")
  }
}

# Not: the size of an array that is declared, a number over 4096.
function list_numbers(l,   s, col, number, declared) {
  s = " " code[l] " "
  declared = code[l] ~ /^\t+[a-z_][a-z0-9_]* +[a-z_*]/ && code[l] !~ /^\t+(return|else|case) /
  for (col = 1; match(substr(s, col), /[^A-Za-z0-9_.][0-9]+[uUlL]*[^A-Za-z0-9_.]/); col += RSTART + RLENGTH - 2) {
    number = substr(s, col + RSTART, RLENGTH - 2)
    if (declared && substr(s, col + RSTART - 1, 1) == "[") continue
    sub(/[uUlL]+$/, "", number)
    if (number <= 4096 && (number == "0" || number !~ /^0/))
      row(l, edit_of(l, col + RSTART - 1, length(number), number + 1), number " to " number + 1)
  }
}

function list_checks(l,   s, col, here) {
  s = " " code[l]
  for (col = 1; match(substr(s, col), /[^A-Za-z0-9_]if \(/); col += RSTART + 2) {
    here = col + RSTART + 2
    if (find_close(l, here))
      row(l, edit_of(l, here, 1, "((") "\001" (start[close_line] + close_col - 1) ":1:) && 0)", "if never taken")
  }
}

function list_statements(l,   s, first, name, end) {
  s = code[l]
  match(s, /^\t+/)
  if (RLENGTH < 1) return
  first = RLENGTH + 1
  s = substr(s, first)
  if (match(s, /^[A-Za-z_][A-Za-z0-9_.>-]*(\[[^]]*\])*[A-Za-z0-9_.>-]*\(/)) {
    name = substr(s, 1, RLENGTH - 1)
    if (name ~ keyword || !find_close(l, first + RLENGTH - 1)) return
    if (substr(code[close_line], close_col + 1, 1) != ";") return
    end = start[close_line] + close_col
    row(l, (start[l] + first - 1) ":" (end - start[l] - first + 1) ":", "call dropped")
  } else if (match(s, /^\**[A-Za-z_(*][^ ]*(\[[^]]*\][^ ]*)? ([|&+^-]|<<|>>)?= /) || s ~ /^[^ ]+(\+\+|--);$/) {
    end = semicolon(l)
    if (end) row(l, (start[l] + first - 1) ":" (end - start[l] - first + 1) ":", "assignment dropped")
  }
}
