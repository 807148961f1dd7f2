"""What YARP sends of base states, load cells and joint angles, and how it takes pushes."""

from types import SimpleNamespace

import numpy as np
import pytest

from pliant.base.errors import WireError
from pliant.devices.base import FieldInfo
from pliant.yarp.bridge.external_wrench import read_push
from pliant.yarp.bridge.sensors import CHANNELS, channels
from pliant.yarp.wire.text import parse_bottle


def sample(**values):
    return SimpleNamespace(values={key: np.array(value, dtype=float) for key, value in values.items()})


def test_a_base_state_is_sent_as_position_angles_velocities_and_accelerations():
    found = CHANNELS["base_state"](
        sample(
            position=[1, 2, 3],
            orientation=[np.cos(0.2), 0.0, 0.0, np.sin(0.2)],
            linear_velocity=[4, 5, 6],
            angular_velocity=[7, 8, 9],
            acceleration=[10, 11, 12],
            angular_acceleration=[13, 14, 15],
        )
    )
    assert found == pytest.approx([1, 2, 3, 0, 0, 0.4, *range(4, 16)])


def test_joint_angles_are_sent_as_raw_values_and_loads_in_newtons():
    assert CHANNELS["joint_angles"](sample(angle=[np.pi, 0.5], reading=[0.0, 127.5])) == [0.0, 127.5]
    assert CHANNELS["load_cells"](sample(load=[1.5, -2.0])) == [1.5, -2.0]


def test_recorded_joint_angles_without_raw_values_are_sent_in_degrees():
    recorded = SimpleNamespace(signatures=("joint_angles",), samples={"angle": FieldInfo((2,), "rad")})
    assert channels(recorded)(sample(angle=[np.pi, 0.5])) == pytest.approx([180.0, 90.0 / np.pi])


def test_a_push_is_a_link_a_wrench_and_a_duration():
    assert read_push(parse_bottle("l_leg 1 2.5 0 0 0 -1.0 0.2")) == (
        "push",
        {"link": "l_leg", "force": [1.0, 2.5, 0.0], "torque": [0.0, 0.0, -1.0], "duration": 0.2},
    )
    assert read_push(parse_bottle("single")) == ("allow_several", {"on": False})
    assert read_push(parse_bottle("multiple")) == ("allow_several", {"on": True})


@pytest.mark.parametrize("typed", ["", "l_leg 1 2 3", "single 1", "l_leg 1 2 3 4 5 6 long", "1 2 3 4 5 6 7 8"])
def test_a_push_that_is_not_understood_is_refused(typed):
    with pytest.raises(WireError):
        read_push(parse_bottle(typed))
