# address.sh - addresses that change their meaning; read by guest.sh, in the guest.
#
# `reuse` touches known numbers of pages in functions of two files, one page fault each, as in test/address.bats: 20 rounds of 200 and 100.

# faults HOW KEY: page faults of reuse and what it becomes.
faults() {
  tally trace -x dcpc_min_overflow=1 -qn "cpc:::page_faults-user-1 /execname == \"reuse\" || execname == \"image_a\" || execname == \"image_b\"/ {
    @[$2] = count(); }" -c "/guest/reuse $1 /guest 20 ${3:-200 100}" 2>&1
}
behind() { awk -v p="$1" '$0 ~ p { n += $NF } END { print n + 0 }' /tmp/said; } # PATTERN
between() { [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]; }

# shares HOW PATTERN_A PATTERN_B
shares() {
  faults "$1" 'ufunc(arg1)' >/tmp/said
  first=$(behind "$2") second=$(behind "$3")
  between "$first" 3800 4100 && between "$second" 1900 2150
  check $? "$1: page faults at one address are those of each function: $first of 4000, $second of 2000" "$(cat /tmp/said)"
}
a='plugin_a.so.plugin_a_touch ' b='plugin_b.so.plugin_b_touch '
for how in load map over child wake move cover carry; do shares $how "$a" "$b"; done
shares exec 'image_a.image_a_touch ' 'image_b.image_b_touch '
shares jit "$a" '^ *0x[0-9a-f]* *[0-9]*$'
shares memory "$a" '^ *0x[0-9a-f]* *[0-9]*$'

faults stray 'ufunc(arg1)' >/tmp/said
gone=$(behind 'mapping gone')
between "$gone" 5800 6200 && ! grep -q _touch /tmp/said
check $? "stray: what moved to nobody knows where has no name: $gone of 6000" "$(cat /tmp/said)"

for key in 'usym(arg1)' 'uaddr(arg1)' 'ustack(1)'; do
  faults map "$key" >/tmp/said
  awk -v a=plugin_a.so.plugin_a_touch -v b=plugin_b.so.plugin_b_touch '$0 ~ a { of = 1 } $0 ~ b { of = 2 } /[ \t][0-9]+$/ { n[of] += $NF; of = 0 }
    END { exit !(n[1] >= 3800 && n[1] <= 4100 && n[2] >= 1900 && n[2] <= 2150) }' /tmp/said
  check $? "map: so are those by $key" "$(cat /tmp/said)"
done

# The programs of user addresses have no other way than others to be refused; all kinds of them at once.
faults all 'ufunc(arg1), usym(arg1), umod(arg1), ustack(2)' '20 10' >/tmp/said
[ $? -eq 0 ] && grep -q plugin_a_touch /tmp/said && grep -q image_b_touch /tmp/said
check $? "the verifier takes keys of all kinds together" "$(head -n 40 /tmp/said)"
