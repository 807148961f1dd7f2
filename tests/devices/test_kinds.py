"""Where the device of a description is looked for."""

import importlib
import sys

import pytest

from pliant.base.errors import DeviceError
from pliant.base.wing import Wing, declare, withdraw
from pliant.devices.kinds import find_device

DEVICE = """
from pliant.devices import device_for
from lamp_described import Lamp

@device_for(Lamp)
def make(description, robot):
    return []
"""


@pytest.fixture
def lamp(tmp_path, monkeypatch):
    """A description in a package of its own, beside one with its device."""
    (tmp_path / "lamp_described.py").write_text("class Lamp:\n    pass\n")
    (tmp_path / "lamp_devices.py").write_text(DEVICE)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("lamp_described").Lamp()
    withdraw("lamps")
    for name in ("lamp_described", "lamp_devices"):
        sys.modules.pop(name, None)


def test_a_wing_that_names_a_description_of_others_has_its_device(lamp):
    declare(Wing(name="lamps", summary="lamps", devices=("lamp_devices:Lamp",)))
    assert find_device(lamp).__name__ == "make"


def test_a_wing_that_does_not_name_it_is_not_imported_for_it(lamp):
    declare(Wing(name="lamps", summary="lamps", devices=("lamp_devices",)))
    with pytest.raises(DeviceError, match="no device is registered for Lamp"):
        find_device(lamp)
    assert "lamp_devices" not in sys.modules
