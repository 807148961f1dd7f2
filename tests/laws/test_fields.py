"""The fields of a joint: declared once, and the same from the kernel to the device."""

import pytest
from benches import bench

from pliant.base.errors import LawError
from pliant.devices import CompliantJoint
from pliant.engine import MujocoEngine
from pliant.laws import COMMANDS, JOINT_FIELDS, AwAS2, CompliantActuator, JointField, Mode, QbMove, layout
from pliant.laws.fields import SAMPLED
from pliant.muscles import McKibben

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("law", [QbMove(), AwAS2(), McKibben()], ids=["angle", "lever", "pressure"])
def test_samples_and_ports_have_the_units_and_descriptions_of_the_table(law):
    actuator = CompliantActuator(law, mode=Mode.PID_EQ_PRESET)
    ports = MujocoEngine(bench(actuator)).ports()
    samples = CompliantJoint("joint", actuator).samples
    assert tuple(samples) == SAMPLED
    for name, field in JOINT_FIELDS.items():
        if not field.observed:
            continue
        port = ports[f"joint/{name}"]
        assert (port.unit, port.description) == (field.unit_of(law.second_input), field.description)
        if field.sampled:
            assert (samples[name].unit, samples[name].description) == (port.unit, port.description)


def test_the_layout_of_an_observation_follows_the_table():
    observed = [name for name, field in JOINT_FIELDS.items() if field.observed]
    assert list(layout.OUT) == observed
    assert list(layout.OUT.values()) == list(range(layout.OBSERVATIONS))
    assert layout.O_MOTOR_1_VELOCITY == layout.O_MOTOR_1_POSITION + 1
    assert layout.O_MOTOR_2_EFFORT == layout.O_MOTOR_2_POSITION + 2


def test_a_field_with_an_unknown_unit_is_refused():
    with pytest.raises(LawError, match="the unit of the joint's field 'angle' is 'deg'; must be SI and radians: 'rad'"):
        JointField("angle", "deg", "an angle")


@pytest.mark.parametrize("mode", list(Mode))
def test_a_joint_takes_the_commands_of_its_modes(mode):
    commands = CompliantJoint("joint", CompliantActuator(QbMove(), mode=mode)).commands[mode.name.lower()]
    for command in COMMANDS[mode]:
        if command.name != "disabled":
            assert commands[command.name].unit == command.unit
