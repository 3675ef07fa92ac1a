#!/bin/bash
# debs.sh [-k META] [-r PATTERN] ARCH SUITE DIR [PACKAGE...] - unpacks Debian packages of another architecture or
# suite in DIR.
#
# Neither dpkg's state nor apt's lists of this machine are touched: apt runs with a configuration, lists and a
# status of its own under DIR, which are gone afterwards.  -k META adds the kernel image that META stands for.
# -r PATTERN adds what PACKAGEs depend on, and what that depends on, as far as a name matches that extended regular
# expression as a whole; conflicts do not matter, since nothing is installed.
# The mirror is the one this machine already uses.  DIR/.packages lists what was unpacked: a second call with the
# same wishes does nothing.
set -euo pipefail
meta= reach=
while getopts k:r: o; do case $o in k) meta=$OPTARG ;; r) reach=$OPTARG ;; *) exit 2 ;; esac; done
shift $((OPTIND - 1))
[ $# -ge 3 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
arch=$1 suite=$2 dir=$3
shift 3
wish="$arch $suite $meta $*${reach:+ -r $reach}"
[ -f "$dir/.packages" ] && [ "$(head -n 1 "$dir/.packages")" = "$wish" ] && exit 0

rm -rf "$dir"
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
apt=$dir/.apt
mkdir -p "$apt"/{lists/partial,cache/archives/partial,deb}
mirror=$(apt-get indextargets --format '$(LABEL) $(SITE)' 'Created-By: Packages' | awk '$1 == "Debian" { print $2; exit }')
[ -n "$mirror" ] || { echo "debs.sh: apt knows no Debian mirror" >&2; exit 1; }
echo "deb [arch=$arch signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$apt/sources.list"
cat >"$apt/conf" <<C
Dir::Etc::SourceList "$apt/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$apt/lists";
Dir::State::status "/dev/null";
Dir::Cache "$apt/cache";
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Check-Valid-Until "false";
C
export APT_CONFIG=$apt/conf
timeout 300 apt-get -q -o APT::Update::Error-Mode=any update >&2
if [ -n "$meta" ]; then
  image=$(apt-cache depends "$meta" | awk '/Depends: linux-image/ { print $2; exit }')
  set -- "$@" "${image%%:*}"
fi
if [ -n "$reach" ]; then
  # One pass over the whole graph: a name in the first column, then a line for each dependency.
  set -- $(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
    --no-enhances "$@" | awk -v reach="^($reach)\$" -v first="$*" '
    /^[^ <]/ { from = $1; next }
    /^ [ |](Pre)?Depends: [^<]/ { after[from] = after[from] " " $2 }
    END {
      n = split(first, queue)
      for (i = 1; i <= n; i++) wanted[queue[i]] = 1
      for (i = 1; i <= n; i++) {
        print queue[i]
        m = split(after[queue[i]], names)
        for (k = 1; k <= m; k++)
          if (names[k] ~ reach && !(names[k] in wanted)) { wanted[names[k]] = 1; queue[++n] = names[k] }
      }
    }')
fi
(cd "$apt/deb" && timeout 900 apt-get -q download "$@" >&2)
for deb in "$apt"/deb/*.deb; do dpkg-deb -x "$deb" "$dir"; done
names=$(cd "$apt/deb" && ls)
rm -rf "$apt"
printf '%s\n' "$wish" "$names" >"$dir/.packages"
