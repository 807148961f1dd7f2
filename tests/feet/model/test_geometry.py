"""How far shapes reach, against their points."""

import math

import mujoco
import numpy as np
import pytest

from pliant.base.errors import ModelError
from pliant.feet.model.geometry import pose_of, reach, upward, weld_children

SHAPES = {
    "sphere": 'type="sphere" size="0.3"',
    "capsule": 'type="capsule" size="0.1 0.4"',
    "cylinder": 'type="cylinder" size="0.2 0.3"',
    "ellipsoid": 'type="ellipsoid" size="0.1 0.2 0.3"',
    "box": 'type="box" size="0.1 0.2 0.3"',
    "mesh": 'type="mesh" mesh="wedge"',
}


def points_of(kind, count=300):
    """Return points of the surface of a shape in its frame."""
    u, v = np.meshgrid(np.linspace(0.0, 2.0 * math.pi, 4 * count), np.linspace(-1.0, 1.0, count))
    u, v = u.ravel(), v.ravel()
    ball = np.stack([np.sqrt(1 - v**2) * np.cos(u), np.sqrt(1 - v**2) * np.sin(u), v], axis=1)
    if kind == "sphere":
        return 0.3 * ball
    if kind == "capsule":
        return 0.1 * ball + np.array([0.0, 0.0, 0.4]) * np.where(v >= 0.0, 1.0, -1.0)[:, None]
    if kind == "cylinder":
        return np.stack([0.2 * np.cos(u), 0.2 * np.sin(u), 0.3 * np.sign(v)], axis=1)
    if kind == "ellipsoid":
        return ball * [0.1, 0.2, 0.3]
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return corners * [0.1, 0.2, 0.3]


def model_of(kind):
    wedge = "0 0 0  0.3 0 0  0 0.2 0  0 0 0.1  0.3 0.2 0"
    text = (
        f'<mujoco><asset><mesh name="wedge" vertex="{wedge}"/></asset><worldbody>'
        f'<body pos="0.1 -0.2 0.3" euler="20 -35 50"><geom {SHAPES[kind]} pos="0.05 0 0.02" euler="10 60 -20"/></body>'
        "</worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("direction", [(0.0, 0.0, -1.0), (1.0, 0.0, 0.0), (0.48, -0.6, 0.64)])
def test_a_shape_reaches_as_far_as_its_farthest_point(kind, direction):
    model, data = model_of(kind)
    if kind == "mesh":
        # The wedge's own corners, in the frame of its body.
        corners = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0, 0, 0.1], [0.3, 0.2, 0]])
        rotation = np.zeros(9)
        mujoco.mju_quat2Mat(rotation, quaternion(10, 60, -20))
        local = corners @ rotation.reshape(3, 3).T + [0.05, 0.0, 0.02]
        points = local @ data.xmat[1].reshape(3, 3).T + data.xpos[1]
        tolerance = 1e-7
    else:
        points = points_of(kind) @ data.geom_xmat[0].reshape(3, 3).T + data.geom_xpos[0]
        tolerance = 1e-12 if kind == "box" else 5e-4
    farthest = float((points @ np.array(direction)).max())
    found = reach(model, data, 0, np.array(direction))
    assert found == pytest.approx(farthest, abs=tolerance)
    assert found >= farthest - 1e-7


def quaternion(*degrees):
    out = np.zeros(4)
    mujoco.mju_euler2Quat(out, np.radians(degrees), "xyz")
    return out


def test_a_plane_has_no_underside():
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><geom name="p" type="plane" size="1 1 1"/></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    with pytest.raises(ModelError, match=r"the shape 'p' of the foot is a plane, which has no underside"):
        reach(model, data, 0, np.array([0.0, 0.0, -1.0]))


def test_up_is_against_gravity_and_forward_is_level():
    model = mujoco.MjModel.from_xml_string('<mujoco><option gravity="0 3 -4"/></mujoco>')
    assert upward(model) == pytest.approx([0.0, -0.6, 0.8])
    pose = pose_of(model, None, (1.0, 0.0, 5.0))
    assert pose.forward @ pose.up == pytest.approx(0.0, abs=1e-12)
    assert np.linalg.det(pose.rotation) == pytest.approx(1.0)
    weightless = mujoco.MjModel.from_xml_string('<mujoco><option gravity="0 0 0"/></mujoco>')
    assert upward(weightless) == pytest.approx([0.0, 0.0, 1.0])


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
def test_a_direction_without_a_horizontal_part_is_refused_and_one_with_a_small_part_is_not(scale):
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    with pytest.raises(ModelError, match=r"must have a horizontal part \(up is"):
        pose_of(model, None, (0.0, 0.0, scale))
    assert pose_of(model, None, (0.01 * scale, 0.0, scale)).forward == pytest.approx([1.0, 0.0, 0.0])


def test_fixed_bodies_below_a_body_are_found_and_moving_ones_are_not():
    text = """<mujoco><worldbody><body name="a"><geom size="1"/><body name="b"><body name="c"/></body>
    <body name="d"><joint/><geom size="1"/><body name="e"/></body></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    names = [model.body(i).name for i in weld_children(model, model.body("a").id)]
    assert names == ["a", "b", "c"]
