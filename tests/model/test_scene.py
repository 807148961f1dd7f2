"""What a viewer shows of a robot, and from where."""

import mujoco
import numpy as np
import pytest

from pliant.model.scene import add_floor, bounds, find_root, geom_colors, has_visuals, overview, visual_options

BARE = """<mujoco><worldbody><body name="link"><joint name="hinge" axis="0 1 0"/>
<inertial pos="0 0 -0.2" mass="1" diaginertia="0.01 0.01 0.001"/></body></worldbody></mujoco>"""
COLLISION = BARE.replace("</body>", '<geom type="sphere" size="0.1" pos="0 0 -0.4" group="3"/></body>')
DRAWN = COLLISION.replace('group="3"', 'group="1"')


def made(text):
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    return model, data


def drawn(model, data):
    """Return the types of what MuJoCo draws of a model."""
    scene = mujoco.MjvScene(model, 100)
    camera = overview(model, data)
    mujoco.mj_forward(model, data)
    mujoco.mjv_updateScene(model, data, visual_options(model), None, camera, mujoco.mjtCatBit.mjCAT_ALL, scene)
    return [int(geom.type) for geom in scene.geoms[: scene.ngeom]], scene


def test_a_robot_without_shapes_shows_its_inertia_and_its_joints():
    model, data = made(BARE)
    assert not has_visuals(model)
    types, _ = drawn(model, data)
    assert int(mujoco.mjtGeom.mjGEOM_BOX) in types
    assert int(mujoco.mjtGeom.mjGEOM_ARROW1) in types


def test_a_robot_with_collision_shapes_only_shows_these():
    model, data = made(COLLISION)
    assert not has_visuals(model)
    types, _ = drawn(model, data)
    assert int(mujoco.mjtGeom.mjGEOM_SPHERE) in types
    assert int(mujoco.mjtGeom.mjGEOM_BOX) not in types


def test_a_robot_with_visuals_looks_as_described():
    model, data = made(DRAWN)
    assert has_visuals(model)
    types, _ = drawn(model, data)
    assert types == [int(mujoco.mjtGeom.mjGEOM_SPHERE)]


def test_shapes_that_are_transparent_are_no_visuals():
    model, _ = made(DRAWN.replace('group="1"', 'group="1" rgba="1 0 0 0"'))
    assert not has_visuals(model)


@pytest.mark.parametrize(
    ("alphas", "own", "shown"), [((0, 1), "", False), ((1, 0), "", True), ((0, 0), 'rgba="1 0 0 1"', True)]
)
def test_a_transparent_material_hides_a_shape_without_a_colour_of_its_own(alphas, own, shown):
    materials = "".join(f'<material name="m{i}" rgba="1 1 1 {a}"/>' for i, a in enumerate(alphas))
    text = DRAWN.replace('group="1"', f'group="1" material="m0" {own}').replace("</mujoco>", "")
    model, _ = made(f"{text}<asset>{materials}</asset></mujoco>")
    assert has_visuals(model) is shown


def test_the_bounds_are_those_of_the_shapes_and_leave_planes_out():
    text = DRAWN.replace("<worldbody>", '<worldbody><geom type="plane" size="50 50 1" pos="0 0 -3"/>')
    low, high = bounds(*made(text))
    np.testing.assert_allclose(low, [-0.1, -0.1, -0.5], atol=1e-6)
    np.testing.assert_allclose(high, [0.1, 0.1, -0.3], atol=1e-6)


@pytest.mark.parametrize("aspect", [0.5, 1.0, 2.0])
def test_the_camera_sees_the_whole_robot_whatever_the_shape_of_the_picture(aspect):
    model, data = made(DRAWN)
    camera = overview(model, data, aspect=aspect)
    low, high = bounds(model, data)
    radius = 0.5 * np.linalg.norm(high - low)
    half = np.radians(model.vis.global_.fovy) / 2
    half = min(half, np.arctan(np.tan(half) * aspect))
    assert camera.distance * np.sin(half) >= radius
    np.testing.assert_allclose(camera.lookat, 0.5 * (low + high))


def test_what_lies_flat_is_seen_from_above():
    model, data = made(BARE.replace("</body>", '<geom type="box" size="1 1 0.01"/></body>'))
    assert overview(model, data).elevation == -50.0
    assert overview(model, data, elevation=-5.0).elevation == -5.0


def test_a_model_of_nothing_has_a_camera_too():
    model, data = made("<mujoco/>")
    assert overview(model, data).distance > 0.0


def test_the_camera_follows_the_body_with_the_most_joints():
    text = """<mujoco><worldbody><body name="ball"><freejoint/><geom size="0.1"/></body>
    <body name="trunk"><freejoint/><geom size="0.1"/><body><joint/><geom size="0.1"/></body></body>
    </worldbody></mujoco>"""
    model, _ = made(text)
    assert model.body(find_root(model)).name == "trunk"
    assert find_root(made(DRAWN)[0]) == -1


def test_a_floor_is_drawn_only_where_the_model_has_none():
    model, data = made(DRAWN)
    _, scene = drawn(model, data)
    add_floor(model, scene, -0.5, 0.3)
    assert int(scene.geoms[scene.ngeom - 1].type) == int(mujoco.mjtGeom.mjGEOM_PLANE)
    with_floor, data = made(DRAWN.replace("<worldbody>", '<worldbody><geom type="plane" size="1 1 1"/>'))
    types, scene = drawn(with_floor, data)
    add_floor(with_floor, scene, -0.5, 0.3)
    assert scene.ngeom == len(types)


def test_what_was_in_the_memory_of_a_scene_does_not_change_a_drawn_floor():
    model, data = made(DRAWN)
    _, scene = drawn(model, data)
    dirty = scene.geoms[scene.ngeom]
    dirty.transparent, dirty.segid, dirty.objid, dirty.camdist = 1, -7, 7, 1e30
    add_floor(model, scene, -0.5, 0.3)
    floor = scene.geoms[scene.ngeom - 1]
    assert (floor.transparent, floor.objid, floor.camdist) == (0, -1, 0.0)
    assert floor.segid >= 0  # pictures of depth leave out what has none


def test_a_geom_has_the_colour_that_mujoco_draws():
    text = """<mujoco><asset><material name="red" rgba="1 0 0 0.5"/></asset><worldbody>
        <geom size="1" material="red"/><geom size="1" material="red" rgba="0 0 1 1"/><geom size="1" rgba="0 1 0 1"/>
        <geom size="1"/></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    scene, data = mujoco.MjvScene(model, 100), mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    mujoco.mjv_updateScene(
        model, data, mujoco.MjvOption(), None, mujoco.MjvCamera(), int(mujoco.mjtCatBit.mjCAT_ALL), scene
    )
    drawn_colors = {scene.geoms[k].objid: scene.geoms[k].rgba.tolist() for k in range(scene.ngeom)}
    assert {k: color.tolist() for k, color in enumerate(geom_colors(model))} == drawn_colors
