"""Commands that wings add to a group of another wing."""

from __future__ import annotations

from cyclopts import App

from pliant.base.errors import PliantError
from pliant.base.warn import print_warning
from pliant.base.wing import offers


def add_subcommands(group: App) -> None:
    """Add the commands that other wings declare for a group, `pliant.base.wing.Wing.subcommands`.

    A command that cannot be imported is left out, with a message.

    Args:
        group: the group, with its name.
    """
    for offer in offers("subcommands"):
        of, _, name = offer.key.partition(" ")
        if of in group.name:
            try:
                group.command(offer.load(), name=name)
            except PliantError as error:
                print_warning(str(error))
