"""The benches and arms of compliant joints: what they weigh, and where their numbers come from."""

import math

import mujoco
import numpy as np
import pytest

from pliant.base.options import check_declaration, describe
from pliant.robots import build_robot, find_robot, list_robots

BENCHES = ("sea-1dof", "qbmove-1dof", "bavs-1dof", "awas2-1dof", "sea-table-1dof")
ARMS = ("qbmove-2dof", "qbmove-5dof", "pam-1dof")


def at(model, **positions):
    data = mujoco.MjData(model)
    for joint, q in positions.items():
        data.qpos[model.joint(joint).qposadr[0]] = q
    mujoco.mj_forward(model, data)
    return data


def test_the_catalogue_has_the_robots_of_the_paper():
    assert set(BENCHES) | set(ARMS) <= {robot.name for robot in list_robots()}


@pytest.mark.parametrize("name", BENCHES + ARMS)
def test_every_robot_says_where_its_numbers_come_from(name):
    robot = find_robot(name)
    assert robot.source
    assert robot.assumed
    check_declaration(robot.options)
    for info in describe(robot.options):
        assert info.source, info.name
        assert info.description.endswith("."), info.name


@pytest.mark.parametrize("name", BENCHES + ARMS)
def test_every_robot_compiles_and_every_compliant_joint_is_reachable(name):
    robot = build_robot(name)
    model = robot.compile()
    assert model.opt.timestep == find_robot(name).options().timestep
    assert list(robot.interface.manager.joints) == list(robot.actuators)
    assert model.opt.integrator == mujoco.mjtIntegrator.mjINT_IMPLICITFAST


@pytest.mark.parametrize("name", BENCHES + ARMS)
def test_pictures_weigh_and_touch_nothing(name):
    model = build_robot(name).compile()
    for g in range(model.ngeom):
        if model.geom_group[g] == 2:
            assert model.geom_contype[g] == model.geom_conaffinity[g] == 0


@pytest.mark.parametrize("name", BENCHES)
@pytest.mark.parametrize(("mounting", "load"), [("horizontal", math.cos), ("hanging", math.sin)])
def test_a_bench_carries_the_load_of_a_pendulum(name, mounting, load):
    model = build_robot(name, {"mounting": mounting}).compile()
    for q in (-0.5, 0.0, 0.8):
        data = at(model, joint=q)
        assert data.qfrc_bias[0] == pytest.approx(0.2 * 9.81 * 0.04 * load(q), abs=1e-12)
        mass = np.zeros((1, 1))
        mujoco.mj_fullM(model, data, mass)
        assert mass[0, 0] == pytest.approx(0.00232, rel=1e-9)


def test_a_bench_without_link_inertia_has_that_of_the_load():
    model = build_robot("qbmove-1dof", {"link_inertia": 0.0}).compile()
    data = at(model)
    mass = np.zeros((1, 1))
    mujoco.mj_fullM(model, data, mass)
    assert mass[0, 0] == pytest.approx(3.2e-4, rel=1e-7)


def test_the_lying_arm_feels_no_gravity():
    model = build_robot("qbmove-2dof").compile()
    assert np.abs(at(model, joint_1=0.7, joint_2=-0.4).qfrc_bias).max() < 1e-12


def test_the_hanging_arm_carries_a_double_pendulum():
    model = build_robot("qbmove-2dof", {"mounting": "vertical"}).compile()
    m, g, com, length = 0.5, 9.81, 0.04, 0.085
    q1, q2 = 0.5, 0.4
    second = m * g * com * math.sin(q1 + q2)
    first = m * g * (com + length) * math.sin(q1) + second
    data = at(model, joint_1=q1, joint_2=q2)
    assert data.qfrc_bias == pytest.approx([first, second], rel=1e-12)
    assert data.site("tip").xpos[0] == pytest.approx(length * (math.sin(q1) + math.sin(q1 + q2)))
    mass = np.zeros((2, 2))
    mujoco.mj_fullM(model, data, mass)
    assert mass[1, 1] == pytest.approx(0.002 + m * com**2)


def test_identified_springs_go_to_their_own_joints():
    robot = build_robot("qbmove-2dof", {"springs": "identified"})
    assert robot.actuators["joint_1"].law.a1 == 6.257
    assert robot.actuators["joint_2"].law.k1 == 0.1015


def test_the_five_joint_arm_reaches_the_box_over_the_floor():
    robot = build_robot("qbmove-5dof")
    model = robot.compile()
    data = at(model)
    tip, box = data.site("tip").xpos, data.body("box").xpos
    assert 0.0 < tip[2] < 0.265
    assert box[0] - 0.1325 - (tip[0] + 0.014) == pytest.approx(0.05)
    assert at(model, joint_2=0.3).site("tip").xpos[0] > tip[0]
    assert at(model, joint_4=0.3).site("tip").xpos[0] > tip[0]


def test_the_box_needs_its_friction_to_move():
    model = build_robot("qbmove-5dof").compile()
    limit = 0.23 * 2.0 * 9.81
    for force, moves in ((0.97 * limit, False), (1.03 * limit, True)):
        data = mujoco.MjData(model)
        body = model.body("box").id
        start = model.body("box").pos[0]
        for _ in range(1000):
            # At floor level, so that it slides and does not tip.
            data.xfrc_applied[body, :3] = [force, 0.0, 0.0]
            data.xfrc_applied[body, 4] = -force * 0.1325
            mujoco.mj_step(model, data)
        # 3 % over the limit accelerates 2 kg by 0.068 m/s^2: 34 mm in one second.
        assert bool(data.body("box").xpos[0] - start > 0.02) is moves
        if not moves:
            assert abs(data.body("box").xpos[0] - start) < 1e-4
