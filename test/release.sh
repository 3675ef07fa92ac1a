#!/bin/bash
# release.sh - speaks TAP: what `make release` refuses, and what it makes.  In a clone of what is committed here.
set -u
cd "$(dirname "$0")/.." || exit 1
n=0 bad=0 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say() { # STATUS WORDS
  n=$((n + 1))
  if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; tail -n 20 "$work/log" | sed 's/^/# /'; bad=1; fi
}
git clone -q "$PWD" "$work/tally" >"$work/log" 2>&1
cd "$work/tally" || exit 1
git config user.name tester && git config user.email tester@localhost
version=$(sed -n 's/^VERSION := //p' Makefile)
release() { RELEASE_CHECK=${check:-true} make -s release >"$work/log" 2>&1 </dev/null; }
refused() { # WORDS EXPRESSION: it fails, says so, and leaves no tag
  ! release && grep -qE "$2" "$work/log" && [ -z "$(git tag -l "v$version")" ]
  say $? "$1"
  git checkout -q . && git reset -q --hard origin/HEAD
}
git tag -l | xargs -r git tag -d >/dev/null
echo >>README.md
refused "a release with uncommitted changes is refused" "not committed"
sed -i "0,/^## $version/s//## 9.9.9/" CHANGELOG.md && git commit -qam "tests: another section"
refused "a release that CHANGELOG.md has no section of is refused" "CHANGELOG.md does not begin"
sed -i "1s/$version/9.9.9/" debian/changelog && git commit -qam "tests: another version"
refused "a release that debian/changelog does not begin with is refused" "debian/changelog"
check=false refused "a release whose checks fail is refused" "checks fail"
release
say $? "a release is made"
(cd "build/release-$version" && sha256sum -c SHA256SUMS && [ "$(wc -l <SHA256SUMS)" -eq 2 ]) >"$work/log" 2>&1
say $? "its files are what the checksums say"
[ "$(git rev-parse "v$version^{commit}")" = "$(git rev-parse HEAD)" ] && git cat-file -p "v$version" >"$work/log" && ! grep -q 'BEGIN PGP' "$work/log"
say $? "its tag names the commit, and is not signed"
tar -xzf "build/release-$version/tally-$version.tar.gz" -C "$work" && diff -r --exclude=.git --exclude=build "$work/tally-$version" . >"$work/log" 2>&1
say $? "its tarball is what is committed"
"build/release-$version/tally-$version-linux-$(uname -m)-static" --version | grep -q "^tally $version"
say $? "its static program runs"
! release && grep -q "there is a tag" "$work/log"
say $? "the same release is not made twice"
echo "1..$n"
exit $bad
