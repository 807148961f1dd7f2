"""Rods that stretch and shear in the step, against Timoshenko's beam."""

import mujoco
import numpy as np
import pytest

from pliant.model import Robot
from pliant.parallel.model import build_parallel
from pliant.rods import Rod, Round, load_robot
from pliant.rods.model.rod_between import RodBetween, attach_rod

SILICONE = {"young_modulus": 3e5, "shear_modulus": 1e5}
LENGTH, STEPS = 0.15, 400


def cantilever(density=0.0, **changes):
    """A stout silicone rod, clamped at the world, without weight unless it has a density."""
    spec = mujoco.MjSpec()
    spec.option.gravity = [0.0, 0.0, -9.81]
    rod = Rod(length=LENGTH, section=Round(radius=0.02), density=density, **{**SILICONE, **changes})
    robot = Robot(spec)
    part = RodBetween(rod=rod, body_b=None, damping=0.05)
    attach_rod(robot, part)
    return part, rod.values(0.5), robot.compile()


def tip_after(part, model, force):
    """Return how far the tip goes under a force there, at rest [m]."""
    data = mujoco.MjData(model)
    last = model.body(f"rod/link{part.segments}").id
    mujoco.mj_forward(model, data)
    begin = part.points(model, data)[-1]
    for _ in range(STEPS):
        data.qfrc_applied[:] = 0.0
        mujoco.mj_applyFT(model, data, force, np.zeros(3), part.points(model, data)[-1], last, data.qfrc_applied)
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    return part.points(model, data)[-1] - begin


def test_a_soft_cantilever_bends_and_shears_as_timoshenko_says():
    part, v, model = cantilever()
    force = 1e-3
    bending, shear = force * LENGTH**3 / (3.0 * v.bending[0]), force * LENGTH / v.shear[0]
    assert shear / bending > 0.01
    found = tip_after(part, model, np.array([force, 0.0, 0.0]))
    assert found[0] == pytest.approx(bending + shear, rel=1e-4)


def test_a_soft_cantilever_stretches_as_hooke_says():
    part, v, model = cantilever()
    found = tip_after(part, model, np.array([0.0, 0.0, 0.5]))
    np.testing.assert_allclose(found, [0.0, 0.0, 0.5 * LENGTH / v.axial], atol=1e-7)


def test_a_soft_cantilever_starts_at_rest_under_its_own_weight():
    part, v, model = cantilever(density=1000.0)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    begin = part.points(model, data)[-1]
    # Shortening of a column under its own weight, standing on its base.
    assert LENGTH - begin[2] == pytest.approx(0.5 * v.mass * 9.81 * LENGTH**2 / v.axial, rel=0.01)
    for _ in range(STEPS):
        mujoco.mj_step(model, data)
    assert np.linalg.norm(part.points(model, data)[-1] - begin) < 1e-6


@pytest.mark.parametrize(("modulus", "slides"), [(200e9, False), (3e5, True)])
def test_rods_stretch_where_their_material_needs_it(modulus, slides):
    part, _, model = cantilever(young_modulus=modulus, shear_modulus=0.4 * modulus)
    names = [model.joint(j).name for j in range(model.njnt)]
    # A stout rod shears, whatever its modulus.
    assert f"{part.name}/shear1" in names
    slim = Rod(length=0.3, section=Round(radius=5e-3), young_modulus=modulus, shear_modulus=0.4 * modulus)
    robot = Robot(mujoco.MjSpec())
    robot.spec.option.gravity = [0.0, 0.0, 9.81]  # it hangs
    attach_rod(robot, RodBetween(rod=slim, body_b=None, name="slim"))
    model = robot.compile()
    names = [model.joint(j).name for j in range(model.njnt)]
    assert ("slim/stretch1" in names) == slides


def test_the_option_says_whether_rods_stretch():
    for stretch, joints in ((None, 30), (True, 60), (False, 30)):
        robot = build_parallel(load_robot("3PFR_spatial"), segments=10, stretch=stretch)
        model = robot.compile()
        assert sum(model.joint(j).name.startswith("limb1/") for j in range(model.njnt)) - 1 == joints
