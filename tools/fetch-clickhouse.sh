#!/bin/sh
# fetch-clickhouse.sh DIR - puts a program DIR/clickhouse there that takes `clickhouse local -q QUERY`, to test the queries of the
# manual with ClickHouse's engine.
#
# Debian has a ClickHouse that reads no Parquet.  The npm package of chDB carries the engine of a new one (560 MB), and node runs it.
# Does nothing when the program is there.  Exit 1: could not be fetched; 2: wrong options, or no package for this machine.
set -eu
version=${CHDB_VERSION:-26.7.3-stable.1}

[ $# -eq 1 ] && case $1 in -*) false ;; esac || { echo "usage: fetch-clickhouse.sh DIR" >&2; exit 2; }
case $(uname -m) in
x86_64) machine=x64 ;;
aarch64) machine=arm64 ;;
*) echo "fetch-clickhouse.sh: there is no package for $(uname -m)" >&2; exit 2 ;;
esac
mkdir -p "$1"
dir=$(cd "$1" && pwd)
if [ ! -x "$dir/clickhouse" ]; then
  command -v npm >/dev/null || { echo "fetch-clickhouse.sh: npm is needed: apt-get install npm" >&2; exit 1; }
  tmp=$(mktemp -d "$dir/.chdb.XXXXXX")
  trap 'rm -rf "$tmp"' EXIT
  (cd "$tmp" && npm pack --loglevel=error "@chdb/lib-linux-$machine-gnu@$version" >pack.log 2>&1 && tar xzf ./*.tgz) || {
    tail -n 5 "$tmp/pack.log" >&2
    echo "fetch-clickhouse.sh: could not be fetched" >&2
    exit 1
  }
  rm -rf "$dir/chdb"
  mv "$tmp/package" "$dir/chdb"
  cat >"$tmp/clickhouse" <<'JS'
#!/usr/bin/env node
const [local, option, query, ...more] = process.argv.slice(2);
if (local !== 'local' || option !== '-q' || query === undefined || more.length) {
  console.error('usage: clickhouse local -q QUERY');
  process.exit(2);
}
try {
  process.stdout.write(require(__dirname + '/chdb').Query(query, 'TSV'));
} catch (e) {
  console.error(e.message);
  process.exit(1);
}
JS
  chmod +x "$tmp/clickhouse"
  mv "$tmp/clickhouse" "$dir/clickhouse"
fi
echo "$dir/clickhouse"
