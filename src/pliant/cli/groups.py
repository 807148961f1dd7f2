"""Commands that wings add to a group of another wing."""

from __future__ import annotations

from cyclopts import App

from pliant.base.errors import PliantError
from pliant.base.warn import print_warning
from pliant.base.wing import offers


def add_subcommands(command: str, group: object) -> None:
    """Add the commands that other wings declare for a group, `pliant.base.wing.Wing.subcommands`.

    A command that cannot be imported or added is left out, with a message.

    Args:
        command: name of the group.
        group: the group, once loaded; or a command that is none.
    """
    for offer in offers("subcommands"):
        of, _, name = offer.key.partition(" ")
        if of != command:
            continue
        what = f"the wing {offer.wing.name!r}: subcommands {offer.key!r} is left out:"
        if not isinstance(group, App):
            print_warning(f"{what} {of!r} is a command and no group; name a group")
        elif not name or name in group:
            print_warning(f"{what} {f'{of!r} has a command {name!r}' if name else 'it has no name'}; give it another")
        else:
            try:
                group.command(offer.load(), name=name)
            except PliantError as error:
                print_warning(str(error))
