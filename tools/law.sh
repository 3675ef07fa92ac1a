#!/bin/sh
# law.sh [TREE] - holds a source tree against the import law, whose rows are tools/rooms.
# law.sh --self-test - one small tree per way of breaking the law: each must be refused.
#
# Prints FILE:LINE: reason for each breach; exit 0: none, 1: some, 2: the law itself is not readable.
# awk and sh only: a machine that can build can also check.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

judge() { # TREE
  find "$1/src" "$1/include" -type f \( -name '*.[ch]' -o -name '*.def' \) 2>/dev/null | LC_ALL=C sort >"$tmp/files"
  LC_ALL=C awk -v tree="$1/" '
    function breach(text) { printf "%s:%d: %s\n", name, FNR, text; bad++ }
    function has(list, word) { return index(" " list " ", " " word " ") > 0 }

    # A line to code (comments gone, strings empty) and text (the strings); `open` is an unclosed comment.
    function split_line(s,   i, c, n) {
      code = text = ""; n = length(s)
      if (!open && s !~ /["\047\/]/) { code = s; return }
      for (i = 1; i <= n; i++) {
        c = substr(s, i, 1)
        if (open) { if (substr(s, i, 2) == "*/") { open = 0; i++ } continue }
        if (substr(s, i, 2) == "/*") { open = 1; i++; continue }
        if (substr(s, i, 2) == "//") break
        if (c == "\"" || c == "\047") {
          code = code c c
          for (i++; i <= n && substr(s, i, 1) != c; i++) {
            if (substr(s, i, 1) == "\\") i++
            if (c == "\"") text = text substr(s, i, 1)
          }
          text = text " "
          continue
        }
        code = code c
      }
    }

    function include_law(what,   target, slash) {
      if (what ~ /[.][.]\//) { breach("a path may not climb: " what); return }
      if (what ~ /^<tally\//) {
        target = substr(what, 8, length(what) - 8)
        if (room != "include" && target in header && !has(header[target], room))
          breach(room " may not include " what)
        return
      }
      if (what !~ /^"/) return
      gsub(/"/, "", what)
      slash = index(what, "/")
      target = slash ? substr(what, 1, slash - 1) : room
      if (room == "include") { breach("an installed header includes only <tally/...>: " what); return }
      if (!(target in place)) { breach("no such room: " what); return }
      if (target != room && what ~ /_int[.]h$/) breach("private to " target ": " what)
      if (target == room) return
      if (place[target] >= place[room])
        breach(room " may not include from " target (place[target] == place[room] ? ", its sibling" : ", to its right"))
      else if (room in only && !has(only[room], target))
        breach(room " may include only from: " only[room])
    }

    FILENAME == law && /^tier / { tiers++; for (i = 2; i <= NF; i++) place[$i] = tiers }
    FILENAME == law && /^only / { only[$2] = ""; for (i = 3; i <= NF; i++) only[$2] = only[$2] " " $i }
    FILENAME == law && /^header / { header[$2] = ""; for (i = 3; i <= NF; i++) header[$2] = header[$2] " " $i }
    FILENAME == law && /^use / {
      what[++uses] = $2; where[uses] = $3; ere[uses] = $4; who[uses] = ""
      if ($3 == "code") any_code = any_code (any_code == "" ? "" : "|") "(" $4 ")"
      for (i = 5; i <= NF; i++) who[uses] = who[uses] " " $i
    }
    FILENAME == law { next }

    FNR == 1 {
      name = substr(FILENAME, length(tree) + 1); open = 0
      split(name, part, "/")
      room = part[1] == "include" ? "include" : part[2]
      free = name ~ /_(test|fuzz)[.]c$/
      if (room != "include" && !(room in place)) { breach("a room that tools/rooms does not know: " room); nextfile_ = FILENAME }
    }
    FILENAME == nextfile_ { next }
    {
      split_line($0)
      subject["code"] = code; subject["text"] = text; subject["include"] = ""
      if ($0 ~ /^[[:blank:]]*#[[:blank:]]*include/ && code ~ /include/) {
        line = $0
        sub(/^[[:blank:]]*#[[:blank:]]*include[[:blank:]]*/, "", line)
        sub(/[[:blank:]]*(\/[*\/].*)?$/, "", line)
        include_law(line)
        subject["include"] = line; subject["code"] = subject["text"] = ""
      }
      if (free || room == "include") next
      # One expression for most lines: awk compiles one that changes anew each time.
      if (subject["code"] !~ any_code) subject["code"] = ""
      for (u = 1; u <= uses; u++)
        if (subject[where[u]] != "" && subject[where[u]] ~ ere[u] && !has(who[u], room))
          breach(what[u] " are for" who[u] " only")
    }
    END { if (!tiers || !uses) exit 2; exit bad > 0 }
  ' law="$here/rooms" "$here/rooms" $(cat "$tmp/files")
}

# Each case: file, and a line that breaks the law.  The clean line beside it must pass.
self_test() {
  n=0 failed=0
  while IFS='|' read -r verdict file line; do
    [ -n "$verdict" ] || continue
    n=$((n + 1)) t=$tmp/tree.$n
    mkdir -p "$t/$(dirname "$file")"
    printf '%s\n' "$line" >"$t/$file"
    said=ok
    judge "$t" >"$tmp/said" || said=refused
    [ "$said" = "$verdict" ] && { echo "ok $n - $verdict: $file: $line"; continue; }
    failed=$((failed + 1))
    echo "not ok $n - $said, not $verdict: $file: $line"; sed 's/^/# /' "$tmp/said"
  done <<'CASES'
ok|src/bpf/x.c|#include "dlang/dlang.h"
ok|src/bpf/x.c|#include "bpf/gen_int.h" /* its own */
ok|src/kernel/x.c|#include <bpf/bpf.h>
ok|src/kernel/x.c|putenv(text);
ok|src/attach/x.c|#include <fuse3/fuse_lowlevel.h>
ok|src/cmd/x.c|int main(void) { printf("%s", getenv("HOME")); exit(0); }
ok|src/session/x.c|const char *s = "call exit() or printf()"; /* exit(1) */
ok|src/answer/x.c|v->time (3); p.open(4); my_exit(5);
ok|src/symbol/x.c|const char *s = "of vmlinux/procedure";
ok|src/base/x_test.c|int main(void) { printf("%d", 1); exit(0); }
ok|include/tally/x.h|#include <tally/error.h>
refused|src/dlang/x.c|#include "bpf/bpf.h"
refused|src/dlang/x.c|#include "answer/answer.h"
refused|src/base/x_test.c|#include "facts/slot.h"
refused|src/session/x.c|#include "kernel/ring_int.h"
refused|src/session/x.c|#include "../kernel/kernel.h"
refused|src/cmd/x.c|#include "session/session.h"
refused|src/dlang/x.c|#include <tally/tally.h>
refused|include/tally/x.h|#include "base/base.h"
refused|src/cellar/x.c|int x;
refused|src/bpf/x.c|#include <linux/bpf.h>
refused|src/provider/x.c|#include <bpf/libbpf.h>
refused|src/ptt/x.c|#include <unistd.h>
refused|src/session/x.c|#include <sys/socket.h>
refused|src/session/x.c|#include <fuse3/fuse_lowlevel.h>
refused|src/machine/x.c|t = clock_gettime(CLOCK_MONOTONIC, &ts);
refused|src/answer/x.c|FILE *f = fopen(name, "r");
refused|src/session/x.c|int fd = socket(AF_UNIX, SOCK_STREAM, 0);
refused|src/session/x.c|syscall(SYS_perf_event_open, &attr);
refused|src/symbol/x.c|snprintf(path, n, "/proc/%d/maps", pid);
refused|src/session/x.c|fprintf(stderr, "oops");
refused|src/base/x.c|exit(1);
refused|src/session/x.c|_exit(1);
refused|src/provider/x.c|const char *home = getenv("HOME");
refused|src/session/x.c|setenv("HOME", "/", 1);
refused|src/session/x.c|while ((c = getopt(argc, argv, "x")) != -1)
refused|src/dlang/x.c|char *p = malloc(4);
CASES
  echo "1..$n"
  [ "$failed" -eq 0 ]
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
case ${1:-} in
--self-test) self_test ;;
*) judge "${1:-$here/..}" ;;
esac
