"""Which requests a server answers: those of its own pages and of programs, not those of other sites.

The servers of this machine have no password. Two things would let a site that the user visits reach them: the browser
sends requests to any address (cross-site requests, cross-site WebSockets), and the site's own name may be pointed at
this machine (DNS rebinding). The browser says in its headers where a request comes from, and no script can change them.
Every server that a browser can reach asks `foreign` or `from_browser`.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable

MAX_HEADER = 300
"""Longest host or origin that is looked at."""
PROTECTION = {
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
"""Headers of every answer: other sites neither frame nor embed what is served."""
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?")
_HEADERS = ("host", "origin", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest")


def headers_of(head: bytes) -> list[tuple[str, str]]:
    """Return the headers of an HTTP request with their values.

    Args:
        head: the request up to the empty line behind its headers, or more.
    """
    lines = head.replace(b"\r\n", b"\n").partition(b"\n\n")[0].decode("latin-1").split("\n")[1:]
    return [(name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]


def foreign(
    headers: Iterable[tuple[str, str]],
    served: str,
    *,
    method: str = "GET",
    origins: Iterable[str] = (),
    local: bool = False,
) -> str:
    """Return why a request is not answered, "" where it may be.

    Args:
        headers: every header with its value; one that is there twice is there twice.
        served: address that is listened on.
        method: of the request.
        origins: sites that are allowed by name, such as ``https://app.foxglove.dev``.
        local: whether other pages of this machine are allowed too: of any port, and those opened from its files.

    Example:
        >>> foreign([("Host", "localhost:8080"), ("Origin", "http://localhost:8080")], "127.0.0.1")
        ''
        >>> foreign([("Host", "localhost:8080"), ("Origin", "http://site.example")], "127.0.0.1")
        "the origin 'http://site.example' is not this page"
    """
    found: dict[str, str] = {}
    for name, value in headers:
        key = name.lower()
        if key not in _HEADERS:
            continue
        if key in found or len(value) > MAX_HEADER:
            return f"the header {name} is there twice, or too long"
        found[key] = value.strip()
    host = found.get("host", "").lower()
    match = _HOST.fullmatch(host)
    if match is None or not _is_ours(match[1].strip("[]"), served):
        return f"the host {host[:80]!r} is not this machine"
    origin = found.get("origin")
    if origin is not None and (origin in origins or (local and _is_local(origin, served))):
        return ""
    if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
        return f"the origin {origin[:80]!r} is not this page"
    site = found.get("sec-fetch-site", "none")
    # A link from elsewhere may open the page; that shows it to the user, not to the site.
    linked = method == "GET" and found.get("sec-fetch-mode") == "navigate" and found.get("sec-fetch-dest") == "document"
    if site not in ("same-origin", "none") and not linked:
        return "another site asks"
    return ""


def from_browser(headers: Iterable[tuple[str, str]]) -> str:
    """Return why a request to a server that is for programs only is not answered, "" where it may be.

    Args:
        headers: every header with its value.
    """
    names = {name.lower() for name, _ in headers}
    return "this server is not for browsers" if names & {"origin", "sec-fetch-site"} else ""


def valid_origin(text: str) -> bool:
    """Return whether a text is an origin as browsers write it: ``https://site.example``, without a path."""
    return re.fullmatch(r"https?://" + _HOST.pattern, text) is not None and text == text.lower()


def _is_local(origin: str, served: str) -> bool:
    """Return whether an origin is a page of this machine."""
    scheme, _, host = origin.lower().partition("://")
    if scheme == "file" and host == "":  # how desktop programs and pages on the disk are called
        return True
    match = _HOST.fullmatch(host)
    if scheme not in ("http", "https") or match is None:
        return False
    name = match[1].strip("[]")
    if name in ("localhost", served.lower().strip("[]"), socket.gethostname().lower()):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _is_ours(name: str, served: str) -> bool:
    """Return whether a name cannot be a site's that was pointed at this machine."""
    here = socket.gethostname().lower()
    if name in ("localhost", served.lower().strip("[]"), here, f"{here}.local"):
        return True
    try:
        ipaddress.ip_address(name)  # a site has a name; an address cannot be pointed elsewhere
    except ValueError:
        return False
    return True
