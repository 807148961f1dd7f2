"""The bench of the SoftFoot: blocks, sensors, and what is refused."""

import mujoco
import numpy as np
import pytest

from pliant.base.errors import ModelError
from pliant.devices.factory import make_devices
from pliant.engine import MujocoEngine
from pliant.feet.softfoot_bench import module_position
from pliant.robots import build_robot
from pliant.simulation import Simulation


def _bench(**options):
    return build_robot("softfoot-bench", options)


@pytest.mark.parametrize("pitch", [0.0, 0.1])
def test_the_fascia_block_stands_under_the_centre_of_each_module(pitch):
    model = _bench(pitch=pitch, module=4).compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    for number, name in ((1, "phalanx_1"), (4, "phalanx_4"), (6, "reverse_phalanx"), (7, "rollover_phalanx")):
        center = data.geom(f"{name}_1_collision").xpos[0] - data.body("attachment_cube").xpos[0]
        assert module_position(number, pitch=pitch) == pytest.approx(center, abs=1e-6)
        if number == 4:
            assert data.body("fascia_block").xpos[0] == pytest.approx(center, abs=1e-6)


@pytest.mark.parametrize("options", [{}, {"pitch": 0.2}, {"pitch": -0.3, "obstacle_height": 0.03}, {"scale": 0.5}])
def test_nothing_touches_at_the_start(options):
    if "scale" in options:
        options |= {"heel_block": -0.03, "metatarsus_block": 0.0539, "obstacle_length": 0.006, "timestep": 0.002}
    model = _bench(**options).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.ncon == 0


@pytest.mark.parametrize("radius", [0.0, 0.002, 0.005])
def test_the_devices_measure_the_force_of_the_contacts_on_each_block(radius):
    robot = _bench(obstacle_height=0.015, edge_radius=radius)
    engine = MujocoEngine(robot)
    devices = {device.name: device for device in make_devices(robot)}
    with Simulation(engine, list(devices.values())) as simulation:
        simulation.run(6.0)
    model, data = engine.model, engine.data
    mujoco.mj_forward(model, data)
    carried = dict.fromkeys(("heel", "fascia", "metatarsus"), 0.0)
    for i in range(data.ncon):
        wrench = np.zeros(6)
        mujoco.mj_contactForce(model, data, i, wrench)
        names = [model.body(model.geom_bodyid[g]).name for g in data.contact.geom[i]]
        sign = 1.0 if names[0].endswith("_block") else -1.0
        block = next(name for name in names if name.endswith("_block"))
        carried[block.removesuffix("_block")] += sign * (data.contact.frame[i].reshape(3, 3).T @ wrench[:3])[2]
    assert min(carried.values()) > 1.0
    for name, force in carried.items():
        assert devices[f"{name}_force"].read(simulation.time_ns).values["force"][2] == pytest.approx(force, abs=1e-3)
    weight = 9.81 * model.body_mass.sum()
    assert sum(carried.values()) == pytest.approx(50.0 + weight, abs=1e-3)


def test_a_low_obstacle_carries_nothing():
    robot = _bench(obstacle_height=-0.04)
    engine = MujocoEngine(robot)
    devices = {device.name: device for device in make_devices(robot)}
    with Simulation(engine, list(devices.values())) as simulation:
        simulation.run(3.0)
    assert devices["fascia_force"].read(simulation.time_ns).values["force"][2] == 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"heel_block": -0.02, "module": 1}, "the heel block ends -0.01 m and the fascia block begins"),
        ({"metatarsus_block": 0.08, "module": 6}, "must not overlap"),
        ({"edge_radius": 0.006}, "edge_radius is 0.006 m and the fascia block 0.01 m long"),
        ({"module": 7}, "module is 7; must be a whole number from 1 to 6"),
        ({"obstacle_height": 20.0}, "must be a number from -0.05 to 0.06"),
        ({"obstacle_hight": 0.01}, "obstacle_height"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(ModelError, match=message):
        _bench(**options)


def test_there_is_no_tenth_module():
    with pytest.raises(ModelError, match="must be from 1 to 9"):
        module_position(10)
