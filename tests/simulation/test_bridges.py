"""Bridges by name, with options."""

import sys
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from guest_wings import guest_bridges

from pliant.base.errors import BridgeError, PliantError
from pliant.base.options import check_declaration, describe, option
from pliant.simulation.bridges import bridge_options, list_bridges, make_bridge, register_bridge

ARM = SimpleNamespace(interface=None)


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
    monkeypatch.setitem(sys.modules, "bridges_of_a_test", sys.modules[__name__])
    with guest_bridges(**{name: f"bridges_of_a_test:make_{name}" for name in ("smoke", "fog", "wrong")}):
        yield


def test_options_are_converted_to_the_type_of_their_default():
    assert make_bridge("smoke:port=8080,fast=yes,rate=0.5,label=left", ARM) == (ARM, 8080, "left", True, 0.5)
    assert make_bridge("smoke", None) == (None, 1, "x", False, 2.0)


def test_a_dataclass_of_options_is_handed_to_the_bridge():
    assert make_bridge("fog:port=99", ARM) == (ARM, FogOptions(port=99))


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
    with pytest.raises(PliantError, match=r"test_bridges\.py:\d+: the option 'where' has the type dict"):
        make_bridge("wrong", None)


def test_a_bridge_that_a_wing_has_is_refused_with_both_places():
    with pytest.raises(BridgeError, match=r"registered twice, at bridges_of_a_test:make_smoke and .*test_bridges\.py:"):
        register_bridge("smoke")(make_fog)
    assert make_bridge("fog", None)  # the others are not touched by it


OWN = sorted(list_bridges())


@pytest.mark.parametrize("name", OWN)
def test_every_bridge_of_pliant_declares_its_options(name):
    check_declaration(bridge_options(name))
    assert describe(bridge_options(name))
