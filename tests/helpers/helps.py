"""The help texts of all commands of pliant, those of wings and subcommands too."""

import io

from rich.console import Console

from pliant.cli.application import app, load_commands

OF_OTHERS = {"yarpserver"}
"""Commands with the options of the program of that name."""


def commands(group, path=()):
    """Yield the words of each command, of subcommands too."""
    for name in group:
        if not name.startswith("-"):
            yield from commands(group[name], (*path, name))
    if path and group.default_command is not None:
        yield path


def shown_helps():
    """Yield the words of each command with pliant's own options, and its help."""
    load_commands()
    for path in commands(app):
        if path[0] not in OF_OTHERS:
            shown = io.StringIO()
            app.help_print(path, console=Console(file=shown, width=300, color_system=None))
            yield path, shown.getvalue()
