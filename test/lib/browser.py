# browser.py [--dark] [--size WxH] [--script FILE] URL STEP... - opens a page in headless Chromium and does what the steps say, one after the other:
#
#   until EXPRESSION     waits until this JavaScript is true, a minute at most
#   run EXPRESSION       runs it
#   print EXPRESSION     prints its value
#   shot FILE            the window as a PNG picture
#   network              prints the addresses that the page asked for so far, one a line
#
# A script is run before those of the page. browser.py speaks Chromium's own protocol over the browser's pipe. Exit 1: a step failed, or the page's script did.
import base64, json, os, shutil, subprocess, sys, tempfile

class Browser:
    def __init__(self):
        name = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
        to_browser, self.out = os.pipe()
        self.inp, from_browser = os.pipe()
        self.dir = tempfile.mkdtemp()
        def wire():
            for fd in (os.dup2(to_browser, 100), os.dup2(from_browser, 101)):
                pass
            os.dup2(100, 3)
            os.dup2(101, 4)
        self.process = subprocess.Popen([name, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars",
            "--user-data-dir=" + self.dir, "--remote-debugging-pipe", "about:blank"], preexec_fn=wire, close_fds=False, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.n, self.rest, self.session, self.asked, self.wrong = 0, b"", None, [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
    def call(self, method, **params):
        self.n += 1
        message = {"id": self.n, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0") if len(json.dumps(message)) < 60000 else sys.exit("too long")
        while True:
            while b"\0" not in self.rest:
                more = os.read(self.inp, 1 << 20)
                if not more:
                    sys.exit("the browser ended")
                self.rest += more
            line, self.rest = self.rest.split(b"\0", 1)
            m = json.loads(line)
            if m.get("method") == "Network.requestWillBeSent":
                self.asked.append(m["params"]["request"]["url"])
            if m.get("method") == "Runtime.exceptionThrown":
                self.wrong.append(json.dumps(m["params"]["exceptionDetails"])[:600])
            if m.get("method") == "Log.entryAdded" and m["params"]["entry"]["level"] == "error":
                self.wrong.append(m["params"]["entry"]["text"])
            if m.get("id") == self.n:
                if "error" in m:
                    sys.exit(method + ": " + m["error"]["message"])
                return m["result"]
    def value(self, expression):
        r = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in r:
            sys.exit(expression + ": " + json.dumps(r["exceptionDetails"])[:600])
        return r["result"].get("value")
    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

def main(args):
    dark, width, height, script = False, 1280, 900, None
    while args and args[0].startswith("--"):
        option = args.pop(0)
        if option == "--dark":
            dark = True
        elif option == "--script":
            script = open(args.pop(0)).read()
        else:
            width, height = map(int, args.pop(0).split("x"))
    b = Browser()
    try:
        b.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        if dark:
            b.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        if script:
            b.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        b.call("Page.navigate", url=args.pop(0))
        while args:
            step = args.pop(0)
            if step == "network":
                print("\n".join(b.asked))
                continue
            what = args.pop(0)
            if step == "until":
                if not b.value("new Promise((done) => { let n = 0; (function look() { let ok = false; try { ok = !!(" + what +
                        "); } catch (e) { } if (ok || ++n > 1200) { done(ok); } else { setTimeout(look, 50); } })(); })"):
                    sys.exit("never became true: " + what + "\n" + str(b.value("document.body.innerText"))[:2000] + "\n".join(b.wrong))
            elif step == "shot":
                open(what, "wb").write(base64.b64decode(b.call("Page.captureScreenshot", format="png")["data"]))
            elif step == "print":
                v = b.value(what)
                print(v if isinstance(v, str) else json.dumps(v))
            else:
                b.value(what)
        b.value("1")
        if b.wrong:
            sys.exit("\n".join(b.wrong))
    finally:
        b.close()

main(sys.argv[1:])
