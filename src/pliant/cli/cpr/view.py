"""`pliant cpr view`: move a robot by hand in the browser."""

from __future__ import annotations

import sys
from typing import Annotated

from cyclopts import Parameter

from pliant.cli.cpr.inputs import COMPILING
from pliant.cli.options import Debug

__all__ = ["view"]


def view(
    robot: Annotated[str, Parameter(help="Robot to begin with; others are chosen on the page.")] = "Stewart_Gough_6PFR",
    *,
    port: Annotated[int, Parameter(help="Port of the page; 0 takes a free one.")] = 8090,
    host: Annotated[str, Parameter(help="Address to serve on; the page has no password.")] = "127.0.0.1",
    open_browser: Annotated[bool, Parameter(name="--open", negative=(), help="Open the page in a browser.")] = False,
    debug: Debug = False,
) -> int:
    """Move a robot by hand in the browser: joints, pose, wrench, freedoms, saved configurations."""
    from pliant.rods import is_compiled
    from pliant.viewer.cpr import ParallelView

    if not is_compiled():
        print(COMPILING, file=sys.stderr, flush=True)

    page = ParallelView(robot, port=port, host=host)
    page.start()
    print(f"look at it: {page.url} (Ctrl-C ends)", file=sys.stderr, flush=True)
    if open_browser:
        import webbrowser

        webbrowser.open(page.url)
    try:
        page.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        page.stop()
    return 0
