#!/usr/bin/env bats
# tally list: finding anything by name.  Needs no privileges.

bats_require_minimum_version 1.5.0
load common

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

expect() { # STATUS TEXT ARGUMENTS...
  run --separate-stderr "$TALLY" "${@:3}"
  [ "$status" -eq "$1" ] && [[ "${stderr_lines[0]}" == "tally: $2"* ]] || { echo "${*:3}: status $status: $stderr"; return 1; }
}

KINDS="probes events registers requests tunables machines loads views"

@test "list shows the kinds" {
  run "$TALLY" list
  [ "$status" -eq 0 ]
  for kind in $KINDS ptt vfalls mmustat gpci; do grep -q "^$kind " <<<"$output" || { echo "$kind"; return 1; }; done
}

@test "every kind lists, in three forms with the same rows, and no line of text is wider than 80 columns" {
  export COLUMNS=80
  for kind in $KINDS; do
    "$TALLY" list "$kind" >text
    ! grep -nE '.{81}| $' text || { echo "$kind: too wide"; return 1; }
    "$TALLY" list --json "$kind" | sed 's/.*"name":"\([^"]*\)".*/\1/' >json
    "$TALLY" list -x ';' "$kind" | tail -n +2 | cut -d ';' -f 2 >csv
    cmp json csv || { echo "$kind: JSON and CSV differ"; return 1; }
    [ -s json ]
    while read -r name; do
      grep -qF -- "$name" text || { echo "$kind: not in the text: $name"; return 1; }
    done <json
  done
}

@test "events have their codes" {
  run "$TALLY" list -x ';' events cpu_clock
  [ "$status" -eq 0 ]
  [[ "${lines[1]}" == "event;cpu_clock;software;1:0x0;"* ]]
  "$TALLY" list -x ';' events PAPI_l1_dcm | grep -q '^event;PAPI_l1_dcm;PAPI;3:0x10000;'
  "$TALLY" list -x ';' events IC_miss | grep -q '^event;IC_miss;vfalls sparc;0x301;--on batoka;;mask bits 0x33;'
}

@test "a word finds what it is part of, in names, other names and explanations, in any kind" {
  "$TALLY" list --json tlb >found
  grep -q '"name":"dtlb_load_misses"' found              # a name
  grep -q '"name":"PAPI_tlb_dm"' found
  grep -q '"type":"event","name":"DTLB_HWTW_ref_L2"' found
  "$TALLY" list --json CPU-CLOCK | grep -q '"name":"cpu_clock"'
  "$TALLY" list --json perf_count_sw_page_faults | grep -q '"name":"page_faults"'
  "$TALLY" list --json zam0_lpu_a_pcr | grep -q '"type":"register","name":"zam0_lpu_a_pcr"'
  "$TALLY" list --json qos_tx_cpl | grep -q '"type":"tunable"'
  "$TALLY" list --json entitled | grep -q '"type":"request","name":"entitled"'
  "$TALLY" list --json nvme | grep -q '"type":"load","name":"nvme","of":"kunpeng"'
  "$TALLY" list --json batoka | grep -q '"type":"machine","name":"batoka"'
}

@test "another name that was asked for is shown" {
  "$TALLY" list cycles >text
  grep -A1 '^cpu_cycles ' text | grep -qx '      also: cycles'
  [ "$(grep -c 'also: ' text)" -eq 1 ] || { grep -B1 'also: ' text; return 1; }
  "$TALLY" list events CS | grep -A2 '^context_switches ' | grep -qx '      also: cs'
  ! "$TALLY" list events cpu_clock | grep -q also: || return 1
}

@test "a glob is over whole names" {
  [ "$("$TALLY" list -x ';' events 'cpu_c*' | tail -n +2 | cut -d ';' -f 2 | sort | tr '\n' ' ')" = "cpu_clock cpu_cycles " ]
  expect 2 "nothing of kind 'events' matches 'clock?'" list events 'clock?'
}

@test "a search that does not ask for probes leaves out those of each event" {
  ! "$TALLY" list --json cpu_clock | grep -q '"name":"cpc:::' || return 1
  "$TALLY" list --json 'cpc:::cpu_clock*' | grep -q '"type":"probe"'
  "$TALLY" list --json profile-97 | grep -q '"type":"probe","name":"profile:::profile-97"'
}

@test "probes of all providers are there" {
  "$TALLY" list --names probes >names
  for name in dtrace:::BEGIN profile:::profile-97 cpc:::page_faults-user- ptt:::tlp gpci:::entitled-1s vfalls:::sample-1s mmustat:::sample-1s; do
    grep -qx -- "$name" names || { echo "$name"; return 1; }
  done
}

@test "-v says how a thing is written, and that works" {
  run "$TALLY" list -v registers zam0_lpu_a_pcr
  has "as: vfalls/zam0_lpu_a_pcr/"
  has "also: local 0x8130001000, global 0xe130004000"
  "$TALLY" get --on batoka vfalls/zam0_lpu_a_pcr/ >/dev/null
  use=$("$TALLY" list -x ';' requests entitled | sed -n '2s/^[^;]*;[^;]*;[^;]*;[^;]*;[^;]*;\([^;]*\);.*/\1/p')
  "$TALLY" get --on power "$use" >/dev/null
  "$TALLY" list -x ';' tunables qos_tx_cpl | grep -q 'hisi_ptt0_2/qos_tx_cpl'
  "$TALLY" get --on kunpeng hisi_ptt0_2/qos_tx_cpl >/dev/null
}

@test "every use of a load or machine is taken by --on" {
  "$TALLY" list -x ';' loads | tail -n +2 | cut -d ';' -f 6 | while read -r use; do
    kind=gpci
    case $use in *kunpeng*) kind=ptt ;; *niagara*) kind=mmustat ;; *batoka* | *maramba*) kind=vfalls ;; esac
    set -- $use
    "$TALLY" list --on "$2,load=$4" "$kind" >/dev/null || { echo "$use"; return 1; }
  done
}

@test "what is misspelt names the nearest" {
  expect 2 "nothing matches 'cycels'; did you mean 'cycles'?" list cycels
  expect 2 "nothing of kind 'events' matches 'page_fualts'; did you mean 'page_faults'?" list events page_fualts
  expect 2 "unknown kind 'evnts'; did you mean 'events'?" list evnts
  expect 2 "unknown kind 'evnts'; did you mean 'events'?" list evnts cycles
  expect 2 "nothing matches 'frobnicate'" list frobnicate
}

@test "--names has names and nothing else, of one kind" {
  [ "$("$TALLY" list --names machines | tr '\n' ' ')" = "kunpeng niagara maramba batoka power " ]
  [ "$("$TALLY" list --names kinds | wc -l)" -eq 12 ]
  [ "$("$TALLY" list --on power --names loads | sort)" = "$("$TALLY" list -x ';' loads | grep ';power;' | cut -d ';' -f 2 | sort)" ]
  expect 2 "unknown kind 'evnts'; 'tally list' shows the kinds" list --names evnts
  expect 2 "--names requires one KIND and takes no PATTERN" list --names
  expect 2 "--names requires one KIND and takes no PATTERN" list --names events x
}

@test "--names of a platform are what its verbs take" {
  for on in local power; do "$TALLY" list --on $on --names selectors | grep -qx gpci/entitled/; done
  ! "$TALLY" list --on power --names selectors | grep -v '^gpci/' || return 1
  ! "$TALLY" list --on power --names countable | grep -v '^gpci/' || return 1
  "$TALLY" list --names countable | grep -qx page_faults
  [ -z "$("$TALLY" list --on kunpeng --names selectors)" ]
  "$TALLY" list --on niagara --names selectors | sort >names
  printf 'mmustat/%s/\n' all dmmu immu | diff names -
  "$TALLY" get --on niagara --load chase --duration 1 $(cat names) >/dev/null
  [ "$("$TALLY" list --on kunpeng --names keys | head -n 2 | tr '\n' ' ')" = "seed= load=mixed " ]
  [ -z "$("$TALLY" list --names keys)" ]
  "$TALLY" list --names countable | grep -qx cycles
  ! "$TALLY" list --names countable | grep perf_count || return 1
  "$TALLY" list --on kunpeng --names terms >names
  for term in filter=0000:00:10.0 filter=0000:01:00.0 type=cpl direction=3 format=8dw; do grep -qx "hisi_ptt0_2/$term" names; done
}

# What column HERE says on a platform: ON KIND NAME.
there() { "$TALLY" list --on "$1" --json "$2" "$3" | grep -F "\"name\":\"$3\"" | sed -n 's/.*"here":"\([^"]*\)".*/\1/p' | sort -u; }

@test "of the platform of --on it says what that has and allows" {
  "$TALLY" list --on power 'links*' >text
  ! grep -e --on text || return 1
  grep -q '^links_abc .* yes ' text
  "$TALLY" list 'links*' | grep -q '^links_abc .* --on power '
  [ "$(there power requests entitled)" = yes ]
  [ "$(there power,rights=none requests entitled)" = "own only" ]
  [ "$(there power,rights=none requests links_abc)" = "no right" ]
  [ "$(there power,firmware=8 requests links_abc)" = "not here" ]
  [ "$(there batoka requests entitled)" = "--on power" ]
  [ "$(there power,rights=none views cec)" = "no right" ]
  [ "$(there power,rights=none views partitions)" = "own only" ]
  [ "$(there power,rights=none probes gpci:::links_abc-1s)" = "no right" ]
  [ "$(there power,rights=none probes gpci:::entitled-1s)" = yes ]
  [ "$(there batoka registers zam0_lpu_a_pcr)" = yes ]
  [ "$(there batoka,rights=none registers zam0_lpu_a_pcr)" = "no right" ]
  [ "$(there maramba registers zam0_lpu_a_pcr)" = "not here" ]
  [ "$(there niagara registers zam0_lpu_a_pcr)" = "--on batoka" ]
  [ "$(there maramba events asu_in_pck)" = "not here" ]
  [ "$(there batoka events asu_in_pck)" = yes ]
  [ "$(there niagara registers dmmu)" = yes ]
  [ "$(there kunpeng tunables qos_tx_p)" = yes ]
  [ "$(there power tunables qos_tx_p)" = "--on kunpeng" ]
  expect 1 "no server at /nowhere" list --on unix:/nowhere requests
}

@test "what it says of a platform's rights is what its verbs then do" {
  for on in power power,rights=none power,firmware=8; do
    for view in cec partitions processors links; do
      run "$TALLY" stat --on $on --view $view --interval 1 --count 1
      case $(there $on views $view):$status in yes:0 | "own only":0 | "no right":4 | "not here":3) ;; *) echo "$on $view: $status"; return 1 ;; esac
    done
    "$TALLY" list --on $on --json requests | sed -n 's/.*"name":"\([a-z_]*\)".*"here":"\([^"]*\)".*/\1 \2/p' >here
    while read -r request word; do
      [ "$request" != mmcrh ] || continue
      run "$TALLY" get --on $on gpci/$request/
      case $word:$status in yes:0 | "own only":0 | "no right":4 | "not here":3) ;; *) echo "$on $request: $word, $status"; return 1 ;; esac
    done <here
  done
}

# The program as user nobody, from where nobody can run it.
as_nobody() { setpriv --reuid=65534 --clear-groups "$NOBODYS" "$@"; }
here() { as_nobody list --json "$1" | sed -n "s/.*\"name\":\"$2\",.*\"here\":\"\([^\"]*\)\".*/\1/p" | head -n 1; }

@test "what it says of rights is what the verbs then do" {
  [ "$(id -u)" -eq 0 ] || skip "only root can become nobody"
  NOBODYS=$(mktemp -d /tmp/tally-list-XXXXXX)/tally
  chmod 755 "${NOBODYS%/*}" && cp "$TALLY" "$NOBODYS" && chmod 755 "$NOBODYS"
  as_nobody --version >/dev/null 2>&1 || { rm -rf "${NOBODYS%/*}"; skip "nobody can't run a program here"; }
  bad=
  for event in page_faults cpu_clock context_switches; do
    word=$(here events $event)
    run as_nobody stat -e $event true
    case $word:$status in
    yes:0 | "own only":0 | "no right":4) ;;
    "user only":0) [[ "$output" == *"$event:u"* ]] || bad+="$event: $output;" ;;
    *) bad+="$event: '$word', but status $status;" ;;
    esac
  done
  for probe in profile:::profile-97 dtrace:::BEGIN; do
    word=$(here probes $probe)
    run as_nobody trace -qn "$probe { exit(0); }"
    case $word:$status in yes:0 | "no right":4) ;; *) bad+="$probe: '$word', but status $status;" ;; esac
  done
  rm -rf "${NOBODYS%/*}"
  [ -z "$bad" ] || { echo "$bad"; return 1; }
  [ "$("$TALLY" list --json events | sed -n 's/.*"name":"page_faults",.*"here":"\([a-z ]*\)".*/\1/p')" = yes ] || [ "$(id -u)" -ne 0 ]
}

@test "hostile patterns do no harm" {
  for pattern in '' '[' '*' '\' "$(printf 'x%.0s' $(seq 5000))" $'\e[31m' '%s%n'; do
    run "$TALLY" list "$pattern"
    [ "$status" -le 2 ]
  done
}
