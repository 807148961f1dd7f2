"""Bridges by name, with options."""

import pytest

from pliant.bridges import make_bridge, registry
from pliant.bridges.registry import BridgeEntry
from pliant.errors import BridgeError


def make_smoke(robot, port: int = 1, label: str = "x", fast: bool = False, rate: float = 2.0):
    return robot, port, label, fast, rate


@pytest.fixture(autouse=True)
def smoke(monkeypatch):
    monkeypatch.setitem(registry._OWN, "smoke", BridgeEntry("for this test", "smoke_module:make_smoke"))
    monkeypatch.setattr(registry.importlib, "import_module", lambda name: __import__("sys").modules[__name__])


def test_options_are_converted_to_the_type_of_their_default():
    assert make_bridge("smoke:port=8080,fast=yes,rate=0.5,label=left", "arm") == ("arm", 8080, "left", True, 0.5)
    assert make_bridge("smoke", None) == (None, 1, "x", False, 2.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("smok", "did you mean 'smoke'"),
        ("smoke:prt=1", "did you mean 'port'"),
        ("smoke:port", "KEY=VALUE"),
        ("smoke:port=high", "valid: a number"),
        ("smoke:fast=perhaps", "valid: true, false"),
    ],
)
def test_a_wrong_bridge_or_option_is_refused(text, message):
    with pytest.raises(BridgeError, match=message):
        make_bridge(text, None)
