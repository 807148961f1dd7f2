"""The document that a browser loads first: viser's own, with the robot's name in its tab and a line while it loads."""

from __future__ import annotations

import html
import json
from functools import lru_cache
from pathlib import Path

__all__ = ["READY", "document", "naming_script"]

READY = '<span class="pliant-ready" hidden></span>'
"""A mark in a panel: once it is there, the line about the loading goes."""
STYLE = """<style>
#pliant-loading { display: none; }
@supports selector(:has(a)) {
  #pliant-loading { display: flex; position: fixed; inset: 0; z-index: 1000; align-items: center;
    justify-content: center; background: #fff; color: #26323a; font: 1.1rem system-ui, sans-serif; }
  #root:has(.pliant-ready) + #pliant-loading { display: none; }
}
</style>"""
TITLE = "<title>Viser</title>"
ROOT = '<div id="root"></div>'


def document(title: str) -> bytes:
    """Return the HTML of the page.

    Args:
        title: name of the robot.
    """
    head, body = html.escape(_tab(title)), html.escape(_loading(title))
    text = _original().replace(TITLE, f"<title>{head}</title>{STYLE}", 1)
    text = text.replace(ROOT, f'{ROOT}<div id="pliant-loading" role="status">{body}</div>', 1)
    return text.encode()


def naming_script(title: str) -> str:
    """Return a script that gives a page that is open another name.

    Args:
        title: name of the robot.
    """
    return (
        f"document.title = {json.dumps(_tab(title))};"
        'const line = document.getElementById("pliant-loading");'
        f"if (line) line.textContent = {json.dumps(_loading(title))};"
    )


def _tab(title: str) -> str:
    return title if title == "pliant" else f"{title} - pliant"


def _loading(title: str) -> str:
    return "Loading ..." if title == "pliant" else f"Loading {title} ..."


@lru_cache(maxsize=1)
def _original() -> str:
    import viser

    return (Path(viser.__file__).parent / "client" / "build" / "index.html").read_text(encoding="utf-8")
