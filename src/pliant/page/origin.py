"""Which requests a page answers: those of its own page and of programs, not those of other sites.

A page on this machine has no password. Two things would let a site that the user visits reach it: the browser sends
requests to any address (cross-site requests, cross-site WebSockets), and the site's own name may be pointed at this
machine (DNS rebinding). The browser says in its headers where a request comes from, and no script can change them.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable

from pliant.base.errors import BridgeError
from pliant.base.listening import check_listening_host

__all__ = ["PROTECTION", "check_page_host", "foreign"]

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


def foreign(headers: Iterable[tuple[str, str]], served: str, *, method: str = "GET") -> str:
    """Return why a request is not answered, "" where it may be.

    Args:
        headers: every header with its value; one that is there twice is there twice.
        served: address that the page is served on.
        method: of the request.

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
    if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
        return f"the origin {origin[:80]!r} is not this page"
    site = found.get("sec-fetch-site", "none")
    # A link from elsewhere may open the page; that shows it to the user, not to the site.
    linked = method == "GET" and found.get("sec-fetch-mode") == "navigate" and found.get("sec-fetch-dest") == "document"
    if site not in ("same-origin", "none") and not linked:
        return "another site asks"
    return ""


def _is_ours(name: str, served: str) -> bool:
    """Return whether a name cannot be a site's that was pointed at this machine."""
    if name in ("localhost", served.lower().strip("[]"), socket.gethostname().lower()):
        return True
    try:
        ipaddress.ip_address(name)  # a site has a name; an address cannot be pointed elsewhere
    except ValueError:
        return False
    return True
