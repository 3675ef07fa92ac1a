#!/bin/bash
# fetch.sh - what the guest is made of: a Debian 12 (Linux 6.1) arm64 kernel and a static busybox, kept in
# $XDG_CACHE_HOME/tally-vm (~/.cache/tally-vm).  Prints that directory.
set -euo pipefail
cd "$(dirname "$0")/../.."
store=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/tally-vm
mkdir -p "$store"
exec 9>"$store/lock"
flock 9                                         # two runs at once: the second finds it done
tools/debs.sh -k linux-image-cloud-arm64 arm64 bookworm "$store/bookworm-arm64" busybox-static
rm -rf "$store/bookworm-arm64/lib/modules"
echo "$store/bookworm-arm64"
