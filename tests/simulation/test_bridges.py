"""Bridges by name, with options."""

from dataclasses import dataclass
from importlib.metadata import EntryPoint

import pytest

from pliant.base.errors import BridgeError, PliantError
from pliant.base.options import check_declaration, describe, option
from pliant.simulation import bridges as registry
from pliant.simulation.bridges import BridgeEntry, bridge_options, list_bridges, make_bridge


def make_smoke(robot, port: int = 1, label: str = "x", fast: bool = False, rate: float = 2.0):
    return robot, port, label, fast, rate


@dataclass(frozen=True, kw_only=True)
class FogOptions:
    port: int = option(8080, low=1, high=65535)
    """Port to listen on."""


def make_fog(robot, options: FogOptions):
    return robot, options


def make_wrong(robot, where: dict = {}):  # noqa: B006
    return robot


@pytest.fixture(autouse=True)
def smoke(monkeypatch):
    for name in ("smoke", "fog", "wrong"):
        monkeypatch.setitem(registry._OWN, name, BridgeEntry("for this test", f"{__name__}:make_{name}"))


def test_options_are_converted_to_the_type_of_their_default():
    assert make_bridge("smoke:port=8080,fast=yes,rate=0.5,label=left", "arm") == ("arm", 8080, "left", True, 0.5)
    assert make_bridge("smoke", None) == (None, 1, "x", False, 2.0)


def test_a_dataclass_of_options_is_handed_to_the_bridge():
    assert make_bridge("fog:port=99", "arm") == ("arm", FogOptions(port=99))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("smok", "did you mean 'smoke'"),
        ("smoke:prt=1", "--bridge smoke: no option 'prt'; did you mean 'port'"),
        ("smoke:port", "KEY=VALUE"),
        ("smoke:port=high", "must be a whole number"),
        ("smoke:fast=perhaps", "must be true or false"),
        ("fog:port=0", "--bridge fog: port is 0; must be a whole number from 1 to 65535"),
    ],
)
def test_a_wrong_bridge_or_option_is_refused(text, message):
    with pytest.raises(BridgeError, match=message):
        make_bridge(text, None)


def test_an_option_of_an_unknown_type_is_refused_with_its_place():
    with pytest.raises(PliantError, match=r"test_registry\.py:\d+: the option 'where' has the type dict"):
        make_bridge("wrong", None)


def test_two_packages_that_register_one_name_are_refused_with_both_places(monkeypatch):
    points = [EntryPoint("smoke", "other_package:make", "pliant.bridges")]
    monkeypatch.setattr(registry.importlib.metadata, "entry_points", lambda group: points)
    with pytest.raises(BridgeError, match=f"registered twice, at {__name__}:make_smoke and other_package:make"):
        make_bridge("smoke", None)
    assert "registered twice" in list_bridges()["smoke"]
    assert make_bridge("fog", None)  # the others are not touched by it


OWN = sorted(set(registry._OWN) - {"smoke", "fog", "wrong"})


@pytest.mark.parametrize("name", OWN)
def test_every_bridge_of_pliant_declares_its_options(name):
    check_declaration(bridge_options(name))
    assert describe(bridge_options(name))
