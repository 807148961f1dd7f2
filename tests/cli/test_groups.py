"""Commands in a group of another wing."""

import pytest
from cyclopts import App

from pliant.base.wing import Wing, declare, withdraw
from pliant.cli.groups import add_subcommands


@pytest.fixture
def group():
    declare(
        Wing(
            name="guest",
            summary="for this test",
            commands={"flock": "statistics:mean"},
            subcommands={
                "flock count": "statistics:mean",
                "flock broken": "no_such_module:command",
                "flock lead": "statistics:mode",
                "flock": "statistics:mode",
                "sweep count": "no_such_module:command",
            },
        )
    )
    group = App(name="flock")
    group.command(print, name="lead")
    yield group
    withdraw("guest")


def test_a_group_gets_the_commands_that_wings_declare_for_it(group, capsys):
    add_subcommands("flock", group)
    assert group["count"].default_command.__name__ == "mean"
    assert [name for name in group if not name.startswith("-")] == ["lead", "count"]
    assert group["lead"].default_command is print
    said = " ".join(capsys.readouterr().err.split())
    assert "the wing 'guest': subcommands 'flock broken' cannot be imported" in said
    assert "the wing 'guest': subcommands 'flock lead' is left out: 'flock' has a command 'lead'; give it" in said
    assert "the wing 'guest': subcommands 'flock' is left out: it has no name" in said
    assert "sweep" not in said


def test_a_command_that_is_no_group_says_which_entry_it_does_not_take(group, capsys):
    add_subcommands("sweep", print)
    said = " ".join(capsys.readouterr().err.split())
    assert "the wing 'guest': subcommands 'sweep count' is left out: 'sweep' is a command and no group" in said
