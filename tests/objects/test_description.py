"""Spare objects of a model: the constants that MuJoCo's compiler would give them, and what cannot be asked for."""

import mujoco
import numpy as np
import pytest

from pliant.base.errors import ModelError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.model import Robot
from pliant.objects import World, add_world

XML = """
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body name="arm" pos="0 0 2"><joint name="shoulder" axis="0 1 0"/><geom size=".1" pos="0 0 -.3"/></body>
    <body name="other" pos="3 0 2"><freejoint/><geom size=".1" contype="4" conaffinity="2"/></body>
  </worldbody>
  <contact><exclude body1="arm" body2="other"/></contact>
  <keyframe><key name="bent" qpos="0.5 3 0 1 1 0 0 0"/></keyframe>
</mujoco>
"""
MADE = {
    "sphere": ({"radius": 0.2}, 'type="sphere" size=".2"'),
    "box": ({"width": 0.2, "height": 0.4, "thickness": 0.6}, 'type="box" size=".1 .2 .3"'),
    "cylinder": ({"radius": 0.1, "length": 0.8}, 'type="cylinder" size=".1 .4"'),
}
OF_BODIES = ("body_mass", "body_subtreemass", "body_inertia", "body_invweight0", "body_simple", "body_sameframe")
OF_BODIES += ("body_ipos", "body_iquat", "body_contype", "body_bvhnum", "body_margin")
OF_GEOMS = ("geom_type", "geom_size", "geom_rbound", "geom_aabb", "geom_contype", "geom_friction", "geom_solref")


@pytest.mark.parametrize("kind", MADE)
def test_a_spare_body_gets_the_constants_that_the_compiler_gives_such_a_body(kind):
    sizes, shape = MADE[kind]
    robot = Robot(mujoco.MjSpec.from_string(XML))
    world = add_world(robot, objects=2)
    engine = MujocoEngine(robot, check=False)
    (device,) = make_devices(robot)
    device.attach(engine)
    device.reset(np.random.default_rng(0))
    getattr(device, f"make_{kind}")(**sizes, mass=2.5)
    made = engine.model
    text = XML.replace("</worldbody>", f'<body name="it"><freejoint/><geom {shape} mass="2.5"/></body></worldbody>')
    wanted = mujoco.MjModel.from_xml_string(text.split("<keyframe>")[0] + "</mujoco>")
    body, same = made.body(world.body(0)).id, wanted.body("it").id
    for name in OF_BODIES:
        assert np.allclose(getattr(made, name)[body], getattr(wanted, name)[same], rtol=1e-12, atol=1e-15), name
    geom, same_geom = made.geom(f"{world.body(0)}/shape").id, wanted.body_geomadr[same]
    for name in OF_GEOMS:
        assert np.allclose(getattr(made, name)[geom], getattr(wanted, name)[same_geom], rtol=1e-12, atol=1e-15), name
    dofs, same_dofs = int(made.body_dofadr[body]), int(wanted.body_dofadr[same])
    for name in ("dof_M0", "dof_invweight0"):
        found, expected = getattr(made, name)[dofs : dofs + 6], getattr(wanted, name)[same_dofs : same_dofs + 6]
        assert np.allclose(found, expected, rtol=1e-12), name
    spare = 1e-3
    assert made.body_subtreemass[0] == pytest.approx(wanted.body_subtreemass[0] + spare, rel=1e-12)
    assert np.allclose(made.bvh_aabb[made.body_bvhadr[body]], wanted.bvh_aabb[wanted.body_bvhadr[same]])


def test_key_frames_of_the_robot_stay_and_contacts_that_it_excludes_stay_excluded():
    plain = Robot(mujoco.MjSpec.from_string(XML)).compile()
    robot = Robot(mujoco.MjSpec.from_string(XML))
    add_world(robot, objects=3)
    model = robot.compile()
    assert model.nq == plain.nq + 21
    assert np.array_equal(model.key("bent").qpos[: plain.nq], plain.key("bent").qpos)
    assert set(model.exclude_signature) == {0, *plain.exclude_signature}
    assert model.stat.extent == pytest.approx(plain.stat.extent, rel=1e-9)


def test_the_larger_of_two_wishes_is_kept_and_names_follow_a_prefix():
    robot = Robot(mujoco.MjSpec.from_string(XML))
    add_world(robot, objects=3, ties=2)
    assert add_world(robot, objects=1, ties=5) == World(objects=3, ties=5)
    assert len(robot.devices) == 1
    moved = World(startup=(("arm", "other"),)).prefixed("left/")
    assert (moved.name, moved.startup) == ("left/world", (("left/arm", "left/other"),))


@pytest.mark.parametrize(
    "wrong",
    [
        {"objects": -1},
        {"objects": 1.5},
        {"objects": True},
        {"ties": 1001},
        {"objects": 0, "ties": 0},
        {"ties": 1, "startup": (("a", "b"), ("b", "c"))},
    ],
)
def test_numbers_of_objects_that_cannot_be_are_refused(wrong):
    with pytest.raises(ModelError, match=next(iter(wrong))):
        World(**wrong)


def test_a_tie_at_the_start_of_a_link_that_is_not_there_is_a_problem():
    robot = Robot(mujoco.MjSpec.from_string(XML))
    robot.devices.append(World(startup=(("arm", "othr"),)))
    assert [p.message for p in robot.check() if p.subject == "world"] == ["the link 'othr' does not exist"]


def test_a_model_without_links_has_nothing_to_tie():
    robot = Robot(mujoco.MjSpec.from_string("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>"))
    robot.devices.append(World(objects=0, ties=1))
    with pytest.raises(ModelError, match="no bodies"):
        robot.compile()
