"""Contacts with a spring and a damper of their own."""

import mujoco
import pytest

from pliant.model.contacts import ContactLaw, contact_law, set_contact_law

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


@pytest.mark.parametrize("law", [LAW, ContactLaw(stiffness=1e9, damping=0.0), ContactLaw(stiffness=10.0, damping=0.0)])
def test_the_law_that_is_read_is_the_one_that_was_written(law):
    model, _ = ball(law=law)
    found = contact_law(model, 1)
    assert found.stiffness == pytest.approx(law.stiffness)
    assert found.damping == pytest.approx(law.damping, abs=1e-9 * law.stiffness)


def test_a_contact_of_mujoco_has_no_law():
    model, _ = ball()
    assert contact_law(model, 0) is None
