"""The program: its commands by name, and how it ends."""

from __future__ import annotations

import logging
import sys
import warnings

from cyclopts import App

from pliant import __version__
from pliant.cli.check import check
from pliant.cli.cpr import cpr
from pliant.cli.export import export
from pliant.cli.identify import identify
from pliant.cli.list import list_
from pliant.cli.messages import say_error
from pliant.cli.replay import replay
from pliant.cli.reproduce import reproduce
from pliant.cli.run import run
from pliant.cli.sweep import sweep
from pliant.errors import DivergedError, PliantError

__all__ = ["app", "main"]

app = App(
    name="pliant",
    help="Simulate robots that bend: compliant actuators, soft feet, continuum parallel robots and compliant arms.",
    version=__version__,
    help_on_error=False,
)

for command in (run, check, reproduce, sweep, export, replay, identify):
    app.command(command)
app.command(list_, name="list")
app.command(cpr)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in arguments
    logging.getLogger("pliant").addHandler(logging.NullHandler())
    warnings.showwarning = lambda message, *_: print(f"pliant: warning: {message}", file=sys.stderr)  # type: ignore
    try:
        code = app(arguments, exit_on_error=True, print_error=True)
    except DivergedError as error:
        if debug:
            raise
        print(f"pliant: {error}", file=sys.stderr)
        raise SystemExit(4) from None
    except PliantError as error:
        if debug:
            raise
        say_error(error)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        print("pliant: interrupted", file=sys.stderr)
        raise SystemExit(130) from None
    except BrokenPipeError:
        raise SystemExit(0) from None
    raise SystemExit(code if isinstance(code, int) else 0)
