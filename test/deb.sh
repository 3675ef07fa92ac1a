#!/bin/bash
# deb.sh [SUITE] - Debian's packages of what is committed, built and installed in fresh trees of SUITE (bookworm).  As root; speaks TAP.
#
# Builds them twice, without a network, as another user: in different directories, at different dates, in different locales, with
# different umasks; the second build must give the same bytes.  lintian, blhc, and what ELF says of the hardening.  Then, in a tree
# that never saw the source: all packages are installed, debian/tests run, and the tutorials do what they say from the installed
# files, as root and as another user; the packages go and leave nothing.  What it built is in build/deb/SUITE.
set -u
cd "$(dirname "$0")/.." || exit 1
suite=${1:-bookworm} out=build/deb/${1:-bookworm} n=0 bad=0
log=$(mktemp) work=$(mktemp -d) built= fresh=
finish() {
  [ -z "$built" ] || tools/tree.sh drop "$built"
  [ -z "$fresh" ] || tools/tree.sh drop "$fresh"
  rm -rf "$log" "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

say() { # STATUS WORDS
  n=$((n + 1))
  if [ "$1" -eq 0 ]; then echo "ok $n - $2 (${SECONDS} s)"
  else echo "not ok $n - $2"; tail -n "${LINES_SHOWN:-40}" "$log" | cut -c1-300 | sed 's/^/# /'; bad=1; fi
  SECONDS=0
  return "$1"
}
inside() { # WORDS [-u USER] TREE SCRIPT: one check: a script in the tree that ends with status 0
  local words=$1 status=0
  shift
  tools/tree.sh run "$@" >"$log" 2>&1 </dev/null & wait $! || status=$?
  say $status "$words"
}

tools/deps.sh deb || { say 1 "dpkg-dev is here"; exit 1; }
tools/deb.sh -S "$work" >"$log" 2>&1
say $? "the source package is made of what is committed" || exit 1
[ -z "$(git status --porcelain)" ] || echo "# what is not committed here is not looked at"
source=$(basename "$work"/*.dsc)

# ---- building ---------------------------------------------------------------------------------
if ! built=$(exec tools/tree.sh copy "$suite" 2>"$log"); then built=; say 1 "a minimal Debian $suite can be made"; exit 1; fi
mkdir "$built/root/source" && cp "$work"/*.{dsc,tar.*} "$built/root/source/"
inside "what the package builds with is installed" "$built" "
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q >/dev/null && apt-get install -qy --no-install-recommends dpkg-dev faketime lintian blhc locales binutils >/dev/null &&
  apt-get build-dep -qy --no-install-recommends /source/$source >/dev/null &&
  localedef -i tr_TR -f UTF-8 tr_TR.UTF-8 && useradd -m builder" || exit 1

build() { # DIRECTORY UMASK ENVIRONMENT... -- COMMAND...: a script's text
  local dir=$1 mask=$2
  shift 2
  echo "mkdir -p $dir && cd $dir && dpkg-source -x /source/$source tree >/dev/null && chown -R builder: $dir && cd tree && umask $mask &&
    unshare -n setpriv --reuid builder --regid builder --clear-groups \
      env HOME=/home/builder PATH=/usr/bin:/bin $* dpkg-buildpackage -us -uc -b >$dir/log 2>&1 || { tail -n 30 $dir/log; grep -A 8 ' FAILED' $dir/log; exit 1; }"
}
jobs=$(nproc)
LINES_SHOWN=100 inside "the packages are built, and the unit tests pass, without a network and as another user" "$built" \
  "$(build /home/builder/one 022 LC_ALL=C TZ=UTC "DEB_BUILD_OPTIONS=parallel=$jobs")" || exit 1
inside "a second build, with nocheck, elsewhere, 400 days later and in Turkish, runs no test" "$built" \
  "$(build /var/tmp/another/and/longer/place 002 LC_ALL=tr_TR.UTF-8 TZ=Pacific/Auckland "'DEB_BUILD_OPTIONS=nocheck parallel=1'" faketime -f +400d); ! grep -q run-tests.sh /var/tmp/another/and/longer/place/log"
inside "both builds give the same bytes" "$built" '
  cd /home/builder/one && status=0
  for deb in *.deb; do cmp "$deb" "/var/tmp/another/and/longer/place/$deb" || status=1; done
  [ "$(ls *.deb | wc -l)" -ge 6 ] && exit $status'
LINES_SHOWN=80 inside "lintian has nothing to say, at pedantic" "$built" \
  'cd /home/builder/one && said=$(lintian -I --pedantic --profile debian ./*.changes 2>&1 | grep -E "^[EWIP]:"); echo "$said"; [ -z "$said" ]'
inside "blhc finds each compiler and linker flag" "$built" 'blhc --all --arch "$(dpkg --print-architecture)" /home/builder/one/log'
inside "what is installed is position independent, its relocations are read-only, and libbpf and libelf are shared" "$built" '
  cd /home/builder/one && status=0
  for deb in tally_*.deb libtally0_*.deb tally-qemu_*.deb; do dpkg-deb -x "$deb" elf; done
  for file in $(find elf -type f \( -name tally -o -name "*.so*" \) -path "*/usr/*" ! -path "*bash*" ! -path "*/lintian/*"); do
    readelf -hW "$file" | grep -q "Type:.*DYN" && readelf -dW "$file" | grep -q BIND_NOW && readelf -lW "$file" | grep -q GNU_RELRO &&
      readelf -W --dyn-syms "$file" | grep -q "__stack_chk_fail" && readelf -W --dyn-syms "$file" | grep -q "_chk@" || { echo "$file"; status=1; }
  done
  readelf -dW elf/usr/bin/tally | grep -q "FLAGS_1.*PIE" || status=1
  for library in libbpf.so.1 libelf.so.1; do readelf -dW elf/usr/bin/tally | grep -q "NEEDED.*$library" || { echo "$library"; status=1; }; done
  exit $status'
inside "what is opened at run time is recommended or suggested" "$built" '
  cd /home/builder/one && dpkg-deb -f tally_*.deb Recommends Suggests && status=0
  for library in libpfm4 liblzma5 libzstd1 libfuse3 libdw1 libdebuginfod1 libmicrohttpd12 libunicorn2; do dpkg-deb -f tally_*.deb Recommends Suggests | grep -q "$library" || { echo "$library"; status=1; }; done
  exit $status'
rm -rf "$out"
mkdir -p "$out"
cp "$built"/root/home/builder/one/*.deb "$built"/root/home/builder/one/log "$work"/*.dsc "$work"/*.tar.* "$out/"
tools/tree.sh drop "$built"
built=

# ---- a tree that never saw the source -----------------------------------------------------------
if ! fresh=$(exec tools/tree.sh copy "$suite" 2>"$log"); then fresh=; say 1 "a second minimal Debian $suite can be made"; exit 1; fi
# The steps of tools/Containerfile, and the capabilities that it says an engine gives; no engine is needed for that.
mkdir "$fresh/root/packages" && cp "$out"/tally_*.deb "$out"/tally-doc_*.deb "$fresh/root/packages/"
inside "the steps of tools/Containerfile install tally" "$fresh" "$(awk '/^RUN / { on = 1; sub(/^RUN /, "") } on; on && !/\\$/ { on = 0 }' tools/Containerfile)
  [ ! -e /packages ] && $(sed -n 's/^ENTRYPOINT \["\(.*\)"\]/\1/p' tools/Containerfile) --version"
with() { echo "setpriv --inh-caps=-all --bounding-set=-all$1"; }
inside "with no capability at all the models answer" "$fresh" "$(with '') tally check gpci --on power"
inside "with the capabilities of tools/Containerfile, and no others, it counts and runs D" "$fresh" "
  $(with ,+perfmon) tally stat -a --duration 100 &&
  $(with ,+perfmon,+bpf,+syslog,+sys_ptrace) tally trace -qn 'profile-97 { @[execname] = count(); } tick-1s { exit(0); }' | grep ."

mkdir "$fresh/root/packages" "$fresh/root/tests"
cp "$out"/*.deb "$fresh/root/packages/"
rm -f "$fresh"/root/packages/*-dbgsym_*
cp tools/transcript.sh "$fresh/root/packages/"
cp debian/tests/* "$fresh/root/tests/"
inside "the packages are installed, with what they recommend" "$fresh" '
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q >/dev/null && apt-get install -qy /packages/*.deb >/dev/null && tally --version && dtrace -V && [ -f /etc/tally/dcpc.conf ] &&
  apt-get install -qy --no-install-recommends gcc libc6-dev pkgconf procps >/dev/null'
for test in models traces library cpc; do
  inside "debian/tests/$test" "$fresh" "AUTOPKGTEST_TMP=\$(mktemp -d) /tests/$test || [ $test = cpc -a \$? -eq 77 ]"
done
inside "another user is made" "$fresh" 'useradd -m reader'
for page in doc/tutorial/*.md; do
  name=$(basename "$page" .md)
  for user in root reader; do
    # That page installs packages, which is root's.
    [ "$name $user" != "emulator reader" ] || continue
    inside "the tutorial $name is true of the installed files, as $user" -u $user "$fresh" \
      "mkdir tutorial-$name && cd tutorial-$name && COLUMNS=80 bash /packages/transcript.sh -t 300 /usr/share/doc/tally/tutorial/$name.md"
  done
done
inside "the packages go and leave nothing" "$fresh" '
  DEBIAN_FRONTEND=noninteractive apt-get purge -qy "tally*" "libtally*" >/dev/null &&
  ! find / -xdev \( -name "*tally*" -o -name dtrace\* \) ! -path "/proc/*" ! -path "/packages/*" ! -path "/root/*" ! -path "/home/*" \
    ! -path "/var/cache/*" ! -path "/var/log/*" ! -path "/tmp/*" ! -path "/run/*" | grep .'
echo "1..$n"
exit $bad
