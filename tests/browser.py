"""A headless browser (Debian's chromium), which a test drives through its debugging pipe, as a person would use a
page."""

import base64
import fcntl
import json
import os
import re
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")


def above(ends):
    """Move a pipe's ends to file descriptors that the debugging pipe does not use."""
    higher = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return higher


def shows_a_plan_that_streams(window, side, store, layers):
    """True if the page's side bar shows the plan of a model with this many layers, of which some stream through two slots. Measured rates decide
    which part of the output matrix stays in memory, so the shown parts are compared with each other."""
    found = re.search(r"Layers in memory\n(\d+) of (\d+)\nSlots for the others\n2 of \d+ KiB\n"
                      rf"(?:Output matrix in memory\n\d+ %\n)?From the {store} for a token\n\d+ KiB\n", side)
    streamed = window.value("document.querySelectorAll('#plan rect.streamed').length")
    return found is not None and streamed > 0 and int(found[1]) + streamed == int(found[2]) == layers


class Browser:
    """A window of this size. dark: the person's system has a dark theme. check() waits until an expression is true."""

    def __init__(self, width=1280, height=800, dark=False):
        self.folder = tempfile.mkdtemp(prefix="ingot-browser-")
        to_read, to_write = above(os.pipe()), above(os.pipe())

        def pipes():
            os.dup2(to_write[0], 3)
            os.dup2(to_read[1], 4)
        self.process = subprocess.Popen([PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
                                         f"--user-data-dir={self.folder}", f"--window-size={width},{height}", "--remote-debugging-pipe", "about:blank"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=pipes, close_fds=False)
        os.close(to_write[0])
        os.close(to_read[1])
        self.reads, self.writes = to_read[0], to_write[1]
        self.bytes, self.n, self.session, self.said = b"", 0, None, []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")
        self.size(width, height)
        self.dark(dark)

    def message(self, seconds):
        late = time.monotonic() + seconds
        while b"\0" not in self.bytes:
            if not select.select([self.reads], [], [], max(0, late - time.monotonic()))[0]:
                raise TimeoutError("the browser says nothing")
            more = os.read(self.reads, 1 << 16)
            if not more:
                raise EOFError("the browser ended")
            self.bytes += more
        one, self.bytes = self.bytes.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **params):
        self.n += 1
        request = {"id": self.n, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.writes, json.dumps(request).encode() + b"\0")
        while True:
            m = self.message(60)
            if m.get("id") == self.n:
                if "error" in m:
                    raise RuntimeError(f"{method}: {m['error']}")
                return m["result"]
            if m.get("method") == "Log.entryAdded" and m["params"]["entry"]["level"] == "error":
                self.said.append(m["params"]["entry"]["text"])
            if m.get("method") == "Runtime.exceptionThrown":
                self.said.append(m["params"]["exceptionDetails"].get("exception", {}).get("description", "an exception"))

    def go(self, url, before=""):
        """before: a script that runs before the scripts of the page."""
        if before:
            self.call("Page.addScriptToEvaluateOnNewDocument", source=before)
        self.call("Page.navigate", url=url)
        self.check("document.readyState === 'complete'")

    def value(self, expression):
        r = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True)
        return r["result"].get("value")

    def check(self, expression, seconds=60):
        late = time.monotonic() + seconds
        while time.monotonic() < late:
            if self.value(expression):
                return True
            time.sleep(0.05)
        return False

    def type(self, text):
        self.call("Input.insertText", text=text)

    def keys(self, text):
        """Type text key by key, for scripts that listen to keys."""
        for c in text:
            self.call("Input.dispatchKeyEvent", type="keyDown", key=c, text=c, unmodifiedText=c)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=c)

    def press(self, key, modifiers=0):
        more = {"text": "\r"} if key == "Enter" else {}
        code = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowRight": 39, "ArrowLeft": 37}[key]
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, modifiers=modifiers, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code, modifiers=modifiers)

    def choose(self, selector, path):
        """Put a file into a field for files."""
        field = self.call("Runtime.evaluate", expression=f"document.querySelector({json.dumps(selector)})")["result"]["objectId"]
        self.call("DOM.setFileInputFiles", objectId=field, files=[path])

    def dark(self, on, still=False):
        """Set the person's system settings. on: dark theme; still: reduced motion."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"},
                                                          {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"}])

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def picture(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def end(self):
        if self.process.poll() is not None:
            return
        self.process.kill()
        self.process.wait()
        os.close(self.reads)
        os.close(self.writes)
        shutil.rmtree(self.folder, True)
