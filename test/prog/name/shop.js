// A function of JavaScript that computes for a second or so, and says how often it was called.
function ringTill(n) {
  let s = 0;
  for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003;
  return s;
}
let s = 0, end = Date.now() + 1000, calls = 0;
while (Date.now() < end) { s += ringTill(200000); calls++; }
process.exit(s < 0 ? 1 : 0);
