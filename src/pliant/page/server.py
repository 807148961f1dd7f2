"""The server of the page: viser, bound to one address, behind a check of Host and Origin.

viser listens on every interface unless told, moves to another port without a word, answers every site and can open a
tunnel to the internet. Here the socket is bound before viser starts, each request and WebSocket passes
`pliant.base.origin`, and the tunnel is switched off.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import math
import mimetypes
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.base.errors import BridgeError, MissingDependency
from pliant.base.listening import check_listening_host
from pliant.base.origin import PROTECTION, foreign
from pliant.page.calls import LatestCalls
from pliant.page.document import IN_SOFTWARE, document, naming_script
from pliant.page.entered import drop_late_values, poses_only, values_only
from pliant.page.uploads import Uploads
from pliant.page.wake import wake_on_loop

if TYPE_CHECKING:
    import numpy as np
    import viser
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response

    Answering = Callable[[ServerConnection, Request], Response | None]

FIRST_PORT = 8080
LAST_PORT = 8179
MAX_MESSAGE = 1 << 20
"""Longest message that a browser may send [bytes]."""
FIELD_OF_VIEW = 0.7
"""Height of the picture as an angle [rad]."""
MAX_PAGES = 16
"""Most pages that are open at one time."""
COLOURS = (
    "#e3f6f8", "#cdeaee", "#9dd5dc", "#6abfca", "#40acba", "#0f8797", "#007486", "#00677a", "#005a6b", "#004d5d",
)  # fmt: skip
"""Colours of buttons and sliders on a light page, from light to dark."""
COLOURS_ON_DARK = (*COLOURS[:5], "#2fa9ba", "#2fa9ba", "#35aebf", "#3bb4c5", "#2fa9ba")
"""The same on a dark page, where panels take the darker ones."""
POLICY = (
    "default-src 'self' data: blob:; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; worker-src 'self' blob:; connect-src 'self' ws: data: blob:; "
    "frame-ancestors 'none'"
)
"""Content security policy: the page loads nothing from elsewhere."""
_LOCK = threading.Lock()
_log = logging.getLogger("pliant.view")


def check_page_host(host: str) -> None:
    """Refuse to serve a page, which has no password, on every interface.

    Raises:
        BridgeError: the host is empty or the wildcard address.
    """
    try:
        check_listening_host(host, "host")
    except BridgeError as error:
        text = f"{error}; the page has no password. From another machine use: ssh -L 8080:localhost:8080"
        raise BridgeError(text, field="host") from None


class PageServer:
    """Serve one page to any number of browsers of this machine.

    Args:
        host: address of this machine to serve on; the page has no password.
        port: port of the page; 0 takes the first free one from 8080 on.
        title: text in the head of the panel and in the browser's tab.
        folders: first part of a path -> folder whose files are served below it, such as ``{"report": Path("demo")}``.

    Raises:
        BridgeError: the host is every interface, or the port is in use.
        MissingDependency: viser is not installed.

    Example:
        >>> server = PageServer(title="elbow")  # doctest: +SKIP
        >>> server.url  # doctest: +SKIP
        'http://localhost:8080/'
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        title: str = "pliant",
        folders: dict[str, Path] | None = None,
    ) -> None:
        check_page_host(host)
        try:
            import viser
            from viser import _messages
        except ImportError as error:
            raise MissingDependency(
                f"viser ({error})", command="pip install --upgrade viser", purpose="the page"
            ) from None
        self._host, self._title = host, title
        self._folders = {name: folder.resolve() for name, folder in (folders or {}).items()}
        self.in_software = False
        """Whether a browser without a graphics card has opened the page."""
        self.numbers = 0
        """Numbers that browsers entered in boxes and with sliders."""
        self.pulls = 0
        """Moves of pointers that hold a body."""
        self.faults = 0
        """Messages of browsers that made no sense."""
        listening = _bind(host, port)
        shown = "localhost" if host in ("127.0.0.1", "::1") else host
        self.url = f"http://{shown}:{listening.getsockname()[1]}/"
        """Address of the page."""
        with _LOCK, _serving_on(listening, self._answer), _silent():
            self.viser = viser.ViserServer(host=host, port=listening.getsockname()[1], label=title, verbose=False)
        connection = self.viser._websock_server
        wake_on_loop(connection)
        # The tunnel would show the page to anyone on the internet.
        for name in ("ShareUrlRequest", "ShareUrlDisconnect"):
            connection._incoming_handlers.pop(getattr(_messages, name), None)
        changed = connection._incoming_handlers.get(_messages.GuiUpdateMessage, [])
        changed[:] = [values_only(handler, self._limits, self._clamped, self._choices) for handler in changed]
        dragged = connection._incoming_handlers.get(_messages.TransformControlsUpdateMessage, [])
        dragged[:] = [poses_only(handler) for handler in dragged]
        self.uploads = Uploads(self.viser)
        """Files that browsers give; none without a button that takes them."""
        loop = connection._background_event_loop
        assert loop is not None  # viser sets it before its constructor returns
        loop.call_soon_threadsafe(loop.set_exception_handler, self._failed)
        if connection._server_thread is not None:
            connection._server_thread.name = "pliant-page-server"
        self.gui, self.scene = self.viser.gui, self.viser.scene
        drop_late_values(connection, self.gui)
        self.viser._thread_executor.shutdown(wait=False)  # it has not begun
        self.viser._thread_executor = self.gui._thread_executor = self.scene._thread_executor = LatestCalls()
        self._opening: set[int] = set()
        set_theme(self.gui, dark=False)
        self.viser.on_client_connect(self._greet)

    def __enter__(self) -> PageServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def clear(self) -> None:
        """Take the scene and all panels away; the pages stay open for what comes next."""
        self.uploads.clear()
        self.viser.gui.reset()
        self.viser.scene.reset()
        self.viser.scene.set_up_direction("+z")

    def notify(self, head: str, text: str, *, colour: str = "red") -> None:
        """Show a message on every page."""
        for client in self.viser.get_clients().values():
            client.add_notification(head, text, loading=False, auto_close_seconds=8.0, color=colour)  # type: ignore[arg-type]

    def rename(self, title: str) -> None:
        """Show another name in the head of the panel and in the tab of every page."""
        self._title = title
        self.gui.set_panel_label(title)
        for client in self.viser.get_clients().values():
            self._greet(client)

    @property
    def alive(self) -> bool:
        """Whether pages are served."""
        thread = self.viser._websock_server._server_thread
        return thread is not None and thread.is_alive()

    def look(self, position: np.ndarray, look_at: np.ndarray, near: float) -> None:
        """Place the camera of every page, of those that come later as well."""
        # Pages that are open, but have not told their camera yet, are no clients and take no new first camera any more.
        self._opening = set(self.viser._websock_server._live_connections)
        camera = self.viser.initial_camera
        camera.position, camera.look_at = tuple(position), tuple(look_at)  # pyright: ignore[reportAttributeAccessIssue]
        camera.fov, camera.near = FIELD_OF_VIEW, near
        for client in self.viser.get_clients().values():
            self._place(client)

    def _place(self, client: viser.ClientHandle) -> None:
        self._opening.discard(client.client_id)
        first, camera = self.viser.initial_camera, client.camera
        with client.atomic():
            camera.position, camera.look_at, camera.near = first.position, first.look_at, first.near

    def stop(self) -> None:
        """Close every page and end the server's threads; may be called twice."""
        with _silent(), contextlib.suppress(RuntimeError):
            self.viser.stop()

    @property
    def uses(self) -> int:
        """How often browsers changed what moves the robot."""
        return self.numbers + self.pulls

    def _limits(self, uuid: str) -> tuple[float, float]:
        """Return the range of a control that somebody uses; without ends where it has none."""
        self.numbers += 1
        handle = self.gui._gui_input_handle_from_uuid.get(uuid)
        props = None if handle is None else handle._impl.props
        low, high = getattr(props, "min", None), getattr(props, "max", None)
        return (
            float(low) if isinstance(low, int | float) else -math.inf,
            float(high) if isinstance(high, int | float) else math.inf,
        )

    def _choices(self, uuid: str) -> tuple[str, ...] | None:
        """Return what a list or a group of buttons offers; None for other controls."""
        handle = self.gui._gui_input_handle_from_uuid.get(uuid)
        return None if handle is None else getattr(handle._impl.props, "options", None)

    def _clamped(self, client: int, uuid: str, entered: float, value: float) -> None:
        """Show a page, in its control and in a message, what is used in place of what it entered."""
        from viser import _messages

        handle, page = self.gui._gui_input_handle_from_uuid.get(uuid), self.viser.get_clients().get(client)
        if handle is None or page is None:
            return
        page.gui._websock_interface.queue_message(_messages.GuiUpdateMessage(uuid, {"value": value}))
        end = "least" if entered < value else "most"
        text = f"{handle.label}: {entered:g} was entered; must be at {end} {value:g}, which is used"
        page.add_notification("Limited", text, loading=False, auto_close_seconds=8.0, color="yellow")

    def _greet(self, client: viser.ClientHandle) -> None:
        """Give a page its name and camera; close viser's notice of a missing graphics card, which hides the robot."""
        from viser import _messages

        queue = client.gui._websock_interface.queue_message
        queue(_messages.RunJavascriptMessage(source=naming_script(self._title)))
        queue(_messages.RemoveNotificationMessage(uuid="webgl-software-rendering"))
        if client.client_id in self._opening:
            self._place(client)

    def _failed(self, _: object, context: dict[str, Any]) -> None:
        """Count what a browser sent that could not be used; asyncio would print it."""
        self.faults += 1
        _log.debug("%s", context.get("message", ""), exc_info=context.get("exception"))

    def _answer(self, request: Request, connection: ServerConnection, go_on: Answering) -> Response | None:
        """Answer one request; None where a WebSocket may open."""
        reason = foreign(request.headers.raw_items(), self._host)
        if reason:
            return _protected(connection.respond(403, f"{reason}\n"))
        if request.headers.get("Upgrade", "").lower() == "websocket":
            if len(self.viser._websock_server._live_connections) >= MAX_PAGES:
                return _protected(connection.respond(503, f"{MAX_PAGES} pages are open; close one\n"))
            return go_on(connection, request)
        if request.path.partition("?")[0] in ("/", "/index.html"):
            return _file_answer(connection, document(self._title), "text/html")
        if request.path == IN_SOFTWARE:
            self.in_software = True
            return _protected(connection.respond(204, ""))
        found = self._file(request.path)
        if found is None:
            rest = go_on(connection, request)
            return None if rest is None else _protected(rest)
        kind = mimetypes.guess_type(found.name)[0] or "application/octet-stream"
        return _file_answer(connection, found.read_bytes(), kind)

    def _file(self, path: str) -> Path | None:
        from urllib.parse import unquote

        first, _, rest = unquote(path.partition("?")[0]).lstrip("/").partition("/")
        folder = self._folders.get(first)
        if folder is None:
            return None
        found = (folder / (rest or "index.html")).resolve()
        return found if found.is_file() and found.is_relative_to(folder) else None


def icon(name: str) -> viser.IconName:
    """Return an icon by its name in viser's set."""
    from viser import IconName

    return IconName(name)


def set_theme(gui: viser.GuiApi, *, dark: bool) -> None:
    """Choose light or dark for all pages, or for one: that of a client's GUI."""
    from viser import _messages

    gui._websock_interface.queue_message(
        _messages.ThemeConfigurationMessage(
            titlebar_content=None, control_layout="floating", control_width="medium", dark_mode=dark, show_logo=False,
            show_share_button=False, colors=COLOURS_ON_DARK if dark else COLOURS,
        )
    )  # fmt: skip


def _bind(host: str, port: int) -> socket.socket:
    """Return a bound socket.

    Raises:
        BridgeError: the port is in use or does not exist, or the address is not of this machine.
    """
    if not 0 <= port <= 65535:  # getaddrinfo would take the remainder
        raise BridgeError(f"the port of the page is {port}; must be from 0 to 65535", field="port")
    ports = [port] if port else [*range(FIRST_PORT, LAST_PORT + 1), 0]
    fault: Exception | None = None
    for number in ports:
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0]
            found = socket.socket(family, kind, protocol)
        except (OSError, OverflowError) as error:
            fault = error
            break
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(address)
            found.listen(64)  # a browser that is early waits for the server's thread instead of being refused
        except (OSError, OverflowError) as error:
            found.close()
            fault = error
            continue
        return found
    where = f"{host}, port {port or f'from {FIRST_PORT} on'}"
    foreign = isinstance(fault, OSError) and fault.errno != errno.EADDRINUSE and fault.errno != errno.EACCES
    advice = "name an address of this machine, such as 127.0.0.1" if foreign else "name another port"
    raise BridgeError(f"the page cannot be served on {where}: {fault}; {advice}", field="host" if foreign else "port")


def _quiet_log() -> logging.Logger:
    """Return a logger that keeps broken handshakes off the standard error."""
    found = logging.getLogger("pliant.view.websockets")
    found.propagate = False
    if not found.handlers:
        found.addHandler(logging.NullHandler())
    return found


@contextlib.contextmanager
def _serving_on(
    listening: socket.socket, answer: Callable[[Request, ServerConnection, Answering], Response | None]
) -> Iterator[None]:
    """Let viser serve on a socket, behind a check of each request, while the block makes a server."""
    from websockets.asyncio import server

    original = server.serve

    def serve(handler: Any, _host: object, _port: object, *, process_request: Answering, **options: Any) -> object:
        def asked(connection: ServerConnection, request: Request) -> Response | None:
            return answer(request, connection, process_request)

        options |= {"max_size": MAX_MESSAGE, "logger": _quiet_log()}
        return original(handler, sock=listening, process_request=asked, **options)

    server.serve = serve
    try:
        yield
    finally:
        server.serve = original


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Keep viser's banners off the standard output from here on; a library does not print."""
    import rich

    if getattr(rich.print, "of_pliant", False):
        yield
        return
    original = rich.print

    def quiet(*objects: object, **options: Any) -> None:
        if not sys._getframe(1).f_globals.get("__name__", "").startswith("viser"):
            original(*objects, **options)

    vars(quiet)["of_pliant"] = True
    rich.print = quiet
    yield


def _file_answer(connection: ServerConnection, body: bytes, kind: str) -> Response:
    """Return the answer that carries a file."""
    answer = connection.respond(200, "")
    answer.body = body
    for name in ("Content-Length", "Content-Type"):
        with contextlib.suppress(KeyError):
            del answer.headers[name]
    answer.headers["Content-Type"] = f"{kind}; charset=utf-8" if kind.startswith("text/") else kind
    answer.headers["Content-Length"] = str(len(body))
    return _protected(answer)


def _protected(response: Response) -> Response:
    """Return a response with headers that keep other sites out."""
    for name, value in {**PROTECTION, "Content-Security-Policy": POLICY, "Cache-Control": "no-store"}.items():
        with contextlib.suppress(KeyError):
            del response.headers[name]
        response.headers[name] = value
    return response


def open_browser(url: str) -> bool:
    """Open a page in this machine's browser; return False where there is none to open."""
    import os
    import webbrowser

    # Without a display a text browser would take the terminal.
    graphic = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    try:
        return bool(graphic) and webbrowser.open(url)
    except webbrowser.Error:
        return False
