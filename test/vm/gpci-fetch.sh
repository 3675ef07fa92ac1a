#!/bin/bash
# gpci-fetch.sh - what test/vm/gpci.sh runs on, from Debian's unstable release: QEMU for POWER, and a little-endian
# POWER kernel, which has the hv_gpci driver inside.  Kept in $XDG_CACHE_HOME/tally-vm (~/.cache/tally-vm), about 44 MB to
# download once.  Prints that directory; under it are
#
#   gpci-host    what runs on this machine (amd64), with the C library it wants
#   gpci-guest   the kernel
set -euo pipefail
cd "$(dirname "$0")/../.."
. test/vm/store.sh

tools/debs.sh -r 'linux-(image|binary)-[0-9].*' ppc64el sid "$store/gpci-guest" linux-image-powerpc64le
tools/debs.sh -r 'lib.*|zlib1g|qemu-system-data' amd64 sid "$store/gpci-host" qemu-system-ppc
echo "$store"
