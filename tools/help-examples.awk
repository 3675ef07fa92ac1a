# help-examples.awk - the examples of `tally VERB -h` as blocks of a page, for transcript.sh.
# A line "# with ..." says what those that follow it need.
BEGIN {
  need["# on a Kunpeng server:"] = "ptt"
  need["# with DuckDB's library:"] = "duckdb"
  need["# with hardware counters:"] = "pmu"
  need["# with FUSE:"] = "fuse"
  need["# as root:"] = "bpf"
}
/^Examples:/ { inside = 1; print "```sh"; next }
inside && /^$/ { inside = 0; print "```" }
!inside { next }
{ sub(/^  /, "") }
/^#/ { print "```\n```sh " need[$0]; next }
{ print }
END { if (inside) print "```" }
