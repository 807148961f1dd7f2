"""The rigid part of a robot as the checks see it: inertia, loads and the stiffness of its own springs and servos."""

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest

import pliant
from pliant.base.errors import ModelError
from pliant.engine import MujocoEngine
from pliant.laws import SEA, CompliantActuator
from pliant.model import Robot
from pliant.model.check import check
from pliant.model.check.bodies import JOINTS, bodies_of, compile_bodies
from pliant.robots import build_robot

pytestmark = pytest.mark.quick

ARM = """
<mujoco>
  <compiler autolimits="true"/>
  <worldbody>
    <body>
      <joint name="servo" type="hinge" axis="0 1 0" stiffness="2"/>
      <geom type="sphere" size="0.05" mass="1" pos="0.5 0 0"/>
    </body>
    <body pos="0 1 0">
      <joint name="slide" type="slide" axis="0 0 1" range="-0.02 0.03"/>
      <geom type="sphere" size="0.05" mass="3"/>
    </body>
  </worldbody>
  <actuator>
    <position joint="servo" kp="10" gear="3"/>
    <position joint="servo" kp="5" gear="-2"/>
    <general joint="slide" biastype="affine" biasprm="0 40 0"/>
    <motor joint="slide"/>
  </actuator>
</mujoco>
"""


@pytest.fixture(scope="module")
def arm():
    return bodies_of(mujoco.MjModel.from_xml_string(ARM), poses=3, seed=0)


def test_springs_and_servos_of_a_joint_add_up_with_the_square_of_their_gear(arm):
    # A servo with a gear of g pulls with g kp (u - g q). One that pushes away from its goal holds nothing.
    assert arm.stiffness == pytest.approx([2.0 + 10.0 * 9.0 + 5.0 * 4.0, 0.0])


def test_inertia_and_loads_are_those_of_the_moved_masses(arm):
    assert arm.inertia(0) == pytest.approx(1.0 * 0.5**2 + 0.4 * 1.0 * 0.05**2)
    assert arm.inertia(1) == pytest.approx(3.0)
    assert arm.gravity == pytest.approx([1.0 * 9.81 * 0.5, 3.0 * 9.81], rel=1e-12)
    assert np.shape(arm.inverse) == (4, 2, 2)


def test_every_joint_type_of_a_compiled_model_is_compared_with_plain_numbers():
    # MuJoCo's enumeration, on the left, is unequal to the numbers of a model: a membership test would never hold.
    model = mujoco.MjModel.from_xml_string(ARM)
    assert [kind in JOINTS for kind in model.jnt_type] == [True, True]
    assert all(type(kind) is int for kind in JOINTS)
    enumerations = re.compile(r"^\s*(\w+) = \((?:mujoco\.mjt\w+\.\w+(?:, )?)+\)", re.MULTILINE)
    for path in sorted(Path(pliant.__file__).parent.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for name in enumerations.findall(text):
            assert not re.search(rf"\w+_\w*type\[[^\]]*\] (?:not )?in {name}\b", text), f"{path}: {name}"
        assert not re.search(r"\w+_\w*type\[[^\]]*\] (?:not )?in \(\s*mujoco\.mjt", text), str(path)


def test_random_poses_move_the_joints_within_their_limits():
    # The inertia that a first joint moves depends on the angle of the second one.
    elbow = """<mujoco><worldbody><body><joint axis="0 1 0"/><geom size="0.1" mass="1"/>
      <body pos="1 0 0"><joint axis="0 1 0" range="-90 90"/><geom size="0.1" mass="1" pos="1 0 0"/></body>
    </body></worldbody></mujoco>"""
    bodies = bodies_of(mujoco.MjModel.from_xml_string(elbow), poses=8, seed=1)
    inertias = [1.0 / inverse[0, 0] for inverse in bodies.inverse]
    assert len({round(inertia, 9) for inertia in inertias}) == 9
    assert bodies.inertia(0) == pytest.approx(min(inertias))


SEEN = """
<mujoco><asset><mesh name="m" vertex="{vertices}"/></asset><worldbody>
<body name="link"><joint name="joint" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.1" size="0.01" mass="0.5"/>
<geom name="shape" type="{kind}" mesh="m" {more}/></body></worldbody></mujoco>
"""
TETRAHEDRON = "0 0 0  0.1 0 0  0 0.1 0  0 0 0.1"
ONLY_SEEN = 'mass="0" contype="0" conaffinity="0"'


def robot_with_mesh(vertices=TETRAHEDRON, kind="mesh", more=ONLY_SEEN):
    return Robot(mujoco.MjSpec.from_string(SEEN.format(vertices=vertices, kind=kind, more=more)))


@pytest.mark.parametrize("name", ["fr3", "franka-dual", "fr3-tdcr", "softfoot"])
def test_the_bodies_are_the_same_without_what_is_only_seen(name):
    robot = build_robot(name)
    whole, bare = compile_bodies(robot), compile_bodies(robot, surfaces=False)
    assert bare.nmesh == 0
    assert (whole.nq, whole.nv, whole.nu, whole.ngeom) == (bare.nq, bare.nv, bare.nu, bare.ngeom)
    for one, other in zip(bodies_of(whole, 2, 0).inverse, bodies_of(bare, 2, 0).inverse, strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(bodies_of(whole, 2, 0).gravity, bodies_of(bare, 2, 0).gravity)
    assert robot.check() == check(robot, surfaces=False)


@pytest.mark.parametrize(
    ("kind", "more", "meshes"),
    [
        ("mesh", ONLY_SEEN, 0),
        ("mesh", 'mass="0"', 1),
        ("mesh", 'contype="0" conaffinity="0"', 1),
        ("box", ONLY_SEEN, 1),
        ("mesh", ONLY_SEEN + '/><geom type="mesh" mesh="m" mass="0.1"', 1),
    ],
)
def test_a_mesh_that_collides_has_mass_or_gives_a_size_is_compiled(kind, more, meshes):
    assert compile_bodies(robot_with_mesh(kind=kind, more=more), surfaces=False).nmesh == meshes


def test_a_fault_of_a_mesh_that_is_only_seen_is_found_by_the_check_and_by_the_engine():
    flat = robot_with_mesh("0 0 0  0.1 0 0  0.2 0 0  0.3 0 0")
    assert [p.severity for p in flat.check()][:1] == ["error"]
    with pytest.raises(ModelError, match="m"):
        MujocoEngine(flat)


SEA_JOINT = CompliantActuator(SEA(k=10.0))


def test_a_world_of_many_free_bodies_is_checked_without_its_inertia_matrix(monkeypatch):
    monkeypatch.setattr(mujoco, "mj_fullM", None)
    text = '<mujoco><worldbody><body><freejoint/><geom size=".1" mass="1"/></body></worldbody></mujoco>'
    assert not [p for p in check(Robot(mujoco.MjSpec.from_string(text))) if p.severity == "error"]


def test_joints_that_move_a_body_in_the_same_way_are_named():
    axes = {"x": "1 0 0", "y": "0 1 0", "both": "1 1 0", "z": "0 0 1"}
    joints = "".join(f'<joint name="{name}" type="slide" axis="{axis}"/>' for name, axis in axes.items())
    text = f'<mujoco><worldbody><body>{joints}<geom size=".1" mass="1"/></body></worldbody></mujoco>'
    rigid = Robot(mujoco.MjSpec.from_string(text))
    assert not [problem for problem in check(rigid) if problem.severity == "error"]  # MuJoCo steps it
    robot = Robot(mujoco.MjSpec.from_string(text), {"x": SEA_JOINT})
    (error,) = (problem for problem in check(robot) if problem.severity == "error")
    assert error.subject == "x"
    assert error.message.startswith("the joints 'x', 'y', 'both' move the same bodies in the same way")
    with pytest.raises(ModelError, match="singular; remove one of them"):
        MujocoEngine(robot)
