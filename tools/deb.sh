#!/bin/bash
# deb.sh [-S] [DIR] - Debian packages of what is committed, in DIR (build/deb).
#
# Exports the commit into a clean tree and builds there with dpkg-buildpackage: .deb files, .changes, and build.log for
# blhc(1).  -S: the source package only, which needs no compiler.  DEB_BUILD_OPTIONS is heeded (nocheck, parallel=N).
# Nothing is fetched: the packages of debian/control's Build-Depends have to be there (`apt-get build-dep ./`).
# Exit 1: could not be built.
set -euo pipefail
source=
[ "${1:-}" = -S ] && { source=1; shift; }
[ $# -le 1 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
mkdir -p "${1:-build/deb}"
dir=$(cd "${1:-build/deb}" && pwd)
cd "$(dirname "$0")/.."
command -v dpkg-buildpackage >/dev/null || { echo "deb.sh: no dpkg-buildpackage (Debian package dpkg-dev)" >&2; exit 1; }
[ -z "$(git status --porcelain)" ] || echo "deb.sh: what is not committed is not in the packages" >&2

version=$(sed -n '1s/^tally (\(.*\)-[^-]*).*/\1/p' debian/changelog)
rm -rf "$dir"/*
git archive --prefix="tally-$version/" HEAD | tar -x -C "$dir"
cp -a "$dir/tally-$version/debian" "$dir/debian"
rm -r "$dir/tally-$version/debian"
tar -c --sort=name --owner=0 --group=0 --mtime="@$(git log -1 --format=%ct)" -C "$dir" "tally-$version" |
  gzip -n9 >"$dir/tally_$version.orig.tar.gz"
mv "$dir/debian" "$dir/tally-$version/debian"
cd "$dir/tally-$version"
if [ $source ]; then
  (cd .. && dpkg-source -b "tally-$version")
else
  # What the log names as its tree differs from build to build; the log is for blhc.
  dpkg-buildpackage -us -uc >"$dir/build.log" 2>&1 || { tail -n 40 "$dir/build.log" >&2; exit 1; }
  ls "$dir"/*.deb
fi
