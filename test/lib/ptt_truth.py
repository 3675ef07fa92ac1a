"""Holds `tally report --json` of a 4DW trace of direction 2 against what 8DW traces of the same load and seed tell.

Direction 2 of 4DW has all but completions to the host.  In 8DW direction 1 has all that goes out, one type in a trace, and direction 2 all
that comes in but such completions.  So these together have the same packets, with 32 bits of time.  Devices must not talk to each other.

usage: ptt_truth.py REPORT TRACE...    beside each TRACE is TRACE.csv, what `tally export` makes of it
"""
import csv
import json
import struct
import sys

NON_POSTED, COMPLETION = '1', '2'
FIGURES = {'min': 0, 'p50': 500, 'p90': 900, 'p99': 990, 'p999': 999, 'max': 1000}
failed = 0


def wrong(*words):
    global failed
    failed += 1
    print(*words)


def rank(values, per_mille):
    nth = (len(values) * per_mille + 999) // 1000
    return sorted(values)[max(nth, 1) - 1]


class Who:
    """What one requester did."""

    def __init__(self):
        self.open, self.level, self.peak, self.ticks = {}, 0, 0, 0
        self.requests = self.config = self.answered = self.failed = self.unanswered = 0
        self.last, self.first = [], []


def packets(paths):
    rows = []
    for path in paths:
        with open(path + '.csv') as file, open(path, 'rb') as trace:
            data = trace.read()
            for r in csv.DictReader(file):
                at = int(r['offset']) + 28  # Time counts from the first record of its trace: as it was recorded it is the same in all
                r['time'] = struct.unpack('<I', data[at:at + 4])[0]
                rows.append(r)
    return sorted(rows, key=lambda r: (r['time'], r['class'] != COMPLETION))  # a tag is free before it is taken


def count(rows):
    who, done, fail = {}, [], 0
    level = peak = 0
    for r in rows:
        w = who.setdefault(r['requester_text'], Who())
        time, key = r['time'], int(r['tag'])
        if r['class'] == NON_POSTED:
            w.requests += 1
            w.config += r['type_name'].startswith('Cfg')
            w.open[key] = [time, None]
            w.level = len(w.open)
            w.peak = max(w.peak, w.level)
        elif r['class'] == COMPLETION:
            if key not in w.open:
                wrong('an answer to nobody', r)
                continue
            asked, first = w.open[key]
            w.open[key][1] = time if first is None else first
            if r['status'] == '0' and int(r['byte_count']) > int(r['bytes']) > 0:
                continue
            w.answered += 1
            w.failed += r['status'] != '0'
            w.ticks += time - asked
            if r['status'] == '0':
                w.last.append(time - asked)
                w.first.append(w.open[key][1] - asked)
            del w.open[key]
        devices = [v for k, v in who.items() if k[:2] != '00']
        level = sum(len(v.open) for v in devices)
        peak = max(peak, level)
    end = rows[-1]['time']
    for w in who.values():
        w.unanswered = len(w.open)
        w.ticks += sum(end - asked for asked, _ in w.open.values())
    return who, peak


def want(row, key, truth, about=()):
    """The figure is the truth, or a bound of it that is marked as one, or approximate, or unknown, where that is allowed."""
    got = row[key]
    if got is None:
        if truth is not None and 'null' not in about:
            wrong(row['type'], key, 'is null, and should be', truth)
        return
    if truth is None:
        wrong(row['type'], key, 'should be null, and is', got)
        return
    slack = 0.01 * abs(truth) + 1e-6
    if key in row.get('at_least', []):
        right = 'at_least' in about and got <= truth + slack
    elif key in row.get('at_most', []):
        right = 'at_most' in about and got >= truth - slack
    elif key in row.get('approximate', []):
        right = 'approximate' in about
    else:
        right = 'exact' in about and abs(got - truth) <= slack or not about and got == truth
    if not right:
        wrong(row['type'], row.get('requester', row.get('to', '')), key, 'is', got, 'and should be', truth, about)


def judge_latency(row, prefix, values, figures):
    for name in figures:
        want(row, prefix + name, rank(values, FIGURES[name]) if values else None, ('at_least', 'approximate'))


def main():
    with open(sys.argv[1]) as file:
        lines = [json.loads(line) for line in file]
    rows = packets(sys.argv[2:])
    who, peak = count(rows)
    devices = [v for k, v in who.items() if k[:2] != '00']
    span = rows[-1]['time'] - rows[0]['time']
    answered = sum(w.answered for w in devices)
    start = rows[0]['time']
    for row in lines:
        kind = row['type']
        if kind in ('summary', 'device'):
            want(row, 'records', len(rows))
            want(row, 'span', span, ('at_least',))
            want(row, 'non_posted', sum(w.requests for w in who.values()))
            mean = sum(w.ticks for w in devices) / span if any(w.requests for w in devices) else None
            want(row, 'outstanding_mean', mean, ('null',) if any(r.get('sparse') for r in lines) else ('approximate',))
            if row['outstanding_mean'] is not None and abs(row['outstanding_mean'] - mean) > 0.05 * mean:
                wrong('the mean is', row['outstanding_mean'], 'and should be near', mean)
            want(row, 'outstanding_peak', peak if mean is not None else None, ('exact', 'at_least', 'approximate'))
        if kind == 'summary':
            if 'duplicates' in row:
                wrong('no device talks to another one, and there are duplicates:', row['duplicates'])
            want(row, 'answered', answered, ('exact', 'approximate'))
            want(row, 'failed', sum(w.failed for w in devices), ('exact', 'approximate'))
            want(row, 'unanswered', sum(w.unanswered for w in devices), ('exact', 'at_most'))
            want(row, 'unanswerable', sum(w.requests for k, w in who.items() if k[:2] == '00'), ('exact', 'approximate'))
        if kind == 'requester':
            w = who[row['requester']]
            host = row['requester'][:2] == '00'
            want(row, 'reads', sum(r['class'] == NON_POSTED and 'Rd' in r['type_name']
                                   for r in rows if r['requester_text'] == row['requester']))
            want(row, 'config', w.config)
            want(row, 'answered', w.answered, ('exact', 'approximate'))
            want(row, 'outstanding_peak', None if host or not w.requests else w.peak, ('exact', 'approximate'))
            judge_latency(row, 'latency_', w.last, ('p50', 'p99', 'max'))
        if kind == 'latency':
            values = sum((w.first if row['to'] == 'first completion' else w.last for w in devices), [])
            want(row, 'requests', len(values), ('exact', 'approximate'))
            want(row, 'mean', sum(values) / len(values), ('at_least', 'approximate'))
            judge_latency(row, '', values, FIGURES)
        if kind == 'msi':
            times = [r['time'] for r in rows if r['class'] == '0' and int(r['length_dw']) == 1 and
                     int(r['address']) == row['address']]
            want(row, 'writes', len(times), ('exact', 'at_most'))
            want(row, 'first', times[0] - start, ('at_least',))
            want(row, 'last', times[-1] - start, ('at_least',))
            want(row, 'mean_interval', (times[-1] - times[0]) / (len(times) - 1), ('at_least',))
            want(row, 'per_million', 1e6 * (len(times) - 1) / max(times[-1] - times[0], 1), ('at_most',))
        if kind in ('time_line', 'latency_heat') and row.get('at_least') != ['step']:
            wrong(kind, 'does not say that steps may have been longer')
        if kind in ('latency_last', 'latency_first') and row.get('approximate') != ['buckets']:
            wrong(kind, 'does not say that latencies may have been longer')
        if kind == 'error_log' and 'time' not in row.get('at_least', []):
            wrong('the time of an error is no bound')
    sys.exit(failed != 0)


main()
