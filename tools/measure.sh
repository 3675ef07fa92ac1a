#!/bin/sh
# measure.sh [REF [REF2]] - names, fragments, comments, lines and formatting of the production code, as a report.
#
# Without REF: this tree, as it is on disk.  With one: that commit and this tree side by side; with two: both commits.
# Production code is src/*/*.c and *.h without tests and fuzz targets and their headers, and include/tally/*.h.  A
# number shows a direction and a reader decides, so the exit status is 0 whatever they are; 2: no such commit.
#
# A static function of a .c file begins with `static` in the first column and ends with `}` there.  A use is a mention
# of its name in its file outside comments, strings, its definition and its prototypes; its lines are those between its
# braces.  A name of one word has no underscore.  A comment line holds a comment and nothing else.
set -eu
cd "$(dirname "$0")/.."
case ${1:-} in -*) sed -n '2s/^# //p' "$0" >&2; exit 2 ;; esac
[ $# -le 2 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

tree_of() { # REF NAME: the files of a commit, or links to those on disk
  mkdir -p "$tmp/$2"
  if [ "$1" = . ]; then
    git ls-files -co --exclude-standard -- src include test bench examples .clang-format |
      while read -r f; do [ ! -f "$f" ] || echo "$f"; done | tar -cf - -T - | tar -xf - -C "$tmp/$2"
  else
    git archive "$1" | tar -xf - -C "$tmp/$2"
  fi
}

measure() { # TREE: rows "group TAB what TAB number"
  (
    cd "$1"
    find src include -name '*.[ch]' ! -name '*_test.c' ! -name '*_fuzz.c' ! -name '*test*.h' | LC_ALL=C sort |
      LC_ALL=C xargs awk '
      # A line without comments and strings; `open` is an unclosed comment.
      function code_of(s,   i, c, n, out) {
        n = length(s); out = ""; commented = open
        for (i = 1; i <= n; i++) {
          c = substr(s, i, 1)
          if (open) { if (substr(s, i, 2) == "*/") { open = 0; i++ } continue }
          if (substr(s, i, 2) == "/*") { open = commented = 1; i++; continue }
          if (substr(s, i, 2) == "//") { commented = 1; break }
          if (c == "\"" || c == "\047") {
            for (i++; i <= n && substr(s, i, 1) != c; i++) if (substr(s, i, 1) == "\\") i++
            out = out "0"
            continue
          }
          out = out c
        }
        return out
      }
      function mentions_of(s,   name) {
        while (match(s, /[A-Za-z_][A-Za-z0-9_]*/)) {
          name = substr(s, RSTART, RLENGTH)
          used[name]++
          s = substr(s, RSTART + RLENGTH)
        }
      }
      function file_ends(   name) {
        if (ends_c) for (name in lines_of) {
          statics++
          letters += length(name)
          if (name !~ /_/) oneword++
          if (used[name] == 1 && lines_of[name] <= 8) fragments++
        }
        split("", lines_of); split("", used)
        open = 0; head = ""; name = ""
      }
      FNR == 1 { file_ends(); ends_c = FILENAME ~ /[.]c$/ }
      {
        split(FILENAME, part, "/")
        room = part[1] == "include" ? "include" : part[2]
        lines[room]++; total++
        c = code_of($0)
        if (commented && c !~ /[^[:space:]]/) comments++
        # A head goes from `static` to `{`, `;` or `=`; what is behind `{` belongs to the body.
        if (name == "" && head == "" && c ~ /^(__attribute__[[:space:]]*\(\([a-z]*\)\)[[:space:]]+)?static[[:space:]]/)
          head = " "
        if (head != "") {
          head = head c " "
          if (c ~ /[{;]/ || c ~ /^[{]/) {
            match(head, /[{;]/)
            h = substr(head, 1, RSTART - 1); what = substr(head, RSTART, 1); rest = substr(head, RSTART + 1)
            head = ""
            gsub(/__attribute__[[:space:]]*\(\(([^()]|\([^()]*\))*\)\)/, "", h)
            gsub(/PRINTF_LIKE\([^()]*\)|_Noreturn|TALLY_API/, "", h)
            if (h !~ /=/ && match(h, /[A-Za-z_][A-Za-z0-9_]*[[:space:]]*\(/)) {
              id = substr(h, RSTART, RLENGTH); sub(/[[:space:]]*\($/, "", id)
              mentions_of(substr(h, RSTART + RLENGTH))
              if (what == "{") {
                if (rest ~ /\}/) { lines_of[id] = 1 } else { name = id; first = FNR }
                mentions_of(rest)
              }
            } else { mentions_of(h); mentions_of(rest) }
          }
          next
        }
        mentions_of(c)
        if (name != "" && c ~ /^}/) { lines_of[name] = FNR - first - 1; name = "" }
      }
      END {
        file_ends()
        printf "names\tstatic functions\t%d\n", statics
        printf "names\tof one word, %%\t%.1f\n", 100 * oneword / statics
        printf "names\tmean length, letters\t%.1f\n", letters / statics
        printf "shape\tstatics with one use and at most 8 lines\t%d\n", fragments
        printf "shape\tcomment lines, %%\t%.1f\n", 100 * comments / total
        printf "lines\tall production code\t%d\n", total
        fflush()
        for (room in lines) printf "lines\t%s\t%d\n", room, lines[room] | "LC_ALL=C sort"
      }'
    format=
    for f in clang-format-14 clang-format; do
      case $("$f" --version 2>/dev/null) in *"version 14."*) format=$f; break ;; esac
    done
    if [ -n "$format" ]; then
      find . -name '*.[ch]' >../c_files
      xargs "$format" --dry-run -Werror <../c_files 2>&1 |
        sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error: .*clang-format-violations.*/\1/p' | sort -u | wc -l >../bad
      printf 'formatting\tC files\t%d\n' "$(wc -l <../c_files)"
      printf 'formatting\tdiffer from their .clang-format\t%d\n' "$(cat ../bad)"
    fi
  )
}

case $# in
0) set -- . ;;
1) set -- "$1" . ;;
esac
for ref; do
  [ "$ref" = . ] || git rev-parse -q --verify "$ref^{commit}" >/dev/null ||
    { echo "measure.sh: no such commit: $ref" >&2; exit 2; }
done
i=0
for ref; do
  i=$((i + 1))
  tree_of "$ref" "t$i"
  measure "$tmp/t$i" >"$tmp/rows$i"
  [ "$ref" = . ] && echo "this tree" >"$tmp/head$i" || git rev-parse --short "$ref" >"$tmp/head$i"
done
[ $i -eq 2 ] || { : >"$tmp/rows2"; : >"$tmp/head2"; }
awk -F '\t' -v h1="$(cat "$tmp/head1")" -v h2="$(cat "$tmp/head2")" '
  { key = $1 "\t" $2; if (!(key in seen)) { seen[key] = 1; order[++n] = key } value[key, FNR == NR ? 1 : 2] = $3 }
  END {
    printf "%-46s %12s", "", h1
    if (h2 != "") printf " %12s", h2
    print ""
    for (i = 1; i <= n; i++) {
      split(order[i], k, "\t")
      if (k[1] != group) { group = k[1]; print group }
      printf "  %-44s %12s", k[2], value[order[i], 1]
      if (h2 != "") printf " %12s", value[order[i], 2]
      print ""
    }
  }' "$tmp/rows1" "$tmp/rows2"
