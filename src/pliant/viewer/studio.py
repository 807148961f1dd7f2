"""The simulation in a browser: MuJoCo Studio, fed from the loop.

The loop copies the state some thirty times a second, which takes microseconds; a thread of the viewer's own shows the
copy. So the viewer never stands between a sample and its answer, however slow the browser is.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pliant.devices.base import SampleSource
from pliant.engine.base import MujocoState
from pliant.errors import BridgeError, MissingDependency
from pliant.simulation.bridge import BridgeBase
from pliant.viewer.origin import PROTECTION, check_page_host, foreign

__all__ = ["StudioView"]


class StudioView(BridgeBase):
    """A view of a `MujocoEngine`; give it to `Simulation` as a bridge.

    Studio offers neither a password nor encryption, so the page is served to this machine only; from another one use
    ``ssh -L 8080:localhost:8080``. Studio itself answers every site that the user has open; here, requests and
    WebSockets of other sites are refused (`pliant.viewer.origin`).

    Args:
        engine: the engine that is shown.
        port: port of the page; 0 takes the first free one from 8080 on.
        host: address that the page is served on; another one than 127.0.0.1 lets anyone who reaches it look.
        rate: pictures a second of wall time.
        open_browser: open the page in this machine's browser.
    """

    name = "view"

    def __init__(
        self,
        engine: MujocoState,
        *,
        port: int = 0,
        host: str = "127.0.0.1",
        rate: float = 30.0,
        open_browser: bool = False,
    ) -> None:
        self._engine = engine
        self._port, self._host, self._open = port, host, open_browser
        self._period_ns = round(1e9 / rate)
        self._next = 0
        self._fresh = threading.Event()
        self._lock = threading.Lock()
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._handle: Any = None
        self._shown = 0
        self._fault = ""
        self.url = ""
        """Address of the page, once started."""

    @property
    def addresses(self) -> Mapping[str, str]:
        """The page."""
        return {"page": self.url}

    def start(self, devices: Mapping[str, SampleSource]) -> None:
        """Serve the page.

        Raises:
            MissingDependency: this mujoco package has no Studio.
            BridgeError: the port is in use, the host is every interface, or Studio cannot be kept from other sites.
        """
        check_page_host(self._host)
        import mujoco

        try:
            from mujoco.studio import app, launch_web, viewer_protocol, web_viewer
        except ImportError as error:
            raise MissingDependency(
                f"MuJoCo Studio ({error})", command="pip install --upgrade mujoco mujoco-studio", purpose="the view"
            ) from None
        model = self._engine.model
        self._spec = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
        self._state = np.zeros(mujoco.mj_stateSize(model, self._spec))
        self._data = mujoco.MjData(model)
        # Studio would bind every interface, in a thread of its own where a port in use is not seen, and print a banner.
        server = web_viewer.web_server
        original, original_serve = server.bind_public_socket, server.serve
        try:
            served = original(self._host, self._port)
        except (OSError, RuntimeError):
            raise BridgeError(
                f"the view cannot serve its page on {self._host}, port {self._port or 'from 8080 on'}: it is in use; "
                "name another port",
                field="port",
            ) from None
        served.listen()  # a browser that is early waits for the server's thread instead of being refused
        port = served.getsockname()[1]
        config = viewer_protocol.ViewerConfig(title="pliant", gfx="web", http_port=port, open_browser=self._open)
        banner = web_viewer._print_url_banner
        ready = threading.Event()
        web_viewer._print_url_banner = lambda *_: ready.set()  # the last thing before the page is up
        guarded = threading.Event()
        server.bind_public_socket = lambda _host, _port=0: served
        server.serve = _guard(original_serve, self._host, guarded)
        try:
            self._handle = launch_web.launch(config, plugins=[app.App()])
            if not (ready.wait(20.0) and guarded.wait(20.0)):
                raise BridgeError("the view does not start: MuJoCo Studio gave no sign for 20 s")
            self._handle.set_model(model, data=self._data)
            self._handle.sync(model, self._data)
        finally:
            server.bind_public_socket, server.serve = original, original_serve
            web_viewer._print_url_banner = banner
        self.url = f"http://localhost:{port}/"
        self._copy()
        self._thread = self.threads.start("pliant-view", self._show)

    def tick(self, stamp_ns: int) -> None:
        """Copy the state when a picture is due."""
        now = time.monotonic_ns()
        if now >= self._next:
            self._next = now + self._period_ns
            self._copy()

    def stop(self) -> None:
        """Close the page; may be called twice."""
        self.threads.close()
        self._stopping = True
        self._fresh.set()
        if self._thread is not None:
            self._thread.join(timeout=5.0)
            self._thread = None
        if self._handle is not None:
            self._handle.close()
            self._handle = None

    def health(self) -> Mapping[str, Any]:
        """Return the address, the number of pictures and the last fault."""
        return {"url": self.url, "pictures": self._shown, "last_error": self._fault}

    def _copy(self) -> None:
        import mujoco

        with self._lock:
            mujoco.mj_getState(self._engine.model, self._engine.data, self._state, self._spec)
        self._fresh.set()

    def _show(self) -> None:
        import mujoco

        model = self._engine.model
        while True:
            # Without a new state the page still wants its menus and camera served.
            self._fresh.wait(0.05)
            self._fresh.clear()
            if self._stopping:
                return
            with self._lock:
                mujoco.mj_setState(model, self._data, self._state, self._spec)
            try:
                mujoco.mj_kinematics(model, self._data)
                mujoco.mj_comPos(model, self._data)
                mujoco.mj_camlight(model, self._data)
                mujoco.mj_tendon(model, self._data)
                self._handle.sync(model, self._data)
                self._shown += 1
            except Exception as error:
                self._fault = f"{type(error).__name__}: {error}"
                raise


def _guard(serve: Callable[..., Any], host: str, guarded: threading.Event) -> Callable[..., Any]:
    """Return Studio's server of HTTP and WebSockets with a check in front of each request.

    Args:
        serve: what Studio calls to serve.
        host: address that the page is served on.
        guarded: set once a server with the check is made.
    """

    def guarding(*arguments: Any, process_request: Any, process_response: Any, **options: Any) -> Any:
        def asked(connection: Any, request: Any) -> Any:
            reason = foreign(request.headers.raw_items(), host)
            if reason:
                return _protected(connection.respond(403, f"{reason}\n"))
            answer = process_request(connection, request)
            return None if answer is None else _protected(answer)

        def answered(connection: Any, request: Any, response: Any) -> Any:
            other = process_response(connection, request, response)
            _protected(response if other is None else other)
            return other

        made = serve(*arguments, process_request=asked, process_response=answered, **options)
        guarded.set()
        return made

    return guarding


def _protected(response: Any) -> Any:
    """Take back what lets other sites read an answer."""
    headers = response.headers
    for name in ("Access-Control-Allow-Origin", *PROTECTION):
        if name in headers:
            del headers[name]
    for name, value in PROTECTION.items():
        headers[name] = value
    return response
