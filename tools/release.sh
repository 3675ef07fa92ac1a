#!/bin/bash
# release.sh VERSION - a release of what is committed: checks, tag vVERSION, and build/release-VERSION with tarball, static program and
# checksums.  `make release`.  Nothing is signed and nothing is pushed.
#
# Refuses where the tree is not clean, the tag is there, a changelog does not begin with VERSION, or ./check.sh fails.
# RELEASE_CHECK=COMMAND runs instead of ./check.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?which version}
fail() { echo "release.sh: $*" >&2; exit 1; }

[ -z "$(git status --porcelain)" ] || fail "what is not committed would not be in the release: commit or stash it"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || fail "there is a tag v$version; a new release has a new VERSION in Makefile"
[ "$(sed -n 's/^VERSION := //p' Makefile)" = "$version" ] || fail "Makefile has another VERSION"
[ "$(sed -n 's/^## //p' CHANGELOG.md | head -n 1)" = "$version" ] || fail "CHANGELOG.md does not begin with a section '## $version'"
[ -n "$(awk '/^## / { on = $2 == v; next } on' v="$version" CHANGELOG.md | grep -E '^- ')" ] || fail "CHANGELOG.md says nothing of $version"
[[ $(head -n 1 debian/changelog) == "tally ($version-"* ]] || fail "debian/changelog does not begin with $version"
${RELEASE_CHECK:-./check.sh} || fail "the checks fail: nothing is released"

dir=build/release-$version
rm -rf "$dir"
mkdir -p "$dir"
# Nothing of the tarball depends on who makes it: `git archive` takes times from the commit, gzip -n none.
git archive --prefix="tally-$version/" HEAD | gzip -n9 >"$dir/tally-$version.tar.gz"
make -s -j"$(nproc)" static
cp build/static/tally "$dir/tally-$version-linux-$(uname -m)-static"
strip "$dir/tally-$version-linux-$(uname -m)-static"
(cd "$dir" && sha256sum tally-* >SHA256SUMS)
git tag -a -m "tally $version" "v$version"
cat "$dir/SHA256SUMS"
echo "release.sh: tag v$version is made; to publish: git push origin v$version, and the files of $dir"
