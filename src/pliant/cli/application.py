"""The program `pliant`: its commands, and its exit codes."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from typing import Any, NoReturn

from cyclopts import App, CycloptsError

from pliant import __version__
from pliant.cli.messages import Messages, as_dict, say
from pliant.cli.output import emit, only_json
from pliant.cli.progress import Compiling
from pliant.cli.termination import ending_at_second_signal, terminating_as_interrupt
from pliant.errors import DivergedError, PliantError

__all__ = ["app", "main"]

app = App(
    name="pliant",
    help="Simulate robots that bend: compliant joints, soft feet, continuum parallel robots and Franka arms.",
    version=__version__,
    help_on_error=False,
    suppress_keyboard_interrupt=False,
)

COMMANDS = {
    "run": "pliant.cli.run:run",
    "check": "pliant.cli.check:check",
    "view": "pliant.cli.view:view",
    "reproduce": "pliant.cli.reproduce:reproduce",
    "sweep": "pliant.cli.sweep:sweep",
    "compare": "pliant.cli.compare:compare",
    "export": "pliant.cli.export:export",
    "replay": "pliant.cli.replay:replay",
    "identify": "pliant.cli.identify:identify",
    "doctor": "pliant.cli.doctor:doctor",
    "list": "pliant.cli.list:list_",
    "cpr": "pliant.cli.cpr.application:cpr",
    "policy": "pliant.cli.policy:policy",
    "yarp": "pliant.cli.yarp:yarp",
    "yarpserver": "pliant.cli.yarpserver:yarpserver",
}
"""Command -> its function or group."""

for name, place in COMMANDS.items():
    app.command(place, name=name)  # imported when it is used


def load_commands() -> None:
    """Import all commands; the list of commands has the first line of each."""
    for name in COMMANDS:
        app[name]


class Interrupted(Exception):
    """Ctrl-C was pressed before a result existed."""


GRAPHICS = ("egl", "osmesa", "glfw", "glx", "cgl", "wgl")
GRAPHICS_SWITCHES = ("", "enable", "enabled", "on", "true", "1", "disable", "disabled", "off", "false", "0")


def check_environment() -> None:
    """Refuse what MuJoCo would refuse in the environment when it is imported, which every other command does.

    Raises:
        PliantError: MUJOCO_GL is none of the values that MuJoCo knows.
    """
    asked = os.environ.get("MUJOCO_GL", "").strip().lower()
    if asked not in GRAPHICS and asked not in GRAPHICS_SWITCHES:
        raise PliantError(f"the environment variable MUJOCO_GL is {asked!r}; unset it, or use egl, osmesa or off")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or arguments[0] not in COMMANDS:
        load_commands()
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    debug, as_json = "--debug" in before, "--json" in before

    def fail(error: BaseException, code: int) -> NoReturn:
        if debug and isinstance(error, PliantError):
            traceback.print_exception(error)
        if as_json:
            emit(as_dict(error, code))
        elif not debug or not isinstance(error, PliantError):
            say(str(error))
        raise SystemExit(code) from None

    code: Any = 0
    with (
        Messages(),
        Compiling(),
        terminating_as_interrupt(),
        ending_at_second_signal(),
        only_json() if as_json else contextlib.nullcontext(),
    ):
        try:
            check_environment()
            code = app(arguments, exit_on_error=False, print_error=not as_json, result_action="return_value")
        except CycloptsError as error:
            if as_json:
                fail(error, 2)
            raise SystemExit(2) from None
        except DivergedError as error:
            fail(error, 4)
        except PliantError as error:
            fail(error, 1)
        except KeyboardInterrupt:
            fail(Interrupted("interrupted"), 130)
        except BrokenPipeError:
            # The reader has closed the pipe; without this the interpreter reports it again when it flushes.
            if sys.__stdout__ is not None:
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())
            raise SystemExit(0) from None
        except OSError as error:
            if debug:
                raise
            # A disk that is full or a file that may not be read or written, where no command says more about it.
            fail(PliantError(f"{error.strerror or error}", file=error.filename), 1)
    raise SystemExit(code if isinstance(code, int) else 0)
