"""The URDF that each arm hands out: what libfranka needs of it, and the arm's own limits and masses."""

from xml.etree import ElementTree

import pytest

import pliant
from pliant.franka.robots.build import ArmMount, build_arms
from pliant.franka.robots.entry import ROBOTS
from pliant.franka.robots.parameters import ARMS


def _robots():
    yield from (pytest.param(lambda name=robot.name: pliant.load(name), id=robot.name) for robot in ROBOTS)
    for kind in ARMS.values():
        mounts = [ArmMount(name="mine", arm=kind, hand="none"), ArmMount(name="other", arm=kind, position=(1.0, 0, 0))]
        yield pytest.param(lambda mounts=mounts: build_arms(mounts), id=f"own {kind.name}")


@pytest.mark.parametrize("make", list(_robots()))
def test_libfranka_finds_its_names_whatever_the_arm_is_called(make):
    arms = [device for device in make().devices if hasattr(device, "urdf")]
    assert arms
    for described in arms:
        robot, kind = ElementTree.fromstring(described.urdf), described.arm
        assert robot.get("name") == kind.name
        # libfranka takes the frame "link8" for the flange and reads beyond its arrays where no link has that name
        assert [link.get("name") for link in robot.findall("link")] == [f"link{i}" for i in range(9)]
        joints = robot.findall("joint")
        assert [joint.get("name") for joint in joints] == [f"joint{i}" for i in range(1, 9)]
        assert [joint.get("type") for joint in joints] == ["revolute"] * 7 + ["fixed"]
        for i, joint in enumerate(joints[:7]):
            limit, by_place = joint.find("limit"), joint.find("position_based_velocity_limits")
            given = [float(limit.get(name)) for name in ("lower", "upper", "velocity", "effort")]
            limits = kind.limits
            assert given == [
                values[i] for values in (limits.position_min, limits.position_max, limits.velocity, limits.torque)
            ]
            if limits.deceleration:
                assert float(by_place.get("deceleration_limit")) == limits.deceleration[i]
                assert float(by_place.get("velocity_offset")) == limits.velocity_offset[i]
            else:
                assert float(by_place.get("velocity_offset")) == 0.0
        masses = [float(link.find("inertial/mass").get("value")) for link in robot.findall("link")[:8]]
        assert masses == [link.mass for link in (kind.base, *kind.links)]
