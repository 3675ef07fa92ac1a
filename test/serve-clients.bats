#!/usr/bin/env bats
# tally serve and clients that mean it ill: whoever asks honestly is answered, and nothing of the others stays behind.

bats_require_minimum_version 1.5.0
load common
load service

# attack PORT PID KIND NUMBER: so many clients of a kind hold what they can get; 5 honest ones are answered meanwhile, and when all are gone the
# service has the descriptors that it had. MEMORY: what it may grow by meanwhile, in kB.
attack() {
  python3 - "$@" <<'P'
import os, resource, selectors, socket, sys
port, pid, kind, number = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
MEMORY = 16 * 1024
resource.setrlimit(resource.RLIMIT_NOFILE, (number + 200, max(number + 200, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
descriptors = lambda: len(os.listdir(f'/proc/{pid}/fd'))
resident = lambda: next(int(line.split()[1]) for line in open(f'/proc/{pid}/status') if line.startswith('VmRSS'))
ASK = b'GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
def honest():
    with socket.create_connection(('127.0.0.1', port), timeout=60) as s:
        s.sendall(ASK)
        answer = b''
        while more := s.recv(65536):
            answer += more
    assert answer.startswith(b'HTTP/1.1 200 OK') and b'tally_n_total{program="known"} 1\n' in answer, answer[:200]
honest()
had, began = descriptors(), resident()
held = []
def hostile():
    s = socket.socket()
    if kind == 'slow':
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    s.setblocking(False)
    try:
        s.connect(('127.0.0.1', port))
    except BlockingIOError:
        pass
    held.append(s)
    return s
words = {'half': b'GET /metrics HTTP/1.1\r\nHost: ', 'slow': 200 * b'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n', 'silent': b'', 'nonsense': bytes(range(256)) * 64}[kind]
wait = selectors.DefaultSelector()
for n in range(number):
    wait.register(hostile(), selectors.EVENT_WRITE)
for n in range(5):
    for key, _ in wait.select(0):
        try:
            if words:
                key.fileobj.send(words)
        except OSError:
            pass
        wait.unregister(key.fileobj)
    honest()
    assert descriptors() <= had + 256, descriptors()
    assert resident() <= began + MEMORY, (began, resident())
for s in held:
    s.close()
while descriptors() > had: # what nobody holds any more is given up
    honest()
print(kind, number, 'descriptors', had, 'kB', began, resident())
P
}

@test "honest clients are answered among 1,000 half requests, slow readers, silent ones and nonsense: descriptors and memory are flat" {
  needs_http
  needs_python
  echo 'BEGIN { @n = count(); }' >known.d
  serve -s known.d
  for kind in half slow silent nonsense; do attack "${at##*:}" "$server" "$kind" 1000; done
}

@test "1,000 scrapers at once are answered" {
  needs_http
  needs_python
  echo 'BEGIN { @n = count(); }' >known.d
  serve -s known.d
  python3 - "${at##*:}" "$server" <<'P'
import os, resource, signal, socket, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (2000, max(2000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
os.kill(int(sys.argv[2]), signal.SIGSTOP) # so that it finds all of them at once, be they as slow as they may
scrapers = []
for _ in range(1000):
    s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
    s.sendall(b'GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    scrapers.append(s)
os.kill(int(sys.argv[2]), signal.SIGCONT)
for s in scrapers:
    answer = s.makefile('rb').read()
    assert b'tally_n_total{program="known"} 1\n' in answer, answer[:200]
P
  [ "$(metrics | sed -n 's/^tally_scrapes_total //p')" -eq 1001 ]
}
