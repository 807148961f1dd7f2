"""The program `pliant`: its commands, and its exit codes."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import inspect
import io
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NoReturn, get_args, get_origin

from cyclopts import (
    App,
    ArgumentCollection,
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    Parameter,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)
from cyclopts.help import format_usage

from pliant import __version__
from pliant.base.errors import DivergedError, PliantError, nearest
from pliant.base.warn import print_warning
from pliant.base.wing import offers
from pliant.cli.groups import add_subcommands
from pliant.cli.messages import Messages, as_dict, say
from pliant.cli.output import emit, only_json, reserved_output
from pliant.cli.progress import Compiling, without_bars
from pliant.cli.termination import ending_at_second_signal, signals_as_interrupt

__all__ = ["app", "main"]


def shown_default(value: object) -> Any:
    """Return what the help says of a default: nothing where the option is off or empty unless it is given."""
    return None if value is None or value is False or value in ("", ()) else str(value)


def check_whole_numbers(_: App, __: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Refuse fractions for whole numbers, which cyclopts rounds.

    Raises:
        CoercionError: a word for a whole number is another number.
    """
    for argument in arguments:
        if int in (argument.hint, *get_args(argument.hint)):
            for token in argument.tokens:
                if "." in token.value:
                    raise CoercionError(argument=argument, token=token, target_type=int)


app = App(
    name="pliant",
    help="Simulate robots that bend: compliant joints, soft feet, continuum parallel robots and Franka arms.",
    version=__version__,
    help_epilogue="Every command: --json prints one JSON object, --quiet no tables and no progress, --debug the "
    "traceback of an error. `pliant help COMMAND` shows its options and examples.",
    help_on_error=False,
    default_parameter=Parameter(show_default=shown_default),
    config=check_whole_numbers,
    suppress_keyboard_interrupt=False,
)

COMMANDS = {
    "run": "pliant.cli.run:run",
    "check": "pliant.cli.check:check",
    "list": "pliant.cli.list:list_",
}
"""Command of the core -> its function or group."""

OF_WINGS = {offer.key: offer for offer in offers("commands") if offer.key not in COMMANDS}
"""Command of a wing -> its declaration; a command of the core keeps its name."""

for name, place in COMMANDS.items():
    app.command(place, name=name)  # imported when it is used
for name, offer in OF_WINGS.items():
    app.command(offer.value, name=name)


left_out: set[str] = set()
"""Commands of wings that cannot be imported."""


@functools.cache
def load_command(name: str) -> None:
    """Import a command of a wing, and what other wings add to it.

    Raises:
        PliantError: it cannot be imported.
    """
    add_subcommands(name, OF_WINGS[name].load())


def load_commands() -> None:
    """Import all commands; the list of commands has the first line of each.

    A command of a wing that cannot be imported is left out, with a message.
    """
    for name in COMMANDS:
        app[name]
    for name in OF_WINGS:
        if name in left_out:
            continue
        try:
            load_command(name)
            app[name]
        except PliantError as error:
            print_warning(str(error))
            del app[name]
            left_out.add(name)


def complete_help(group: App, asked: list[str], words: tuple[str, ...] = ()) -> None:
    """Let the help of the asked commands name their optional arguments, and end with the examples of the docstring."""
    for name in group:
        if name.startswith("-") or name not in asked:
            continue
        command = group[name]
        if command.default_command is None:
            complete_help(command, asked, (*words, name))
            continue
        arguments = command.assemble_argument_collection()
        optional = [one.name.lstrip("-").upper() for one in arguments if one.index is not None and not one.required]
        line = str(format_usage(app, (*words, name), execution_path=[app, command])).rstrip()
        for ending in ("[ARGS...]", "[ARGS]"):
            line = line.replace(ending, " ".join(f"[{one}]" for one in optional) + ending[5:-1])
        command.usage = line
        if examples := examples_of(command.default_command):
            command.help_epilogue = "Examples:\n\n```\n" + "\n".join(examples) + "\n```"


def examples_of(function: Callable[..., object]) -> list[str]:
    """Return the lines of the section Examples of a docstring."""
    _, _, section = (inspect.getdoc(function) or "").partition("\nExamples:\n")
    return [line.removeprefix("    ") for line in section.splitlines()]


class WrongUsage(Exception):
    """The command line is not one of this program."""


OTHER_WORDS = {
    "simulate": "run", "sim": "run", "start": "run", "launch": "run", "show": "view", "gui": "view", "open": "view",
    "record": "run", "play": "replay", "plot": "replay", "info": "list", "convert": "export", "create": "new",
    "init": "new", "time": "duration", "dt": "timestep", "step": "timestep", "out": "output",
    "params": "set", "param": "set", "port": "socket", "host": "ip", "output": "record", "save": "out", "log": "out",
    "film": "run", "video": "run", "render": "run", "movie": "run",
}  # fmt: skip
"""Word of other programs -> the command or option that does it here."""

NUMBERS: dict[object, str] = {float: "a number", int: "a whole number"}


def usage(error: CycloptsError) -> str:
    """Return what is wrong with a command line, and which help says more."""
    command = " ".join(["pliant", *(error.command_chain or ())])
    text = str(error)
    if isinstance(error, MissingArgumentError) and error.argument is not None:
        name, meaning = error.argument.name, first_words(error.argument.parameter.help or "")
        given = error.keyword or error.argument.tokens
        if error.argument.index is not None and not given:  # SOURCE, which can be written as --source too
            name = name.lstrip("-").upper()
        text = f"{name} {'needs a value' if given else 'is missing'}{f': {meaning}' if meaning else ''}"
    elif isinstance(error, CoercionError) and error.token is not None and error.target_type in NUMBERS:
        name = error.token.keyword or (error.argument.name if error.argument is not None else "a value")
        text = f"{name} is {error.token.value!r}; must be {NUMBERS[error.target_type]}"
    elif isinstance(error, CoercionError) and error.token is not None and get_origin(error.target_type) is Literal:
        value = error.token.value
        text = f"{error.token.keyword} is {value!r}; {nearest(value, get_args(error.target_type))}"
    elif isinstance(error, UnknownOptionError) and (longer := with_end(error)):
        text = f"there is no option {error.token.keyword!r}; did you mean {longer!r}?"
    elif isinstance(error, UnknownOptionError) and "Did you mean" not in text:
        word = error.token.keyword or error.token.value
        text = f"there is no option {word!r}; {nearest(word, option_names(error))}"
    elif isinstance(error, UnknownCommandError) and error.unused_tokens:
        group = app
        for name in error.command_chain or ():
            group = group[name]
        word = error.unused_tokens[0]
        option = word.startswith("-")
        known = [name for name in group if name.startswith("-") == option]
        meant = OTHER_WORDS.get(word.lstrip("-"), word.lstrip("-"))
        hint = f"did you mean 'pliant {meant}'?" if meant in group else nearest(word, known, limit=20)
        text = f"there is no {'option' if option else 'command'} {word!r}; {hint}"
    elif isinstance(error, UnusedCliTokensError):
        text = f"unexpected argument {' '.join(error.unused_tokens or ())!r}"
    text = text.rstrip(". ")
    return f"{text}{'' if text.endswith('?') else '.'} See {command} --help"


def option_names(error: UnknownOptionError) -> list[str]:
    """Return the options of the command that an unknown one was given to."""
    names = (name for argument in error.argument_collection for name in argument.names if argument.parse)
    return [name for name in names if name.startswith("--")]


def with_end(error: UnknownOptionError) -> str:
    """Return the option whose last words are those of an unknown one, as `--view-port` for `--port`, or the bridge of
    its name, as `--bridge fci` for `--fci`; "" if none is."""
    end = f"-{(error.token.keyword or '').lstrip('-')}"
    names = option_names(error)
    meant = OTHER_WORDS.get(end.lstrip("-"))
    while meant is not None and f"--{meant}" not in names:
        meant = OTHER_WORDS.get(meant)
    if meant is not None:
        return f"--{meant}"
    from pliant.simulation.bridges import list_bridges

    if "--bridge" in names and end.lstrip("-") in list_bridges():
        return f"--bridge {end.lstrip('-')}"
    return next((name for name in names if len(end) > 2 and name.endswith(end) and name != f"-{end}"), "")


def first_words(text: str) -> str:
    """Return the help of an argument as the end of a sentence."""
    words = " ".join(text.split()).rstrip(".")
    return words if words[1:2].isupper() else words[:1].lower() + words[1:]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Print neither tables nor progress in the block; errors, warnings and JSON objects are printed."""
    with Path(os.devnull).open("w") as nowhere, without_bars(), reserved_output(), contextlib.redirect_stdout(nowhere):
        yield


class Interrupted(Exception):
    """Ctrl-C was pressed before a result existed."""


EVERYWHERE = ("--json", "--quiet", "--debug", "--help", "-h")
"""Options of every command, and of none."""

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


def name_glfw() -> None:
    """Name glfw's own library where no display is: glfw starts another Python to compare libraries, while MuJoCo waits.

    Without a display glfw shows nothing, whichever library it has.
    """
    if sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return
    found = importlib.util.find_spec("glfw")
    for folder in (found and found.submodule_search_locations) or ():
        library = Path(folder) / "x11" / "libglfw.so"
        if library.is_file():
            os.environ.setdefault("PYGLFW_LIBRARY", str(library))


def check_whole(words: list[str]) -> None:
    """Refuse words that the help of a command and the version do not use, and cyclopts passes over.

    Args:
        words: the command line; `help COMMAND` for the help of a command.

    Raises:
        UnusedCliTokensError: a word is neither a command nor one of the options of every command.
    """
    asked, group, chain = words[:1], app, []
    if asked not in (["help"], ["--version"]):
        return
    for word in words[1:]:
        if word in EVERYWHERE:
            continue
        if asked == ["--version"] or word.startswith("-") or group.default_command is not None:
            raise UnusedCliTokensError(unused_tokens=[word], command_chain=tuple(chain))
        if word not in group:
            return  # an unknown command: cyclopts refuses it
        group = group[word]
        chain.append(word)


def at_home(word: str) -> str:
    """Return a word with the home folder in place of ~, which no shell replaces behind an option's ``=``."""
    option, mark, path = word.partition("=") if word.startswith("--") else ("", "", word)
    return f"{option}{mark}{Path(path).expanduser()}" if path == "~" or path.startswith("~/") else word


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    arguments = asked = [at_home(word) for word in (sys.argv[1:] if arguments is None else arguments)]
    if arguments[:1] == ["help"]:  # as git and docker have it
        arguments = [*arguments[1:], "--help"]
    if not arguments or arguments[0] not in (*COMMANDS, *OF_WINGS):
        load_commands()
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if {"--help", "-h"} & set(before):
        load_commands()
        complete_help(app, before)
    debug, as_json, silent = "--debug" in before, "--json" in before, "--quiet" in before
    if silent:
        arguments = [*(word for word in before if word != "--quiet"), *arguments[len(before) :]]

    def fail(error: BaseException, code: int) -> NoReturn:
        if debug and isinstance(error, PliantError):
            traceback.print_exception(error)
        if as_json:
            emit(as_dict(error, code))
        elif not debug or not isinstance(error, PliantError):
            say(str(error))
        raise SystemExit(code) from None

    for stream in (sys.stdout, sys.stderr):  # names of files in letters that the terminal does not have
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    code: object = 0
    with (
        Messages(),
        quiet() if silent else Compiling(),
        signals_as_interrupt(),
        ending_at_second_signal(),
        only_json() if as_json else contextlib.nullcontext(),
    ):
        try:
            check_environment()
            name_glfw()
            check_whole(asked)
            if arguments and arguments[0] in OF_WINGS:
                load_command(arguments[0])
            code = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
        except CycloptsError as error:
            fail(WrongUsage(usage(error)), 2)
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
