"""A headless Chromium that a test talks to through a pair of pipes (DevTools protocol), without further packages."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
LEAST_WINDOW = 500
"""Least width of a window [pixels]; a smaller page is that of a phone."""


def find() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Page:
    """One page in a headless browser; a context manager."""

    def __init__(
        self, url: str, width: int = 1280, height: int = 800, *, webgl: bool = False, script: str = ""
    ) -> None:
        self._url, self._size = url, (width, height)
        # What Chromium chooses on a machine without a graphics card, whatever this machine has.
        software = ["--use-angle=swiftshader-webgl", "--enable-unsafe-swiftshader"]
        self._graphics = software if webgl else ["--disable-gpu"]
        self._script = script
        self._count, self._buffer = 0, b""
        self.errors: list[str] = []

    def __enter__(self) -> "Page":
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        command = [
            find(), "--headless=new", "--no-sandbox", "--disable-dev-shm-usage",
            *self._graphics, "--no-first-run",
            "--remote-debugging-pipe", f"--user-data-dir={self._folder.name}",
            f"--window-size={self._size[0]},{self._size[1]}", "about:blank",
        ]  # fmt: skip
        # The browser wants exactly descriptors 3 (reads) and 4 (writes).
        script = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, "bash", *command],
            pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self._ask(f"{domain}.enable", self._session)
        if self._size[0] < LEAST_WINDOW:
            self._ask(
                "Emulation.setDeviceMetricsOverride", self._session, width=self._size[0], height=self._size[1],
                deviceScaleFactor=1, mobile=True,
            )  # fmt: skip
        if self._script:
            self._ask("Page.addScriptToEvaluateOnNewDocument", self._session, source=self._script)
        self._ask("Page.navigate", self._session, url=self._url)
        return self

    def _hear(self, event: dict) -> None:
        """Keep what the page complains about: errors that nobody caught, of the console, and of loading."""
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details.get("text", "")))
        elif method == "Runtime.consoleAPICalled" and params["type"] == "error":
            self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")

    def __exit__(self, *_: object) -> None:
        try:
            self._ask("Browser.close")
        except (OSError, TimeoutError, RuntimeError):
            self._process.kill()
        self._process.wait(60)
        os.close(self._out)
        os.close(self._in)
        self._folder.cleanup()

    def _ask(self, method: str, session: str | None = None, **params: object) -> dict:
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        limit = time.monotonic() + 120.0
        while True:
            while b"\0" not in self._buffer:
                if not select.select([self._in], [], [], max(0.0, limit - time.monotonic()))[0]:
                    raise TimeoutError(f"the browser does not answer {method}")
                chunk = os.read(self._in, 65536)
                if not chunk:
                    raise RuntimeError("the browser has ended")
                self._buffer += chunk
            text, self._buffer = self._buffer.split(b"\0", 1)
            answer = json.loads(text)
            if answer.get("id") == self._count:
                if "error" in answer:
                    raise RuntimeError(answer["error"]["message"])
                return answer["result"]
            self._hear(answer)

    def run(self, script: str):
        """Return the value of an expression in the page; a promise is awaited."""
        result = self._ask("Runtime.evaluate", self._session, expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", "script failed"))
        return result["result"].get("value")

    def until(self, condition: str, seconds: float = 60.0):
        """Wait, inside the page, until an expression is true."""
        script = (
            f"new Promise((done, fail) => {{ const end = Date.now() + {1e3 * seconds}; const look = () => {{ let v;"
            f" try {{ v = ({condition}); }} catch (e) {{ v = false; }} if (v) done(v); else if (Date.now() > end)"
            " fail(new Error('waited in vain')); else setTimeout(look, 20); }; look(); })"
        )
        for _ in range(3):
            try:
                return self.run(script)
            except RuntimeError as error:
                # The page came in between.
                if "context was destroyed" not in str(error):
                    raise
        raise RuntimeError("the page is loaded again and again")

    def open(self, url: str) -> None:
        """Load another page in the same window, and forget what the one before complained about."""
        self._ask("Page.navigate", self._session, url=url)
        self.errors.clear()

    def type(self, text: str) -> None:
        """Press the keys of a text, one after the other, where the page has its focus."""
        for character in text:
            self._ask("Input.dispatchKeyEvent", self._session, type="keyDown", text=character, key=character)
            self._ask("Input.dispatchKeyEvent", self._session, type="keyUp", key=character)

    def key(self, name: str, code: int, text: str = "") -> None:
        """Press one key, such as Enter (code 13, text "\\r") or Tab (code 9)."""
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            self._ask(
                "Input.dispatchKeyEvent", self._session, type=kind, key=name, code=name,
                windowsVirtualKeyCode=code, **more,
            )  # fmt: skip

    def press(self, x: float, y: float) -> None:
        """Press the mouse and move it, without letting go."""
        for kind, at in (("mousePressed", x), ("mouseMoved", x + 40)):
            self._ask(
                "Input.dispatchMouseEvent", self._session, type=kind, x=at, y=y, button="left", buttons=1, clickCount=1
            )

    def hover(self, x: float, y: float) -> None:
        """Move the mouse somewhere, without a button, until the page has drawn what that changes."""
        self._ask("Input.dispatchMouseEvent", self._session, type="mouseMoved", x=x, y=y, button="none", buttons=0)
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))")

    def drag(self, *points: tuple[float, float]) -> None:
        """Press the mouse at the first point, move along the others, release."""

        def send(kind: str, x: float, y: float) -> None:
            self._ask(
                "Input.dispatchMouseEvent", self._session, type=kind, x=x, y=y, button="left",
                buttons=0 if kind == "mouseReleased" else 1, clickCount=1,
            )  # fmt: skip

        send("mousePressed", *points[0])
        for point in points[1:]:
            send("mouseMoved", *point)
        send("mouseReleased", *points[-1])

    def move_slider(self, label: str, fraction: float) -> None:
        """Drag the handle of a slider of the page of robots to a part of its range, 0 to 1."""
        script = (
            f"(() => {{ const all = [...document.querySelectorAll('[role=slider]')]; const s = all.find(e => {{"
            f" let p = e; for (let k = 0; k < 9 && p; k++) {{ p = p.parentElement; if (p && p.innerText"
            f" && p.innerText.replace(/\\s+/g, ' ').includes({label!r})) return true; }} return false; }});"
            " if (!s) return null; s.scrollIntoView({block: 'center'}); const r = s.getBoundingClientRect();"
            " const t = s.parentElement.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2, t.x, t.width]; })()"
        )
        found = self.run(script)
        if found is None:
            raise RuntimeError(f"there is no slider {label!r}")
        x, y, left, width = found
        self.drag((x, y), (left + 0.5 * (fraction + (x - left) / width) * width, y), (left + fraction * width, y))

    def screenshot(self) -> bytes:
        return base64.b64decode(self._ask("Page.captureScreenshot", self._session, format="png")["data"])
