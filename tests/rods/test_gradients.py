"""Gradients of equilibria by the numbers of a robot, against exact values and against solving again."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from pliant.base.errors import ModelError
from pliant.base.spatial import exp_so3, pose, pose_error, rotation_from_rpy
from pliant.rods import BaseJoint, DistalJoint, Limb, Measurement, Plate, RobotDescription, Rod, Round, load_robot
from pliant.rods.gradients import OUTPUTS
from pliant.rods.parameters import parameter_names, parameter_scale, parameter_value, with_parameter, with_values
from pliant.rods.robot import ContinuumParallelRobot

robots = functools.cache(load_robot)
GEOMETRY = [f"limb{i}.{what}" for i in range(1, 7) for what in ("base.x", "plate_joint.y")]


def displaced(robot):
    home = robot.home()
    if robot.planar:
        return robot.solve_igm(home.pose2d + np.array([0.01, 0.02, 0.03]), start=home)
    X = home.plate_pose.copy()
    X[:3, 3] += 0.02, 0.03, 0.02
    X[:3, :3] = exp_so3([0.05, 0.04, 0.03]) @ X[:3, :3]
    return robot.solve_igm(X, start=home)


def solved_again(solution, name, step):
    """Return the outputs of the robot with a changed parameter, solved anew."""
    robot, d = solution.robot, solution.robot.description
    other = ContinuumParallelRobot(with_parameter(d, name, parameter_value(d, name) + step))
    start = solution._moved_to(other)
    load = solution.wrench[[0, 1, 5] if robot.planar else slice(6)]
    if solution.inverse:
        pose = solution.pose2d if robot.planar else solution.plate_pose
        s = other.solve_igm(pose, load, start=start, branch="smooth")
    else:
        s = other.solve_dgm(solution.q, load, start=start, branch="smooth")
    twist = pose_error(s.plate_pose, solution.plate_pose)
    return {
        "joints": s.q, "pose": twist[[0, 1, 5]] if robot.planar else twist, "base_wrenches": s.base_wrenches,
        "actuator_forces": s.actuator_forces(), "stiffness": s.plate_stiffness,
        "smallest_stiffness": s.smallest_stiffness, "stability_margin": s.stability_margin,
    }  # fmt: skip


def difference(solution, name):
    """Return fourth-order differences of the outputs, and the size of each output by the parameter's scale."""
    scale = parameter_scale(solution.robot.description, name)
    h = 3e-4 * scale
    a, b, c, d = (solved_again(solution, name, k * h) for k in (1, -1, 2, -2))
    slopes = {key: np.asarray((8.0 * (a[key] - b[key]) - (c[key] - d[key])) / (12.0 * h)) for key in a}
    return slopes, {key: (np.abs(a[key]).max() if key != "pose" else 0.1) / scale for key in a}


def test_twelve_gradients_of_geometry_agree_with_solving_again_to_1e_6():
    s = displaced(robots("Stewart_Gough_6PFR"))
    found = s.gradients(GEOMETRY)
    for k, name in enumerate(GEOMETRY):
        want = difference(s, name)[0]["joints"]
        assert found.joints[k] == pytest.approx(want, abs=1e-6 * np.abs(want).max(), rel=1e-6)


@pytest.mark.parametrize(
    ("name", "direct", "parameters"),
    [
        ("Stewart_Gough_6PFR", True, ["limb2.joint1.axis.x", "limb2.attach.pitch", "plate_radius", "radius"]),
        (
            "Stewart_Gough_6EFR",
            False,
            ["plate.com.x", "plate.mass", "limb1.plate_joint.axis.y", "gravity.x", "density"],
        ),
        ("3RR", True, ["limb1.base.angle", "plate_joint.x", "length", "young_modulus"]),
    ],
)
def test_gradients_of_forces_stiffness_and_stability_agree_with_solving_again(name, direct, parameters):
    s = displaced(robots(name))
    if direct:
        load = (0.05, 0.03, 0.002) if s.robot.planar else (0.3, 0.2, -0.5, 0.01, 0.02, 0.01)
        s = s.robot.solve_dgm(s.q, load, start=s)
    found = s.gradients(parameters, OUTPUTS)
    for parameter in parameters:
        want, size = difference(s, parameter)
        for key, value in found.of(parameter).items():
            noise = 1e-5 * size[key]
            assert value == pytest.approx(want[key], abs=3e-5 * np.abs(want[key]).max() + noise), (parameter, key)


def test_a_shift_of_all_bases_along_the_sliders_is_taken_back_by_the_sliders():
    found = displaced(robots("Stewart_Gough_6PFR")).gradients(["base.z", "limb3.joint1.z"], ["stiffness"])
    assert found.joints[0] == pytest.approx(-np.ones(6), abs=1e-8)
    assert found.joints[1] == pytest.approx([0, 0, -1, 0, 0, 0], abs=1e-8)
    assert found.base_wrenches == pytest.approx(np.zeros((2, 6, 6)), abs=1e-6)
    assert found.stiffness is not None
    assert np.abs(found.stiffness).max() < 1e-7 * 6e5 / 1e-3


def test_an_offset_moves_the_plate_as_its_joint_does_and_is_taken_back_by_the_command():
    s = displaced(robots("Stewart_Gough_6PFR"))
    assert s.sensitivity("limb4.offset") == pytest.approx(-np.eye(6)[3])
    direct = s.robot.solve_dgm(s.q, start=s)
    assert direct.sensitivity("limb4.offset") == pytest.approx(direct.jacobian()[:, 3], rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("name", ["Stewart_Gough_6PFR", "3RR"])
def test_every_parameter_can_be_read_and_changed_and_leaves_the_others_alone(name):
    description = load_robot(name).description
    names = [one for one in parameter_names(description) if not one.endswith("offset")]
    for one in [name for name in names if "limb" not in name or name.startswith("limb2")]:
        value = parameter_value(description, one)
        other = with_parameter(description, one, value + 1e-3 * parameter_scale(description, one))
        moved = parameter_value(other, one) - value
        assert moved == pytest.approx(1e-3 * parameter_scale(description, one), rel=1e-6), one
        untouched = [n for n in names if n.startswith("limb1.")] if one.startswith("limb2") else []
        assert all(parameter_value(other, n) == parameter_value(description, n) for n in untouched)


def unequal_tripod():
    """Three rods of different length, radius, material and weight, on universal joints."""
    limbs = []
    for k, (length, radius, E, density) in enumerate(
        [(0.5, 1e-3, 200e9, 7850), (0.55, 1.2e-3, 90e9, 2000), (0.45, 0.9e-3, 60e9, 4000)]
    ):
        turn = rotation_from_rpy((0.1 * k, 0.0, 2.0 * np.pi * k / 3.0))
        limbs.append(
            Limb(
                rod=Rod(
                    length=length, section=Round(radius=radius), young_modulus=E, shear_modulus=E / 2.6, density=density
                ),
                joints=(BaseJoint(kind="prismatic"),),
                base=pose(turn @ (0.1, 0.0, 0.0), turn),
                distal=DistalJoint(
                    kind="universal",
                    pose=pose(turn @ (0.06, 0.0, 0.0), turn),
                    axis=(2.0, 1.0, 0.0),
                    axis_2=(-1.0, 2.0, 1.0),
                ),
            )
        )
    return ContinuumParallelRobot(RobotDescription(
        name="unequal", limbs=tuple(limbs), plate=Plate(mass=0.05, com=(0.0, 0.01, 0.005)), home=pose((0.0, 0.0, 0.49)),
        home_joints=(0.0, -0.05, 0.05), controlled=("z", "rx", "ry"),
    ))  # fmt: skip


def test_gradients_of_rods_that_differ_agree_with_solving_again_for_every_number_of_the_robot():
    robot = unequal_tripod()
    s = robot.solve_dgm([0.01, -0.05, 0.05], [0.1, 0.0, -0.2, 0.0, 0.01, 0.0])
    names = [name for name in parameter_names(robot.description) if "limb" not in name or name.startswith("limb 2")]
    names = [name for name in names if "offset" not in name]
    assert {"length", "radius", "density", "limb 2.plate_joint.axis.y", "limb 2.plate_joint.axis_2.x"} <= set(names)
    found = s.gradients(names)
    for name in names:
        slopes, size = difference(s, name)
        assert found.of(name)["pose"] == pytest.approx(slopes["pose"], rel=1e-5, abs=1e-5 * size["pose"]), name


def test_a_number_of_all_rods_that_is_set_to_its_own_value_changes_none_of_them():
    description = unequal_tripod().description
    names = [name for name in parameter_names(description) if not name.endswith("offset")]
    before = {name: parameter_value(description, name) for name in names}
    for name in names:
        other = with_parameter(description, name, before[name])
        assert {one: parameter_value(other, one) for one in names} == pytest.approx(before, rel=1e-12, abs=1e-15), name


def test_identification_of_rods_that_differ_finds_what_the_poses_of_a_soft_plate_tell():
    robot = unequal_tripod()
    rng = np.random.default_rng(0)
    data = []
    for q in robot.home().q + 0.01 * rng.normal(size=(6, 3)):
        wrench = rng.normal(size=6) * [0.01, 0.01, 0.01, 1e-3, 1e-3, 1e-3]
        data.append(Measurement(q=q, pose=robot.solve_dgm(q, wrench).plate_pose, wrench=wrench))
    off = with_values(robot.description, {"young_modulus": 190e9, "limb 1.length": 0.502})
    found = ContinuumParallelRobot(off).identify(data, ["young_modulus", "limb 1.length"])
    assert found.values["young_modulus"] == pytest.approx(200e9, rel=1e-3)
    assert found.values["limb 1.length"] == pytest.approx(0.5, abs=1e-6)
    assert found.description.limbs[1].rod.young_modulus == pytest.approx(90e9, rel=1e-3)
    assert all(0.0 < one < np.inf for one in found.deviations.values())


def test_rods_of_which_only_the_first_has_no_weight_are_asked_for_by_name():
    description = unequal_tripod().description
    first = with_parameter(description, "limb 1.density", 0.0)
    with pytest.raises(ModelError, match="density: the first limb has 0 and limb 2 has 2000; name the limbs"):
        with_parameter(first, "density", 1000.0)


def test_unknown_parameters_and_outputs_are_named_with_their_nearest():
    home = robots("Stewart_Gough_6PFR").home()
    with pytest.raises(ModelError, match=r"did you mean 'limb1\.base\.x'"):
        home.gradients(["limb1.bse.x"])
    with pytest.raises(ModelError, match="did you mean 'stiffness'"):
        home.gradients(["radius"], ["stifness"])
    with pytest.raises(ModelError, match="this robot has none"):
        home.gradients(["width"])
