"""Wings: what is declared, what is declared twice, what cannot be imported."""

import importlib.metadata
import sys
import types

import pytest

from pliant.base import wing as wings
from pliant.base.errors import BridgeError, PliantError
from pliant.base.wing import BridgeEntry, Wing, Wings, declare, find_wings, offer, offers, resolve, withdraw

GUEST = Wing(
    name="guest",
    summary="for this test",
    extra="guest",
    bridges={"guest": BridgeEntry("a bridge", "no_such_module:make")},
    commands={"guest": "no_such_module:command"},
)


@pytest.fixture
def guest():
    yield declare(GUEST)
    withdraw("guest")


def test_the_wings_of_pliant_are_found_by_their_entry_points():
    points = {point.name for point in importlib.metadata.entry_points(group=wings.GROUP)}
    assert points <= set(find_wings())
    assert not wings.wing_faults()


@pytest.mark.parametrize("name", sorted(find_wings()))
def test_every_place_of_a_wing_can_be_imported(name):
    for kind in wings.KINDS:
        for found in offers(kind):
            if found.wing.name == name and kind != "benchmarks":
                place = found.value.factory if isinstance(found.value, BridgeEntry) else found.value
                assert resolve(place) is not None, place


def test_a_wing_of_the_process_offers_what_it_declares(guest):
    assert offer("bridges", "guest").wing is guest
    assert "guest" in find_wings()
    withdraw("guest")
    assert offer("bridges", "guest") is None


def test_a_place_that_cannot_be_imported_is_told_with_wing_entry_and_remedy(guest):
    with pytest.raises(PliantError, match=r"the wing 'guest': commands 'guest' cannot be imported: .*no_such_module.*"
                                          r'type: pip install "pliant\[guest\]"'):  # fmt: skip
        offer("commands", "guest").load()


def test_the_other_bridges_work_beside_one_that_cannot_be_imported(guest):
    from pliant.simulation.bridges import find_bridge, list_bridges, make_bridge

    assert {"guest", "ros1"} <= set(list_bridges())
    with pytest.raises(PliantError, match="the bridge 'guest' cannot be imported"):
        make_bridge("guest", None)
    assert find_bridge("ros1").summary
    with pytest.raises(BridgeError, match="no bridge 'gust'; did you mean 'guest'"):
        find_bridge("gust")


def test_an_entry_that_another_wing_declares_is_left_out_with_one_line():
    one = Wing(name="one", summary="1", commands={"walk": "a:b", "run": "a:c"})
    two = Wing(name="two", summary="2", commands={"walk": "c:d", "swim": "c:e"})
    both = Wings({"one": one, "two": two})
    assert {found.key: found.wing.name for found in both.offers("commands")} == {
        "walk": "one", "run": "one", "swim": "two",
    }  # fmt: skip
    assert both.faults == [
        "the wing 'two' declares commands 'walk', which the wing 'one' has declared; uninstall one of them"
    ]


def test_a_wing_that_fails_to_import_is_left_out_with_one_line_and_the_others_work():
    one = Wing(name="one", summary="1", commands={"walk": "a:b"})
    found = Wings({"broken": ImportError("no module named 'ship'"), "one": one, "other": types.SimpleNamespace()})
    assert list(found.wings) == ["one"]
    assert found.faults == [
        "the wing 'broken' cannot be loaded: no module named 'ship'; update or uninstall its package",
        "the wing 'other' cannot be loaded: it is a SimpleNamespace; must be a Wing; update or uninstall its package",
    ]


def test_a_wing_that_builds_on_a_missing_one_is_left_out_with_what_builds_on_it():
    one = Wing(name="one", summary="1", builds_on=("ground",), commands={"walk": "a:b"})
    two = Wing(name="two", summary="2", builds_on=("three", "one"), commands={"swim": "c:e"})
    three = Wing(name="three", summary="3", commands={"fly": "d:e"})
    found = Wings({"one": one, "two": two, "three": three})
    assert list(found.wings) == ["three"]
    assert [offer.key for offer in found.offers("commands")] == ["fly"]
    assert found.faults == [
        "the wing 'one' builds on the wing 'ground', which is missing; install it, or uninstall 'one'",
        "the wing 'two' builds on the wing 'one', which is missing; install it, or uninstall 'two'",
    ]
    assert not Wings({"ground": Wing(name="ground", summary="0"), "one": one, "two": two, "three": three}).faults


def test_a_subcommand_of_a_group_that_no_wing_has_is_left_out_with_one_line():
    one = Wing(name="one", summary="1", commands={"walk": "a:b"})
    two = Wing(name="two", summary="2", subcommands={"walk far": "c:d", "swim far": "c:e", "run far": "c:e"})
    found = Wings({"one": one, "two": two})
    assert [offer.key for offer in found.offers("subcommands")] == ["walk far"]
    remedy = "install the wing that has it, or uninstall 'two'"
    assert found.faults == [
        f"the wing 'two' declares subcommands 'swim far', and no wing has the group 'swim'; {remedy}",
        f"the wing 'two' declares subcommands 'run far', and no wing has the group 'run'; {remedy}",
    ]


def test_a_second_wing_of_a_name_is_refused(guest):
    with pytest.raises(PliantError, match="the wing 'ros' is declared twice"):
        declare(Wing(name="ros", summary="another"))
    with pytest.raises(PliantError, match="declares bridges 'ros1', which the wing 'ros' has declared"):
        declare(Wing(name="mine", summary="mine", bridges={"ros1": BridgeEntry("mine", "mine:make")}))
    assert "mine" not in find_wings()


@pytest.mark.parametrize("place", ["a b:c", "1a:b", "a:b:c", "a.:b", ""])
def test_a_place_that_is_none_is_refused_where_it_stands(place):
    with pytest.raises(PliantError, match="the wing 'w': commands"):
        Wing(name="w", summary="w", commands={"x": place})


def test_a_broken_command_is_left_out_of_the_help_and_all_others_stay(monkeypatch, capsys):
    from pliant.cli import application

    broken = wings.Offer(GUEST, "commands", "guest", "no_such_module:command")
    monkeypatch.setitem(application.OF_WINGS, "guest", broken)
    application.app.command(broken.value, name="guest")
    with pytest.raises(SystemExit) as end:
        application.main(["guest"])
    assert end.value.code == 1
    assert "the wing 'guest'" in capsys.readouterr().err
    with pytest.raises(SystemExit) as end:
        application.main(["--help"])
    assert end.value.code == 0
    said = capsys.readouterr()
    assert "the wing 'guest'" in said.err
    assert "run" in said.out
    assert "no_such_module" not in sys.modules
