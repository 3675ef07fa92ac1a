#!/bin/sh
# fetch-duckdb.sh [DIR] - puts DuckDB's C library, libduckdb.so, into DIR (~/.local/lib, where tally looks).
#
# `tally export` needs it for SQL and Parquet, and for nothing else.  It comes from DuckDB's own npm package, which
# carries the library; npm checks what it fetches.  Does nothing when the library is there.  DUCKDB_VERSION: another
# version of the package.  Exit 1: could not be fetched; 2: wrong options, or no library for this machine.
set -eu
dir=${1:-$HOME/.local/lib}
version=${DUCKDB_VERSION:-1.5.6-r.1}

[ $# -le 1 ] && case $dir in -*) false ;; esac || { echo "usage: fetch-duckdb.sh [DIR]" >&2; exit 2; }
case $(uname -m) in
x86_64) machine=x64 ;;
aarch64) machine=arm64 ;;
*) echo "fetch-duckdb.sh: the package has no library for $(uname -m)" >&2; exit 2 ;;
esac
if [ ! -s "$dir/libduckdb.so" ]; then
  command -v npm >/dev/null || { echo "fetch-duckdb.sh: npm is needed: apt-get install npm" >&2; exit 1; }
  mkdir -p "$dir"
  tmp=$(mktemp -d "$dir/.duckdb.XXXXXX")
  trap 'rm -rf "$tmp"' EXIT
  (cd "$tmp" && npm pack --loglevel=error "@duckdb/node-bindings-linux-$machine@$version" >pack.log 2>&1 && tar xzf ./*.tgz) || {
    tail -n 5 "$tmp/pack.log" >&2
    echo "fetch-duckdb.sh: could not be fetched" >&2
    exit 1
  }
  mv "$tmp/package/libduckdb.so" "$dir/libduckdb.so"    # whole or not at all
fi
echo "$dir/libduckdb.so"
[ "$dir" = "$HOME/.local/lib" ] || echo "TALLY_DUCKDB=$dir/libduckdb.so tells tally" >&2
