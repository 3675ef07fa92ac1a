#!/bin/bash
# tree.sh - a minimal Debian beside this one, for what must not see what is installed here.  Needs root.
#
#   tree.sh copy SUITE                   prints the directory of a fresh tree of that suite, ready to be changed
#   tree.sh run [-u USER] DIR SCRIPT     runs a bash script in it, with an empty environment, in USER's home
#   tree.sh drop DIR                     removes it
#   tree.sh clean                        removes copies that nobody uses any more; so does `copy`
#
# One tree of each suite is kept, without changes, in ${XDG_CACHE_HOME:-~/.cache}/tally/tree; the packages that its copies
# have fetched are kept with it.  It is made in a directory of its own and renamed when it is whole.  A list of
# all its files with their sizes says later whether it still is: one that is damaged, or older than 30 days, is made anew.
#
# A copy is in use while the process lives that asked for it, or a script runs in it: that holds a lock on its directory, which ends with
# the last process of the script. A shell that asks may be gone before the first script (in a pipe), so no copy goes within an hour.
#
# A script has mounts and process ids of its own: whatever ends it, no process and no mount is left.  Of this machine it sees
# the kernel (/proc, /sys, /dev), the network with the certificates that are trusted here, and how apt gets its packages.
# Exit 1: the tree can't be made, with the reason; `run` has the script's status.
set -euo pipefail
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tally/tree
here=$(cd "$(dirname "$0")" && pwd)
trusted=/etc/ssl/this-machine.crt # in a tree: what this machine trusts, for npm, which does not look into ca-certificates
fail() { echo "tree.sh: $*" >&2; exit 1; }

# deb lines of SUITE, from the mirrors that this machine's apt uses.
tree_sources() { # SUITE
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | awk -v suite="$1" '
    $3 != "main" { next }
    $2 ~ /^(bullseye|bookworm|trixie|forky|sid|oldstable|stable|testing|unstable)$/ && !main { main = $1 }
    $2 ~ /^[a-z]+-security$/ && !security { security = $1 }
    END {
      if (main) print "deb", main, suite, "main"
      if (main && suite == "bookworm") print "deb", main, suite "-updates", "main"
      if (security && suite == "bookworm") print "deb", security, suite "-security", "main"
    }'
}

# How this machine's apt reaches its mirrors: settings, and those of the environment that apt would heed.
tree_apt_conf() {
  apt-config dump |
    sed -nE '/Proxy-Auto|""/Id; /^Acquire::(Check-|Retries|ForceIPv|(http|https)::(Proxy|Timeout|CAInfo|Verify-|Pipeline))/Ip'
  [ -z "${http_proxy:-}" ] || echo "Acquire::http::Proxy \"$http_proxy\";"
  [ -z "${https_proxy:-}" ] || echo "Acquire::https::Proxy \"$https_proxy\";"
  echo 'APT::Update::Error-Mode "any";'
}

# What a tree is known by: each file with its kind, mode and size, but for what a mere look at it changes.
tree_sum() { (cd "$1" && find . -xdev -printf '%y %m %s %p %l\n' | grep -v '^d' | LC_ALL=C sort | sha256sum); }

tree_is_whole() { # SUITE
  local kept=$cache/$1
  [ -f "$kept/sum" ] && [ -d "$kept/root" ] || return 1
  [ -z "$(find "$kept/sum" -mtime +30)" ] && [ "$(tree_sum "$kept/root")" = "$(cat "$kept/sum")" ]
}

tree_make() { # SUITE
  local suite=$1 new ca
  "$here/deps.sh" tree || fail "mmdebstrap is needed to make a tree of Debian $suite"
  new=$(mktemp -d "$cache/new.XXXXXX")
  trap 'rm -rf --one-file-system "$new"' EXIT
  mkdir "$new/debs"
  tree_sources "$suite" >"$new/sources"
  [ -s "$new/sources" ] || fail "apt's sources name no mirror of Debian"
  tree_apt_conf >"$new/conf"
  # An https mirror is checked against this machine's certificates.
  if grep -q 'https:' "$new/sources" && ! grep -qi 'https::CAInfo' "$new/conf"; then
    echo 'Acquire::https::CAInfo "/etc/ssl/certs/ca-certificates.crt";' >>"$new/conf"
  fi
  ca=$(sed -n 's/^Acquire::https::CAInfo "\(.*\)";/\1/Ip' "$new/conf" | tail -n 1)
  echo "making a tree of Debian $suite" >&2
  env -i PATH="$PATH" HOME="$HOME" mmdebstrap --mode=root --variant=minbase --aptopt="$new/conf" \
    ${ca:+"--setup-hook=mkdir -p \"\$1$(dirname "$ca")\" && cp \"$ca\" \"\$1$ca\""} \
    "$suite" "$new/root" "$new/sources" >"$new/log" 2>&1 || { tail -n 20 "$new/log" >&2; fail "could not make a tree of Debian $suite"; }
  tree_sum "$new/root" >"$new/sum"
  rm -rf --one-file-system "${cache:?}/$suite"
  mv "$new" "$cache/$suite"
  trap - EXIT
}

# What a killed run left behind: its directory has the process that asked for it in its name.
tree_clean() {
  local dir
  for dir in "$cache"/run.*; do
    [ -d "$dir" ] || continue
    ! kill -0 "$(basename "$dir" | cut -d. -f2)" 2>/dev/null || continue
    [ -n "$(find "$dir" -maxdepth 0 -mmin +60)" ] || continue
    # one that somebody else removes at this moment is left to them
    flock --nonblock --conflict-exit-code 0 "$dir" rm -rf --one-file-system "$dir" || echo "tree.sh: $dir could not be removed" >&2
  done
}

tree_copy() { # SUITE
  local dir
  [ "$(id -u)" -eq 0 ] || fail "a tree is made and entered as root"
  mkdir -p "$cache"
  exec 9>"$cache/lock"
  flock 9
  tree_clean
  rm -rf --one-file-system "$cache"/new.*
  tree_is_whole "$1" || tree_make "$1" 9>&-
  dir=$(mktemp -d "$cache/run.$PPID.XXXXXX")
  cp -a --reflink=auto "$cache/$1/root" "$dir/root"
  exec 9>&-
  find "$cache/$1/debs" -name '*.deb' -exec cp -l -t "$dir/root/var/cache/apt/archives" {} +
  cp -L /etc/resolv.conf /etc/hosts "$dir/root/etc/"
  [ ! -f /etc/ssl/certs/ca-certificates.crt ] || install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$dir/root$trusted"
  echo force-unsafe-io >"$dir/root/etc/dpkg/dpkg.cfg.d/copy" # a copy is thrown away: nothing of it has to reach the disk
  echo "$1" >"$dir/suite"
  echo "$dir"
}

tree_run() { # [-u USER] DIR SCRIPT
  local user=root
  [ "$1" = -u ] && { user=$2; shift 2; }
  exec 8<"$1"
  flock --shared 8
  # The shell that waits dies with its caller, its child with it, and all other processes with that one.
  exec setpriv --pdeathsig KILL unshare --mount --propagation private --ipc --pid --fork --kill-child sh -c '
    set -e
    mount -t proc proc "$1/proc"
    mount --rbind /sys "$1/sys"
    mount --rbind /dev "$1/dev"
    mount -t tmpfs -o mode=1777 shm "$1/dev/shm"
    home=$(chroot "$1" getent passwd "$2" | cut -d: -f6)
    trusted=
    [ ! -f "$1$4" ] || trusted=NODE_EXTRA_CA_CERTS=$4
    exec chroot --userspec="$2:$2" --groups= "$1" env -i $trusted PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      HOME="$home" USER="$2" LOGNAME="$2" SHELL=/bin/bash TERM=dumb bash -c "cd && eval \"\$1\"" bash "$3"' \
    sh "$1/root" "$user" "$2" "$trusted"
}

tree_drop() { # DIR
  local suite
  case $1 in "$cache"/run.*) ;; *) fail "$1 is no copy of a tree" ;; esac
  suite=$(cat "$1/suite")
  find "$1/root/var/cache/apt/archives" -maxdepth 1 -name '*.deb' -exec ln -f -t "$cache/$suite/debs" {} + ||
    echo "tree.sh: packages of $1 are not kept for the next tree" >&2
  rm -rf --one-file-system "$1"
}

case ${1:-} in
copy) [ $# -eq 2 ] && tree_copy "$2" ;;
run) shift && tree_run "$@" ;;
clean) [ $# -eq 1 ] && tree_clean ;;
drop) [ $# -eq 2 ] && tree_drop "$2" ;;
*) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
