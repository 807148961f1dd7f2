"""Position controllers that a time step cannot follow are found before the run."""

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.control_boards.description import ControlBoard, Coupling
from pliant.model import Robot

ARM = """<mujoco><option timestep="0.001" gravity="0 0 0" integrator="implicitfast"/><worldbody>
<body name="a"><joint name="j" axis="0 1 0" damping="{damping}"/>
<inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/></body></worldbody></mujoco>"""


def robot(kp, kd, damping=0.0):
    board = ControlBoard(name="b", joints=("j",), position_kp=(kp,), position_kd=(kd,))
    return Robot(mujoco.MjSpec.from_string(ARM.format(damping=damping)), devices=[board])


def found(robot):
    return [p for p in robot.check() if "position controller" in p.message]


def grows(kp, kd, damping):
    """Return whether a controller that acts once a step makes a motion grow."""
    model = robot(kp, kd, damping).spec.compile()
    data = mujoco.MjData(model)
    data.qpos[0] = data.qvel[0] = 1e-6
    for _ in range(2000):
        data.qfrc_applied[0] = -kp * data.qpos[0] - kd * data.qvel[0]
        mujoco.mj_step(model, data)
        if abs(data.qpos[0]) > 1.0:
            return True
    return False


@given(st.floats(0.0, 5e4), st.floats(0.0, 40.0), st.sampled_from([0.0, 5.0]))
def test_the_check_refuses_just_what_diverges(kp, kd, damping):
    bound = (1e-6 * kp + 2e-3 * kd) / (4.0 * (0.01 + 0.5e-3 * damping))
    if 0.9 < bound < 1.1 or (kd + damping < 0.1):
        return  # too near to the limit to see in 2000 steps
    assert grows(kp, kd, damping) == (bound > 1.0) == bool(found(robot(kp, kd, damping)))


@pytest.mark.parametrize(("factor", "refused"), [(0.97, False), (1.03, True)])
@pytest.mark.parametrize("damping", [0.0, 5.0])
def test_damping_that_is_explicit_takes_from_the_gains(damping, factor, refused):
    h, kd = 1e-3, 0.5
    kp = factor * (4.0 * 0.01 - 2.0 * h * (kd + damping)) / h**2  # h^2 kp + 2 h (kd + d) = 4 M
    arm = robot(kp, kd, damping)
    arm.spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    arm.spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_EULERDAMP
    assert bool(found(arm)) is refused


def test_the_message_names_the_joint_the_factor_and_a_remedy():
    problem = found(robot(0.1, 40.0))[0]
    assert (problem.severity, problem.subject) == ("error", "j")
    assert problem.message.startswith("the gains of its position controller are 2 times")
    assert "--set j.armature=0.01" in problem.hint


def test_gains_are_by_joint_and_those_of_couplings_are_left_out():
    coupling = Coupling(kind="linear", axes=("x",), joints=("p", "q"), matrix=((1.0,), (1.0,)))
    board = ControlBoard(
        name="b",
        joints=("p", "j", "q"),
        axes=("x", "y"),
        couplings=(coupling,),
        position_kp=(1.0, 2.0),
        position_kd=(3.0,),
    )
    assert board.position_gains() == {"j": (2.0, 3.0)}
    assert ControlBoard(name="b", joints=("j",)).position_gains() == {}
    assert ControlBoard(name="b", axes=("x",), position_kp=(1.0,)).position_gains() == {}


def test_joints_that_share_their_inertia_are_checked_together():
    inertial = '<inertial pos="0 0 -0.05" mass="1" diaginertia="0.001 0.001 0.001"/>'
    body = f'<body name="{{0}}" pos="0 0 -0.1"><joint name="{{0}}" axis="0 1 0"/>{inertial}'
    text = ARM.split("<body")[0] + body.format("p") + body.format("q") + "</body></body></worldbody></mujoco>"
    spec = mujoco.MjSpec.from_string(text)
    kd = 5.0
    board = ControlBoard(name="b", joints=("p", "q"), position_kp=(1e-9,), position_kd=(kd,))
    model = spec.copy().compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    M = np.zeros((2, 2))
    mujoco.mj_fullM(model, data, M)
    largest = np.linalg.eigvals(np.linalg.inv(M) * 2e-3 * kd).real.max()
    assert found(Robot(spec, devices=[board]))[0].value == pytest.approx(largest, rel=1e-6)
