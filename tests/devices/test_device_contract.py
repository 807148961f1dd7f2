"""What every device must do. A kind of sensor that is registered is under this contract by itself."""

from functools import partial

import mujoco
import numpy as np
import pytest

import pliant
from pliant.base.errors import DeviceError
from pliant.base.options import check_unit
from pliant.control_boards.description import add_control_boards
from pliant.control_boards.device import ControlBoardDevice
from pliant.devices import Board, CompliantJoint, Device, DeviceBase, Sample, SensorDevice, make_devices
from pliant.devices.kinds import device_kinds
from pliant.devices.signatures import JOINT, registered_signatures
from pliant.engine import MujocoEngine
from pliant.feet.device.press import PressDevice
from pliant.feet.model.sole import Sole
from pliant.franka.device.arm import FrankaArm
from pliant.franka.robots.build import build_arms
from pliant.laws import CompliantActuator, QbMove
from pliant.model import Robot
from pliant.objects import World, WorldDevice
from pliant.parallel.device.parallel import ParallelRobotDevice
from pliant.parallel.model import build_parallel
from pliant.robots import build_robot

XML = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <body name="arm"><joint name="shoulder" axis="0 1 0"/><geom size=".1" pos="0 0 -.3"/></body>
  </worldbody>
</mujoco>
"""


def with_objects():
    robot = Robot(mujoco.MjSpec.from_string(XML))
    robot.devices.append(World(objects=2))
    return robot


def jointed_robot():
    return Robot(mujoco.MjSpec.from_string(XML), {"shoulder": CompliantActuator(QbMove())})


ROBOTS = {
    CompliantJoint: jointed_robot,
    Board: jointed_robot,
    ControlBoardDevice: lambda: add_control_boards(Robot(mujoco.MjSpec.from_string(XML)), {"arm": ["shoulder"]}),
    FrankaArm: build_arms,
    WorldDevice: with_objects,
    PressDevice: lambda: build_robot("softfoot", {"n_chains": 1}),
    ParallelRobotDevice: lambda: build_parallel("3RR", segments=6, damping=0.03),
}
"""Devices that are no sensors -> a robot that has one."""


PLACES = {Sole: (lambda: pliant.load("softfoot"), "attachment_cube")}
"""Sensors that fit one kind of robot only -> a robot and its body."""


def sensor(description, factory):
    make, body = PLACES.get(description, (lambda: Robot(mujoco.MjSpec.from_string(XML)), "arm"))
    robot = make()
    described = description(name="device", body=body)
    robot.devices.append(described)
    return factory(described, robot), robot


def part_of_robot(kind):
    robot = ROBOTS[kind]()
    return next(device for device in make_devices(robot) if isinstance(device, kind)), robot


CASES = {
    **{description.__name__: partial(sensor, description, factory) for description, factory in device_kinds().items()},
    **{kind.__name__: partial(part_of_robot, kind) for kind in ROBOTS},
}


@pytest.fixture(params=list(CASES))
def made(request):
    try:
        device, robot = CASES[request.param]()
        engine = MujocoEngine(robot, check=False)
        device.attach(engine)
    except DeviceError as error:
        if "graphics" in str(error):
            pytest.skip(str(error))
        raise
    device.reset(np.random.default_rng(0))
    yield device, engine
    device.close()


def test_it_has_the_members_of_a_device(made):
    assert isinstance(made[0], Device)


def test_its_class_names_its_signatures_or_says_that_there_are_none(made):
    device = made[0]
    declaring = next(kind for kind in type(device).__mro__ if "signatures" in vars(kind))
    assert declaring not in (DeviceBase, SensorDevice)
    assert all(isinstance(name, str) and name for name in device.signatures)
    known = registered_signatures()
    for signature in known.keys() & set(device.signatures):
        assert known[signature].of(device)
        assert known[signature].live(device)
        assert not known[signature].missing(device.samples)
        assert all(key in device.metadata for key in known[signature].metadata)


def test_a_joint_has_what_the_signature_of_a_joint_promises(made):
    if JOINT.live(made[0]):
        assert made[0].joint
        assert made[0].mode.name.lower() in made[0].commands
        assert made[0].actuator.mode is made[0].mode


def test_its_samples_are_those_of_its_field_table(made):
    device, engine = made
    engine.step()
    sample = device.read(engine.time_ns)
    assert isinstance(sample, Sample)
    assert list(sample.values) == list(device.samples)
    for field, info in device.samples.items():
        value = sample.values[field]
        assert np.shape(value) == info.shape
        assert np.asarray(value).dtype == info.dtype
        check_unit(info.unit, field)
        assert info.description
        if info.shape:
            assert not value.flags.writeable


def test_numbers_start_anew_with_a_reset_and_equal_seeds_give_equal_samples(made):
    device, engine = made
    runs = []
    for _ in range(2):
        engine.reset()
        device.reset(np.random.default_rng(1))
        engine.step()
        runs.append(device.read(engine.time_ns))
    first, second = runs
    assert first.seq == second.seq == 0
    for field in device.samples:
        np.testing.assert_array_equal(first.values[field], second.values[field])


def test_health_is_plain_and_it_closes_twice(made):
    device, _ = made
    assert all(isinstance(v, bool | int | float | str) for v in device.health().values())
    device.close()
    device.close()
