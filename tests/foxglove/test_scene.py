"""What the 3D panel gets of a model; the classes of Foxglove's SDK are stood in for by plain ones."""

import math
from types import SimpleNamespace

import mujoco
import pytest

from pliant.foxglove.scene import scene_entities
from pliant.robots.loading import load


class Messages:
    """Every class of the SDK's messages: keeps its arguments."""

    def __getattr__(self, name):
        return SimpleNamespace


ALL = """
<mujoco><asset><mesh name="wedge" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/></asset><worldbody>
  <geom type="plane" size="0 0 1" rgba="1 0 0 1"/>
  <body name="b" pos="0 0 3"><freejoint/>
    <geom type="box" size=".1 .2 .3"/><geom type="sphere" size=".1"/><geom type="ellipsoid" size=".1 .2 .3"/>
    <geom type="cylinder" size=".1 .4"/><geom type="capsule" size=".1 .4" euler="90 0 0" pos="1 0 0"/>
    <geom type="mesh" mesh="wedge"/><geom type="box" size="1 1 1" group="3"/>
  </body></worldbody></mujoco>"""


def entities(model):
    return {entity.id: entity for entity in scene_entities(Messages(), model)}


def test_each_kind_of_geometry_becomes_its_primitive_and_collision_geometry_is_left_out():
    found = entities(mujoco.MjModel.from_xml_string(ALL))
    body = found["b"]
    assert body.frame_id == "b"
    assert [len(x) for x in (body.cubes, body.spheres, body.cylinders, body.triangles)] == [1, 4, 2, 1]
    size = body.cubes[0].size
    assert (size.x, size.y, size.z) == (0.2, 0.4, 0.6)
    assert len(body.triangles[0].indices) == 12
    assert found["world"].cubes[0].color.r == 1.0


def test_a_geometry_with_a_colour_of_its_own_has_it_and_else_that_of_its_material():
    # As MuJoCo's viewer draws it: the material's colour holds where the geometry has the default one.
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><asset><material name="steel" rgba="0 0 1 0.5"/></asset><worldbody><body name="b"><joint/>
        <geom type="box" size="1 1 1" material="steel" rgba="1 0 0 1"/>
        <geom type="sphere" size="1" material="steel"/></body></worldbody></mujoco>"""
    )
    body = entities(model)["b"]
    colours = [(c.r, c.g, c.b, c.a) for c in (body.cubes[0].color, body.spheres[0].color)]
    assert colours == [(1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 0.5)]


def test_the_round_ends_of_a_capsule_are_at_its_ends():
    body = entities(mujoco.MjModel.from_xml_string(ALL))["b"]
    ends = sorted(round(s.pose.position.y, 9) for s in body.spheres if s.pose.position.x > 0.5)
    assert ends == [-0.4, 0.4]


def test_a_robot_of_collision_geometry_only_is_drawn_by_it():
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body name="b"><joint/><geom size=".1" group="3"/></body></worldbody></mujoco>'
    )
    assert len(entities(model)["b"].spheres) == 1


def test_a_robot_without_geometry_is_drawn_by_boxes_with_its_inertia():
    # A box of 6 kg with sides 0.1, 0.2 and 0.3 m.
    moments = [6 / 12 * (a * a + b * b) for a, b in ((0.2, 0.3), (0.1, 0.3), (0.1, 0.2))]
    text = " ".join(map(str, moments))
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><body name="b"><joint/><inertial pos="0 0 0" mass="6" diaginertia="{text}"/></body>'
        "</worldbody></mujoco>"
    )
    size = entities(model)["b"].cubes[0].size
    assert sorted((size.x, size.y, size.z)) == pytest.approx([0.1, 0.2, 0.3])


@pytest.mark.parametrize("name", ["qbmove-5dof", "biped", "3RR"])
def test_every_moving_body_that_has_visible_geometry_is_in_the_scene(name):
    model = load(name).compile()
    found = entities(model)
    drawn = {model.body(b).name for b in set(model.geom_bodyid[model.geom_group < 3].tolist())}
    assert drawn <= set(found)
    for entity in found.values():
        for shape in [s for kind in ("cubes", "spheres", "cylinders") for s in getattr(entity, kind, ())]:
            assert math.isfinite(shape.size.x)
            assert shape.size.x > 0.0
