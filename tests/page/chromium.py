"""Headless Chromium, driven through its debugging pipe. Nothing but the standard
library is needed."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         "--remote-debugging-pipe", "--disable-extensions", "--no-first-run"]


def find():
    """The program, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Browser:
    """One tab. JavaScript's errors become Python's."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="fxjit_chromium_")
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()

        def as_three_and_four():
            kept = os.dup(commands), os.dup(answers)
            os.dup2(kept[0], 3)
            os.dup2(kept[1], 4)

        self.process = subprocess.Popen(
            [program, *FLAGS, "--user-data-dir=" + self.profile, "about:blank"],
            preexec_fn=as_three_and_four, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.pending, self.number, self.session, self.events = b"", 0, None, []
        tab = next(target for target in self.call("Target.getTargets")["targetInfos"]
                   if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=tab["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def _read(self):
        while b"\0" not in self.pending:
            more = os.read(self.answers, 1 << 20)
            if not more:
                raise RuntimeError("chromium ended")
            self.pending += more
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") != self.number:
                self.events.append(answer)
                continue
            if "error" in answer:
                raise RuntimeError(method + ": " + str(answer["error"]))
            return answer["result"]

    def run(self, script):
        """The value of an expression; promises are waited for."""
        answer = self.call("Runtime.evaluate", expression=script,
                           returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:800])
        return answer["result"].get("value")

    def wait_for(self, script, seconds=30):
        end = time.monotonic() + seconds
        while not self.run(script):
            if time.monotonic() > end:
                raise RuntimeError("never true: " + script)
            time.sleep(0.02)

    def open(self, path):
        """Returns the milliseconds until the page could be used."""
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait_for("document.documentElement?.dataset.ready")
        return int(self.run("document.documentElement.dataset.ready"))

    def size(self, width, height, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=2 if phone else 1, mobile=phone)

    def dark(self, on):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                      button="left", clickCount=1)

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(
                self.call("Page.captureScreenshot", format="png")["data"]))

    def problems(self):
        """Uncaught errors, and whatever the page wanted from elsewhere."""
        found = []
        for event in self.events:
            params = event.get("params", {})
            if event["method"] in ("Runtime.exceptionThrown", "Log.entryAdded"):
                found.append(json.dumps(params)[:400])
            url = params.get("request", {}).get("url", "")
            if event["method"] == "Network.requestWillBeSent" and not \
                    url.startswith(("file:", "data:", "blob:")):
                found.append("asked for " + url)
        return found

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)
