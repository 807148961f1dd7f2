"""What the arm looks like: no gap at any joint in any pose, the shapes that collide inside, nothing that weighs."""

import mujoco
import numpy as np
import pytest

from pliant.franka.device.parameters import CAPSULES
from pliant.franka.robots.arm_model import arm_spec
from pliant.franka.robots.looks import LAP, LINKS, RING, RINGS, SEAMS, add_looks
from pliant.franka.robots.parameters import FER, FR3
from pliant.franka.robots.surfaces import surface
from pliant.robots import build_robot


def dressed(arm=FR3, hand="fingers"):
    spec = arm_spec(arm, name="", hand=hand)
    plain = spec.compile()
    add_looks(spec, "", hand=hand == "fingers")
    return plain, spec.compile()


@pytest.mark.parametrize("joint", range(1, 8))
def test_both_links_of_a_joint_fill_the_ring_around_its_axis_so_that_no_pose_opens_a_gap(joint):
    before, after = SEAMS[joint - 1]
    axis = np.array([0.0, 0.0, 1.0]) if joint == 1 else np.array([0.0, 1.0, 0.0])
    around = np.linspace(0.0, 2.0 * np.pi, 73)[:-1]
    for link, place, direction in ((joint - 1, before, axis), (joint, after, np.array([0.0, 0.0, 1.0]))):
        u = np.cross(direction, [1.0, 0.0, 0.0])
        v = np.cross(direction, u)
        circle = (RINGS[joint - 1] - 0.0015) * (np.cos(around)[:, None] * u + np.sin(around)[:, None] * v)
        for along in (-RING[1], 0.0, RING[1]):
            points = np.asarray(place) + along * direction + circle
            assert LINKS[link].distance(points).max() < 0.0, f"link {link} ends {along} m from joint {joint}"
    assert RING[1] < LAP


@pytest.mark.parametrize("joint", [1, 3, 5])
def test_no_link_stands_out_of_the_ring_of_a_joint_along_the_arm(joint):
    before, after = SEAMS[joint - 1]
    axis = np.array([0.0, 0.0, 1.0]) if joint == 1 else np.array([0.0, 1.0, 0.0])
    for link, place, direction in ((joint - 1, before, axis), (joint, after, np.array([0.0, 0.0, 1.0]))):
        away = surface(LINKS[link])[0] - np.asarray(place)
        along = away @ direction
        radius = np.linalg.norm(away - along[:, None] * direction, axis=1)
        assert radius[np.abs(along) < RING[1]].max() < RINGS[joint - 1] + RING[0]


def test_the_planes_of_the_joints_meet_in_the_model():
    _, model = dressed()
    data = mujoco.MjData(model)
    data.qpos[:7] = np.random.default_rng(1).uniform(-1.0, 1.0, 7)
    mujoco.mj_forward(model, data)
    for joint, (before, after) in enumerate(SEAMS, start=1):
        places = []
        for link, place in ((joint - 1, before), (joint, after)):
            body = data.body(f"link{link}")
            places.append(body.xpos + body.xmat.reshape(3, 3) @ np.asarray(place))
        np.testing.assert_allclose(places[0], places[1], atol=1e-9)


def test_the_shapes_that_collide_stand_out_of_what_is_drawn_by_millimetres_in_any_pose():
    _, model = dressed(hand="none")
    data = mujoco.MjData(model)
    rng = np.random.default_rng(2)
    for _ in range(5):
        data.qpos[:7] = rng.uniform(model.jnt_range[:7, 0], model.jnt_range[:7, 1])
        mujoco.mj_forward(model, data)
        points = np.concatenate([_capsule_points(data, *capsule) for capsule in CAPSULES])
        outside = np.full(len(points), np.inf)
        for link, shape in enumerate(LINKS):
            body = data.body(f"link{link}")
            outside = np.minimum(outside, shape.distance((points - body.xpos) @ body.xmat.reshape(3, 3)))
        assert outside.max() < 0.035  # where a capsule ends in a half ball, the wrist is flat


def _capsule_points(data, link, start, end, radius):
    a, b = np.asarray(start), np.asarray(end)
    axis = (b - a) / np.linalg.norm(b - a)
    u = np.cross(axis, [0.0, 0.0, 1.0] if abs(axis[0]) > 0.9 else [1.0, 0.0, 0.0])
    around = np.linspace(0.0, 2.0 * np.pi, 49)
    ring = radius * (np.cos(around)[:, None] * u + np.sin(around)[:, None] * np.cross(axis, u))
    tips = [a - radius * axis, b + radius * axis]
    points = np.concatenate([*(a + s * (b - a) + ring for s in np.linspace(0.0, 1.0, 9)), tips])
    body = data.body(f"link{link}")
    return body.xpos + points @ body.xmat.reshape(3, 3).T


@pytest.mark.parametrize("hand", ["fingers", "vacuum", "none"])
@pytest.mark.parametrize("arm", [FER, FR3], ids=["fer", "fr3"])
def test_looks_weigh_nothing_and_touch_nothing(arm, hand):
    plain, model = dressed(arm, hand)
    assert model.ngeom > plain.ngeom
    np.testing.assert_array_equal(model.body_mass, plain.body_mass)
    np.testing.assert_array_equal(model.body_inertia, plain.body_inertia)
    drawn = model.geom_group == 2
    assert not model.geom_contype[drawn].any()
    assert not model.geom_conaffinity[drawn].any()
    assert (~drawn).sum() == plain.ngeom
    assert all((model.geom_group[model.geom_bodyid == b] == 2).any() for b in range(1, 9))


def test_an_arm_may_be_drawn_by_its_shapes():
    assert build_robot("fr3", {"meshes": "shapes"}).compile().nmesh == 0
    assert build_robot("franka-dual", {}).compile().nmesh == 2 * 11


def test_the_surfaces_of_an_arm_are_few_triangles():
    faces = sum(len(surface(shape)[1]) for shape in LINKS)
    assert 10_000 < faces < 45_000  # round enough to look at, few enough for a page
