#!/bin/bash
# sun4v-fetch.sh - what test/vm/sun4v.sh runs on: QEMU for whole SPARC machines from Debian's unstable release, and QEMU
# for SPARC programs from Debian 12, the last whose emulators of programs load plugins.  Kept in
# $XDG_CACHE_HOME/tally-vm (~/.cache/tally-vm), about 66 MB to download once.  Prints that directory; under it are
#
#   sun4v-host   qemu-system-sparc64, with the C library it wants
#   sun4v-user   qemu-sparc64, the same
set -euo pipefail
cd "$(dirname "$0")/../.."
. test/vm/store.sh

tools/debs.sh -r 'lib.*|zlib1g|qemu-system-data' amd64 sid "$store/sun4v-host" qemu-system-sparc
tools/debs.sh -r 'lib.*|zlib1g' amd64 bookworm "$store/sun4v-user" qemu-user
echo "$store"
