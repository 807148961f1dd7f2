"""Contacts with a spring and a damper of their own."""

import mujoco
import pytest
from scipy.integrate import solve_ivp

from pliant.feet.model.contact_law import ContactLaw, contact_law, set_contact_law

LAW = ContactLaw(stiffness=1e5, damping=300.0)
MASS, G, RADIUS = 2.0, 9.81, 0.05


def ball(*, cone="pyramidal", friction=1.0, impratio=1.0, condim=3, timestep=0.001, law=LAW, armature=0.0):
    """Return a ball on the ground, whose contact has a law."""
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option cone="{cone}" impratio="{impratio}" timestep="{timestep}"/><worldbody>
        <geom type="plane" size="1 1 1" friction="2"/>
        <body pos="0 0 {RADIUS}"><joint type="slide" axis="0 0 1" armature="{armature}"/>
        <geom type="sphere" size="{RADIUS}" mass="{MASS}" friction="{friction}" condim="{condim}"/></body>
        </worldbody></mujoco>"""
    )
    set_contact_law(model, 1, law)
    return model, mujoco.MjData(model)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("condim", [1, 3, 4, 6])
@pytest.mark.parametrize(("friction", "impratio"), [(1.0, 1.0), (0.5, 1.0), (1.7, 3.0)])
def test_at_rest_the_penetration_is_the_weight_over_the_stiffness(cone, condim, friction, impratio):
    model, data = ball(cone=cone, condim=condim, friction=friction, impratio=impratio)
    mujoco.mj_step(model, data, 2000)
    assert -data.contact.dist[0] == pytest.approx(MASS * G / LAW.stiffness, rel=1e-7)


@pytest.mark.parametrize("timestep", [1e-5, 1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("armature", [0.0, 100.0])
def test_the_penetration_at_rest_depends_neither_on_the_step_nor_on_the_inertia(timestep, armature):
    model, data = ball(timestep=timestep, armature=armature, law=ContactLaw(stiffness=1e5, damping=5e3))
    data.qpos[0] = -MASS * G / LAW.stiffness
    mujoco.mj_step(model, data, 100)
    assert -data.contact.dist[0] == pytest.approx(MASS * G / LAW.stiffness, rel=1e-7)


@pytest.mark.parametrize("timestep", [1e-4, 1e-3])
def test_the_motion_is_the_implicit_euler_step_of_spring_and_damper(timestep):
    model, data = ball(timestep=timestep)
    data.qpos[0], data.qvel[0] = -1e-3, -0.05
    q, v, h = -1e-3, -0.05, timestep
    for _ in range(5):
        mujoco.mj_step(model, data)
        v = (MASS * v - h * (MASS * G + LAW.stiffness * q)) / (MASS + h * LAW.damping + h**2 * LAW.stiffness)
        q += h * v
        assert data.qpos[0] == pytest.approx(q, rel=1e-7)
        assert data.qvel[0] == pytest.approx(v, rel=1e-6)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize(("stiffness", "damping"), [(1e5, 1e6), (1e5, 1e15), (1e15, 0.0), (1e15, 1e15)])
def test_no_stiffness_and_no_damping_makes_a_ball_faster_than_it_fell(cone, stiffness, damping):
    model, data = ball(cone=cone, law=ContactLaw(stiffness=stiffness, damping=damping))
    data.qpos[0], data.qvel[0] = 2e-3, -1.0
    for _ in range(500):
        mujoco.mj_step(model, data)
        assert abs(data.qvel[0]) < 1.1


def rebound(timestep):
    """Return the speed with which the ball leaves the ground that it hit with 1 m/s [m/s]."""
    model, data = ball(timestep=timestep)
    data.qpos[0], data.qvel[0] = -1e-12, -1.0
    while data.time < timestep or data.efc_force.any():
        mujoco.mj_step(model, data)
    return float(data.qvel[0])


def test_an_impact_converges_to_that_of_spring_and_damper_with_the_step():
    def force(y):
        return max(0.0, -LAW.stiffness * y[0] - LAW.damping * y[1])

    def leaves(t, y):
        return force(y) if t > 1e-3 else 1.0

    leaves.terminal = True
    exact = solve_ivp(
        lambda _, y: [y[1], force(y) / MASS - G], (0.0, 0.1), [0.0, -1.0], events=leaves, rtol=1e-10, atol=1e-12
    ).y[1, -1]
    assert exact < 0.5
    errors = [abs(rebound(h) - exact) for h in (4e-5, 2e-5, 1e-5)]
    assert errors[2] < 5e-3 * exact
    assert errors[1] < 0.6 * errors[0]
    assert errors[2] < 0.6 * errors[1]


@pytest.mark.parametrize("law", [LAW, ContactLaw(stiffness=1e9, damping=0.0), ContactLaw(stiffness=10.0, damping=0.0)])
def test_the_law_that_is_read_is_the_one_that_was_written(law):
    model, _ = ball(law=law)
    found = contact_law(model, 1)
    assert found.stiffness == pytest.approx(law.stiffness)
    assert found.damping == pytest.approx(law.damping, abs=1e-9 * law.stiffness)


def test_a_contact_of_mujoco_has_no_law():
    model, _ = ball()
    assert contact_law(model, 0) is None
