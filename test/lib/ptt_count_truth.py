"""Holds what `tally serve` says of a PTT device's packets against the first packets of a recording of the same load.

Each request has one place, by its requester and tag, and each completion goes there.  Time has 11 bits in 4DW, so a latency is a sum of steps.
What a requester repeats that nobody answered yet is no second record of one packet; else two records of one packet count once.

usage: ptt_count_truth.py PAGE PACKETS    PACKETS is what `tally dump --json` writes
"""
import collections
import json
import re
import sys

have, page = {}, open(sys.argv[1]).read()
for name, labels, value in re.findall(r'^tally_ptt_(\w+)\{platform="[^"]*"(?:,(.*?))?\} (\S+)$', page, re.M):
    have[name, frozenset(re.findall(r'(\w+)="([^"]*)"', labels))] = float(value)
records = sum(v for (name, _), v in have.items() if name in ('packets_total', 'duplicates_total'))
assert records > 0, 'nothing was counted'

want = collections.Counter({('duplicates_total', frozenset()): 0})
again, writes, equal, older = 0, 0, set(), set()
waiting, heard, answers, hidden = {}, set(), collections.defaultdict(list), 0
with open(sys.argv[2]) as file:
    rows = [json.loads(line) for _, line in zip(range(int(records)), file)]
assert len(rows) == records, 'the recording is too short'
for r in rows:
    who, kind = r['requester_text'], r['type_name']
    key = who, r['tag']
    asked = waiting.get(key)
    if r['class'] == 1:
        if asked and who in heard:
            want['duplicates_total', frozenset()] += 1
            continue
        waiting[key] = r
        hidden += asked is not None
    labels = frozenset({'requester': who, 'type': kind}.items())
    want['packets_total', labels] += 1
    if r['class'] != 1 and kind not in ('Cpl', 'Msg') or kind.startswith(('FetchAdd', 'Swap', 'CAS')):
        want['bytes_total', labels] += r['bytes']
    if kind.startswith('MWr'):
        writes += 1
        if writes % 65536 == 0:
            equal, older = set(), equal
        header = json.dumps({k: v for k, v in r.items() if k not in ('time', 'offset')})
        for seen in equal, older:
            if header in seen:
                again += 1
                seen.remove(header)
                break
        else:
            equal.add(header)
    if r['class'] == 2:
        assert asked, r
        if r['status'] == 0 and r['byte_count'] > r['bytes'] > 0:
            continue
        del waiting[key]
        heard.add(who)
        labels = {'requester': who, 'type': asked['type_name']}
        if r['status']:
            want['failed_total', frozenset({**labels, 'status': {1: 'UR', 2: 'CRS', 4: 'CA'}[r['status']]}.items())] += 1
        else:
            answers[frozenset(labels.items())].append(r['time'] - asked['time'])
for labels, ticks in answers.items():
    want['latency_ticks_count', labels], want['latency_ticks_sum', labels] = len(ticks), sum(ticks)
    for (name, of), _ in have.items():
        le = dict(of).get('le')
        if name == 'latency_ticks_bucket' and of - {('le', le)} == labels:
            want[name, of] = sum(t <= float(le.replace('+Inf', 'inf')) for t in ticks)
for who in heard:
    want['outstanding', frozenset({('requester', who)})] = sum(k[0] == who for k in waiting)
want['unmatched_total', frozenset({('cause', 'hidden')})] = hidden

# Which of two equal writes is a second record, nobody knows: the page has a bound, which headers that only look alike raise.
bound = sum(v for (name, _), v in have.items() if name == 'posted_duplicates_total')
assert again <= bound <= writes / 2, f'{bound} of {writes} writes on the page, and {again} are equal to one before'
have = {k: v for k, v in have.items() if k[0] not in ('latency_ticks_created', 'posted_duplicates_total') and not k[0].endswith('_created')}
for k in have.keys() | want.keys():
    if have.get(k, 0) != want.get(k, 0):
        sys.exit(f'{k}: {have.get(k)} on the page, and {want.get(k)} it is')
print(int(records), 'packets,', sum(map(len, answers.values())), 'answers, and', len(want), 'figures are the same')
assert answers
