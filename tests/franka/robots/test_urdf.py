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


def _numbers(element, path, *names):
    found = element.find(path)
    assert found is not None, path
    return [float(found.get(name, "nan")) for name in names]


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
            limits, place = kind.limits, "position_based_velocity_limits"
            assert _numbers(joint, "limit", "lower", "upper", "velocity", "effort") == [
                values[i] for values in (limits.position_min, limits.position_max, limits.velocity, limits.torque)
            ]
            offset, deceleration = _numbers(joint, place, "velocity_offset", "deceleration_limit")
            if limits.deceleration:
                assert (offset, deceleration) == (limits.velocity_offset[i], limits.deceleration[i])
            else:
                assert (offset, deceleration) == (0.0, 1e6)
        links = robot.findall("link")[:8]
        assert [_numbers(link, "inertial/mass", "value") for link in links] == [
            [link.mass] for link in (kind.base, *kind.links)
        ]
