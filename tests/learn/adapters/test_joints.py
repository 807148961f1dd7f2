"""The joints of many worlds for other simulators: matching of names, refusals, and the torques of the laws."""

import sys

import numpy as np
import pytest

from pliant.base.errors import LawError, MissingDependency
from pliant.laws import SEA, CompliantActuator, QbMove
from pliant.learn.adapters.joints import LawJoints, match_actuators

SPRING = CompliantActuator(SEA(), 3)


def test_joints_get_the_first_actuator_whose_expression_matches():
    other = CompliantActuator(QbMove())
    assert match_actuators({"left_.*": other, ".*": SPRING}, ["left_knee", "hip"]) == [other, SPRING]


@pytest.mark.parametrize(
    ("actuators", "message"),
    [
        ({}, "must be joint name -> CompliantActuator"),
        ({"hip": SPRING}, "joint 'knee' has no actuator"),
        ({".*": SPRING, "ankle": SPRING}, "actuators has 'ankle'"),
    ],
)
def test_joints_and_actuators_that_do_not_fit_are_refused(actuators, message):
    with pytest.raises(LawError, match=message):
        match_actuators(actuators, ["hip", "knee"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"actuators": []}, "actuators is empty"),
        ({"actuators": [SEA()]}, r"actuators\[0\] is a SEA; must be a CompliantActuator"),
        ({"worlds": 0}, "worlds is 0; must be a whole number >= 1"),
        ({"dt": 0.0}, "dt is 0.0; must be a number > 0"),
    ],
)
def test_what_cannot_be_joints_is_refused(given, message):
    with pytest.raises(LawError, match=message):
        LawJoints(**{"actuators": [SPRING], "worlds": 2, "dt": 0.001, **given})


@pytest.mark.parametrize(
    ("module", "imported", "package"),
    [
        ("mjlab", "mjlab", "mjlab"),
        ("isaaclab", "isaaclab", "isaaclab"),
        ("newton", "newton", r'"newton\[sim\]"'),
        ("playground", "jax", "playground"),
    ],
)
def test_without_the_simulator_the_message_names_the_command(module, imported, package, monkeypatch):
    for name in (imported, f"{imported}.actuator", f"{imported}.actuators"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"pliant.learn.adapters.{module}", raising=False)
    with pytest.raises(MissingDependency, match=rf"pip install {package}"):
        __import__(f"pliant.learn.adapters.{module}")


@pytest.mark.slow
def test_joints_of_two_laws_give_the_torques_of_their_actuators_in_every_world():
    wp = pytest.importorskip("warp", reason="Warp is not installed: pip install 'pliant[warp]'")
    actuators = [CompliantActuator(QbMove(k1=0.002)), SPRING, CompliantActuator(QbMove())]
    joints = LawJoints(actuators, 2, 0.001)
    start = np.array([[0.1, 0.2, 0.3], [-0.1, 0.0, 0.1]], dtype=np.float32)
    joints.reset(np.full((2, 3), 9.0))
    joints.reset(start)
    steps = 50
    t = np.arange(steps) * 0.001
    q = (start[..., None] + 0.2 * np.sin(20.0 * t)).astype(np.float32)
    dq = np.broadcast_to(4.0 * np.cos(20.0 * t), q.shape).astype(np.float32)
    refs = np.stack([start + np.float32(0.1), np.full_like(start, np.float32(0.2))], axis=-1)
    torque = wp.zeros(6, dtype=wp.float32, device="cpu")
    put = lambda values: wp.array(np.ascontiguousarray(values), dtype=wp.float32, device="cpu")  # noqa: E731
    found = np.zeros((2, 3, steps))
    for k in range(steps):
        joints.step(put(q[..., k].ravel()), put(dq[..., k].ravel()), put(refs.reshape(6, 2)), torque)
        found[..., k] = torque.numpy().reshape(2, 3)
    for world, joint in np.ndindex(2, 3):
        r1, r2 = (float(r) for r in refs[world, joint])
        expected = actuators[joint].simulate(q[world, joint].astype(float), dq[world, joint].astype(float), r1, r2)
        np.testing.assert_allclose(found[world, joint], expected.torque, rtol=2e-7, atol=1e-7)
    with pytest.raises(LawError, match=r"q has shape \(3,\); must be \(6,\): 2 worlds of 3 joints"):
        joints.step(put(np.zeros(3)), put(np.zeros(3)), put(np.zeros((3, 2))), torque)
    with pytest.raises(LawError, match="positions has shape"):
        joints.reset(np.zeros((3, 2)))
    with pytest.raises(LawError, match="must be a mask"):
        joints.reset(start, [0, 1])
