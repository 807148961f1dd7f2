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
            subcommands={
                "flock count": "statistics:mean",
                "flock broken": "no_such_module:command",
                "herd count": "no_such_module:command",
            },
        )
    )
    yield App(name="flock")
    withdraw("guest")


def test_a_group_gets_the_commands_that_wings_declare_for_it(group, capsys):
    add_subcommands(group)
    assert group["count"].default_command.__name__ == "mean"
    assert [name for name in group if not name.startswith("-")] == ["count"]
    said = capsys.readouterr().err
    assert "the wing 'guest': subcommands 'flock broken' cannot be imported" in " ".join(said.split())
    assert "herd" not in said
