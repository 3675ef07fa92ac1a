# store.sh - sourced: where fetched packages are kept, $store, is there and locked until the caller ends.  For what runs on
# this machine that is amd64 only.
store=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/tally-vm
mkdir -p "$store"
exec 9>"$store/lock"
flock 9                                         # two runs at once: the second finds it done
[ "$(uname -m)" = x86_64 ] || { echo "$(basename "$0"): only x86-64 is known to run this" >&2; exit 1; }
