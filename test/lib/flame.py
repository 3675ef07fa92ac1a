# flame.py FILE... - what a trace's aggregations are in FILE: a line for each path that has a value, sorted: names joined by ';',
# a blank, the value.  FILE is a run's --json output (.json), folded stacks (.folded), a page (.html) or a profile (.pb.gz); each is
# read by what its format is documented to be, and by nothing of tally.
import gzip, json, re, sys

def of_json(text):
    rows = [json.loads(line) for line in text.splitlines()]
    rows = [r for r in rows if r["type"] == "aggregation" and r["function"] in ("count", "sum", "quantize", "lquantize", "llquantize")]
    several = len({r["name"] for r in rows}) > 1
    for r in rows:
        label = "@" + r["name"] if r["name"] else r["function"] + "()"
        kinds = {"key": [], "user": [], "kernel": []}
        for k in r["keys"]:
            if not isinstance(k, list):
                kinds["key"].append(str(k))
            else:
                frames = [re.sub(r"\+0x[0-9a-f]+$", "", f) for f in reversed(k)]
                kinds["kernel" if any(f.startswith("vmlinux`") for f in frames) else "user"] += frames
        path = kinds["key"] + kinds["user"] + kinds["kernel"]
        if not path and r["keys"]:
            path = ["[no stack]"]
        value = r["value"] if "value" in r else sum(b["count"] for b in r["buckets"])
        yield ([label] if several or not path else []) + path, value

def of_folded(text):
    for line in text.splitlines():
        path, value = line.rsplit(" ", 1)
        yield [frame.removesuffix("_[k]") for frame in path.split(";")], int(value)

def of_html(text):
    graphs = re.findall(r'<div class="flame".*?<script type="application/json">(.*?)</script>', text, re.S)
    for graph in graphs:
        d = json.loads(graph)
        s, path, at = d["stacks"], [], 0
        assert len(d["kinds"]) == len(d["names"])
        while at < len(s):
            common, value, n = s[at:at + 3]
            path = path[:common] + [d["names"][i] for i in s[at + 3:at + 3 + n]]
            at += 3 + n
            yield ([d["names"][0]] if len(graphs) > 1 else []) + path, value

def varint(b, at):
    v = shift = 0
    while True:
        v |= (b[at] & 0x7f) << shift
        shift, at = shift + 7, at + 1
        if b[at - 1] < 0x80:
            return v, at

def message(b):
    at, fields = 0, {}
    while at < len(b):
        tag, at = varint(b, at)
        assert tag & 7 in (0, 2), tag
        v, at = varint(b, at)
        if tag & 7 == 2:
            v, at = b[at:at + v], at + v
            assert len(v) or at <= len(b)
        fields.setdefault(tag >> 3, []).append(v)
    return fields

def packed(b):
    at, list_ = 0, []
    while at < len(b):
        v, at = varint(b, at)
        list_.append(v)
    return list_

def of_profile(data):
    p = message(gzip.decompress(data))
    string = [s.decode() for s in p[6]]
    assert string[0] == "" and len(set(string)) == len(string)
    types = [message(t) for t in p[1]]
    functions = {message(f)[1][0]: string[message(f)[2][0]] for f in p.get(5, [])}
    mappings = {message(m)[1][0]: string[message(m)[5][0]] for m in p.get(3, [])}
    locations = {}
    for l in map(message, p.get(4, [])):
        assert l.get(2, [0])[0] in mappings or 2 not in l
        locations[l[1][0]] = functions[message(l[4][0])[1][0]]
    for s in map(message, p.get(2, [])):
        path, values = packed(s[1][0]), packed(s[2][0])
        assert len(values) == len(types) and sum(1 for v in values if v) == 1
        at = next(i for i, v in enumerate(values) if v)
        name = string[types[at][1][0]]
        path = [locations[i] for i in reversed(path)]
        label = {"samples": "count()", "sum": "sum()"}.get(name, "@" + name)
        if len(types) > 1 and path != [label]:
            path = [label] + path
        yield path, values[at]

paths = {}
for name in sys.argv[1:]:
    data = open(name, "rb").read()
    rows = of_profile(data) if name.endswith(".pb.gz") else of_json(data.decode()) if name.endswith(".json") else \
        of_html(data.decode()) if name.endswith(".html") else of_folded(data.decode())
    for path, value in rows:
        key = ";".join(path)
        if value:
            paths[key] = paths.get(key, 0) + value
for key in sorted(paths):
    print(key, paths[key])
