"""A headless Chromium that tests drive over its debugging pipe; nothing else is needed."""

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class PageError(AssertionError):
    """The page threw, or what was waited for did not come."""


class Browser:
    """One page. `problems` collects whatever the page's console and its security policy complain about."""

    def __init__(self, width=1280, height=900, dark=False):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.send_end = os.pipe()
        self.receive_end, from_browser = os.pipe()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                 "--no-first-run", "--disable-background-networking", "--remote-debugging-pipe",
                 f"--user-data-dir={self.folder.name}", f"--window-size={width},{height}"]
        if dark:
            flags.append("--blink-settings=preferredColorScheme=0")

        def place_pipes():  # the browser reads from descriptor 3 and writes to 4
            low, high = os.dup(to_browser), os.dup(from_browser)
            os.dup2(low, 3)
            os.dup2(high, 4)

        self.process = subprocess.Popen(  # pylint: disable=subprocess-popen-preexec-fn
            [CHROMIUM, *flags, "about:blank"], preexec_fn=place_pipes, pass_fds=(3, 4),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.problems = []
        self.downloads = pathlib.Path(self.folder.name) / "downloads"
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        if dark:
            self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads))

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=10)
        os.close(self.send_end)
        os.close(self.receive_end)
        self.folder.cleanup()

    def call(self, method, **parameters):
        """Calls a method of the protocol and returns its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.send_end, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            answer = self.receive(deadline - time.monotonic())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise PageError(answer["error"]["message"])
                return answer["result"]
        raise PageError(f"no answer to {method}")

    def receive(self, patience):
        while b"\0" not in self.buffer:
            if not select.select([self.receive_end], [], [], patience)[0]:
                raise PageError("the browser says nothing")
            chunk = os.read(self.receive_end, 1 << 16)
            if not chunk:
                raise PageError("the browser ended")
            self.buffer += chunk
        line, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(line)
        self.listen(message.get("method"), message.get("params", {}))
        return message

    def listen(self, method, parameters):
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            self.problems.append(" ".join(str(a.get("value")) for a in parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            entry = parameters["entry"]
            self.problems.append(f"{entry['text']} {entry.get('url', '')}")

    def open(self, address):
        self.call("Page.navigate", url=address)

    def value(self, expression):
        """The value of a JavaScript expression in the page; promises are waited for."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise PageError(result["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        return result["result"].get("value")

    def wait_for(self, expression, seconds=30):
        """The first true value of an expression."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            value = self.value(f"(value => value instanceof Node ? true : value)({expression})")
            if value:
                return value
            time.sleep(0.03)
        raise PageError(f"never true: {expression}")

    def click(self, selector):
        self.value(f"document.querySelector({json.dumps(selector)}).click()")

    def type_into(self, selector, text):
        """Sets the value of a control as a person would, with the events that follow."""
        self.value(f"""(() => {{ const field = document.querySelector({json.dumps(selector)});
            field.value = {json.dumps(text)};
            for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, {{bubbles: true}})); }})()""")

    def mouse(self, kind, x, y):
        pressed = 0 if kind == "mouseReleased" else 1
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none" if kind == "mouseMoved" else "left",
                  buttons=pressed if kind != "mouseMoved" else 0, clickCount=1 if kind != "mouseMoved" else 0)

    def screenshot(self, path, full=True):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=full)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))
