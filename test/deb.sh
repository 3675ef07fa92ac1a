#!/bin/bash
# deb.sh [SUITE] - Debian's packages of what is committed, built and installed in fresh trees of SUITE (bookworm).  As root; speaks TAP.
#
# Builds them twice, without a network, as another user: in different directories, at different dates, in different locales, with
# different umasks; the second build must give the same bytes.  lintian, blhc, and what ELF says of the hardening.  Then, in a tree
# that never saw the source: autopkgtest runs debian/tests, all packages are installed, and the tutorials do what they say from
# the installed files, as root and as another user; the packages go and leave nothing.  What it built is in build/deb/SUITE.
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
  local skipped
  skipped=$(sed -n 's/^SKIP: //p' "$log" | head -n 1)
  n=$((n + 1))
  if [ "$1" -eq 0 ]; then echo "ok $n - $2 (${SECONDS} s)${skipped:+ # SKIP $skipped}"
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

build() { # DIRECTORY UMASK OPTIONS ENVIRONMENT...: a script's text that runs dpkg-buildpackage once for each of OPTIONS, words of a shell
  local dir=$1 mask=$2 options=$3
  shift 3
  echo "mkdir -p $dir && cd $dir && dpkg-source -x /source/$source tree >/dev/null && chown -R builder: $dir && cd tree && umask $mask && for options in $options; do
    unshare -n setpriv --reuid builder --regid builder --clear-groups \
      env HOME=/home/builder PATH=/usr/bin:/bin $* dpkg-buildpackage -us -uc \$options >>$dir/log 2>&1 || { tail -n 30 $dir/log; grep -A 8 ' FAILED' $dir/log; exit 1; }; done"
}
jobs=$(nproc)
LINES_SHOWN=100 inside "the packages are built, and the unit tests pass, without a network and as another user" "$built" \
  "$(build /home/builder/one 022 -b LC_ALL=C TZ=UTC "DEB_BUILD_OPTIONS=parallel=$jobs")" || exit 1
# As the machines of Debian build: what depends on the architecture, then what does not.
inside "a second build, with nocheck, in two parts, elsewhere, 400 days later and in Turkish, runs no test" "$built" \
  "$(build /var/tmp/another/and/longer/place 002 "-B '-A -nc'" LC_ALL=tr_TR.UTF-8 TZ=Pacific/Auckland "'DEB_BUILD_OPTIONS=nocheck parallel=1'" faketime -f +400d) && ! grep -q run-tests.sh /var/tmp/another/and/longer/place/log && grep -q run-tests.sh /home/builder/one/log"
inside "both builds give the same bytes" "$built" '
  cd /home/builder/one && status=0
  for deb in *.deb; do cmp "$deb" "/var/tmp/another/and/longer/place/$deb" || status=1; done
  [ "$(ls *.deb | wc -l)" -ge 6 ] && exit $status'
LINES_SHOWN=80 inside "lintian, at pedantic, says what is overridden and nothing else" -u builder "$built" '
  cd /home/builder/one && lintian -I --pedantic --show-overrides --profile debian ./*.changes >said 2>&1
  ! grep -v "^[NO]:" said && grep -q "^O:" said'
inside "blhc finds each compiler and linker flag" "$built" 'blhc --all --arch "$(dpkg --print-architecture)" /home/builder/one/log'
inside "what is installed is position independent, its relocations are read-only, and libbpf and libelf are shared" "$built" '
  cd /home/builder/one && status=0
  for deb in tally_*.deb libtally0_*.deb tally-qemu_*.deb; do dpkg-deb -x "$deb" elf; done
  files=$(find elf -type f \( -name tally -o -name "*.so*" \) -path "*/usr/*" ! -path "*bash*" ! -path "*/lintian/*")
  [ "$(echo "$files" | wc -l)" -eq 3 ] || { echo "$files"; status=1; }
  for file in $files; do
    readelf -hW "$file" | grep -q "Type:.*DYN" && readelf -dW "$file" | grep -q BIND_NOW && readelf -lW "$file" | grep -q GNU_RELRO &&
      readelf -W --dyn-syms "$file" | grep -q "__stack_chk_fail" && readelf -W --dyn-syms "$file" | grep -q "_chk@" || { echo "$file"; status=1; }
  done
  readelf -dW elf/usr/bin/tally | grep -q "FLAGS_1.*PIE" || status=1
  for library in libbpf.so.1 libelf.so.1; do readelf -dW elf/usr/bin/tally | grep -q "NEEDED.*$library" || { echo "$library"; status=1; }; done
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
inside "a container has what the package recommends" "$fresh" '
  all=$(dpkg-query -W -f "\${Recommends}" tally | tr -d ,) && echo "$all" && [ -n "$all" ] &&
  ! dpkg-query -W -f "\${db:Status-Status} \${Package}\n" $all | grep -v "^installed "'
inside "with no capability at all the models answer" "$fresh" "$(with '') tally check gpci --on power"
inside "with the capabilities of tools/Containerfile, and no others, it counts and runs D" "$fresh" "
  $(with ,+perfmon) tally stat -a --duration 100 &&
  $(with "$(grep -oE -- '--cap-add=[A-Z_]+' tools/Containerfile | sort -u | sed 's/.*=/,+/' | tr 'A-Z\n' 'a-z ' | tr -d ' ')") \
    tally trace -qn 'profile-97 { @[execname] = count(); } tick-1s { exit(0); }' | grep ."
for without in ,+bpf ,+perfmon; do
  inside "with $without alone D is not permitted" "$fresh" "
    status=0; $(with $without) tally trace -qn 'profile-97 { @[execname] = count(); } tick-1s { exit(0); }' || status=\$?; [ \$status -eq 4 ]"
done

mkdir "$fresh/root/packages"
cp "$out"/*.deb "$out"/*.dsc "$out"/*.tar.* "$fresh/root/packages/"
rm -f "$fresh"/root/packages/*-dbgsym_*
cp tools/transcript.sh "$fresh/root/packages/"
# Of its statuses 2 means that a test was skipped: cpc does that where the kernel lets nobody count.
LINES_SHOWN=100 inside "autopkgtest: models, traces, the library and, as root, cpc, each with what it depends on and no more" "$fresh" '
  export DEBIAN_FRONTEND=noninteractive status=0
  apt-get update -q >/dev/null && apt-get install -qy --no-install-recommends autopkgtest >/dev/null &&
  autopkgtest --summary-file summary /packages/*.deb /packages/*.dsc -- null || status=$?
  sed -n "s/^\([a-z]*\) *SKIP /SKIP: \1: /p" summary
  [ "$(grep -cE "^(models|traces|library) +PASS|^cpc +(PASS|SKIP)" summary)" -eq 4 ] && [ $status -eq 0 -o $status -eq 2 ]'
inside "the packages are installed, with what they recommend" "$fresh" '
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q >/dev/null && apt-get install -qy /packages/*.deb >/dev/null && tally --version && dtrace -V && [ -f /etc/tally/dcpc.conf ] &&
  apt-get install -qy --no-install-recommends gcc libc6-dev pkgconf procps >/dev/null'
# opened PRIORITY: the libraries that installed files say they open, of that priority.
opened='opened() { for file in /usr/bin/tally /usr/lib/*/libtally.so.0; do readelf -p .note.dlopen "$file"; done |
    sed -n "s/.*\"priority\":\"$1\".*\"soname\":\[\"\([^\"]*\)\"\].*/\1/p" | sort -u | grep .; }'
# Which package a library is in is asked, not only whether it is here: a compiler may have brought it.
inside "each library that is opened as a matter of course is in a package that is recommended" "$fresh" "$opened"'
  status=0 recommended=" $(dpkg-query -W -f "\${Recommends}" tally | tr -d ,) "
  for library in $(opened recommended); do
    owner=$(dpkg-query -S "*/$library" | sed "s/:.*//; q")
    [[ $recommended == *" $owner "* ]] || { echo "$library: $owner"; status=1; }
  done
  opened recommended && exit $status'
inside "tally-dtrace keeps the package dtrace out, and stands beside the dtrace of systemtap-sdt-dev" "$fresh" '
  mkdir -p other/DEBIAN && printf "Package: dtrace\nVersion: 9\nArchitecture: all\nMaintainer: x <x@x.invalid>\nDescription: x\n" >other/DEBIAN/control &&
  dpkg-deb -b other other.deb && ! dpkg -i other.deb && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends systemtap-sdt-dev >/dev/null &&
  [ -x /usr/bin/dtrace ] && /usr/sbin/dtrace -V && DEBIAN_FRONTEND=noninteractive apt-get purge -qy systemtap-sdt-dev >/dev/null'
inside "the file of /etc/tally is the one that is read" "$fresh" '
  cp /etc/tally/dcpc.conf kept && echo "dcpc-min-overflow=ten;" >>/etc/tally/dcpc.conf
  said=$(tally trace -qn "cpc:::page_faults-user-6000 { exit(0); }" -c true 2>&1); echo "$said"; cp kept /etc/tally/dcpc.conf
  [[ $said == *"/etc/tally/dcpc.conf: line "* ]]'
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
inside "what is suggested brings all others, but for DuckDB, which Debian does not have" "$fresh" "$opened"'
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -qy --no-install-recommends $(dpkg-query -W -f "\${Suggests}\n" tally libtally0 | tr -d "," | tr " " "\n" | grep ^lib | sort -u) >/dev/null
  said=$(for library in $(opened suggested); do ldconfig -p | grep -q "^\s*$library " || echo "$library"; done)
  echo "$said"; opened suggested && [ "$said" = libduckdb.so ]'
inside "the packages go and leave nothing" "$fresh" '
  DEBIAN_FRONTEND=noninteractive apt-get purge -qy "tally*" "libtally*" >/dev/null &&
  ! find / -xdev \( -name "*tally*" -o -name dtrace\* \) ! -path "/proc/*" ! -path "/packages/*" ! -path "/root/*" ! -path "/home/*" \
    ! -path "/var/cache/*" ! -path "/var/log/*" ! -path "/tmp/*" ! -path "/run/*" | grep .'
echo "1..$n"
exit $bad
