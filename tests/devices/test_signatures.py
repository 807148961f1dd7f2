"""Signatures: what they promise is checked where a device is made, and a recording keeps them."""

import pytest

from pliant.base.errors import DeviceError
from pliant.devices import DeviceBase, FieldInfo
from pliant.devices.signatures import IMU, WRENCH, Signature, register_signature
from pliant.recording.recording import RecordedDevice

FIELDS = {"force": FieldInfo((3,), "N"), "torque": FieldInfo((3,), "N m")}


class Plate(DeviceBase):
    signatures = ("plate_of_a_user", "wrench")


def test_a_device_that_lacks_a_promised_field_is_refused_with_its_place():
    with pytest.raises(
        DeviceError, match=r"test_signatures.py:\d+: plate: the signature 'wrench' needs .*'torque' \(3\)"
    ):
        Plate("plate", samples={"force": FIELDS["force"]})
    with pytest.raises(DeviceError, match=r"needs the field 'force' \(3\)"):
        Plate("plate", samples={**FIELDS, "force": FieldInfo((2,), "N")})


def test_a_signature_is_looked_up_by_name_and_a_recorded_device_is_not_live():
    live = Plate("plate", samples=FIELDS)
    assert WRENCH.of(live)
    assert WRENCH.live(live)
    assert not IMU.of(live)
    recorded = RecordedDevice("plate", 1, 1, FIELDS, signatures=live.signatures)
    assert WRENCH.of(recorded)
    assert not WRENCH.live(recorded)


def test_two_promises_of_one_name_are_refused():
    register_signature(Signature("rod_of_a_user", {"line": (-1, 3)}))
    register_signature(Signature("rod_of_a_user", {"line": (-1, 3)}))
    with pytest.raises(DeviceError, match="'rod_of_a_user' is registered twice"):
        register_signature(Signature("rod_of_a_user", {"line": (3,)}))
