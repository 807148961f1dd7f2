"""Prefixes and remaps: one place gives all names on the graph."""

import pytest
from ros_runs import RosRun

from pliant.base.errors import BridgeError
from pliant.ros.bridge import RosOptions
from pliant.ros.bridge.graph_names import ROBOTS, GraphNames, read_remaps


def test_a_remap_holds_for_what_stands_below_a_name():
    names = GraphNames(remaps=read_remaps("/arm:/left/arm+/joint_states:/left/joint_states"))
    assert names.topic("/arm/state") == "/left/arm/state"
    assert names.topic("/joint_states") == "/left/joint_states"
    assert names.topic("/armchair") == "/armchair"


@pytest.mark.parametrize(
    "text",
    [
        "joint_states:/a",
        "/a",
        "/a:b",
        "/a:/b c",
        "/a:/b+/a:/c",
        "/a:/b+/c:/b",
        "/a:/",
        "/pliant/robots:/a",
        "/a:/pliant/robots",
    ],
)
def test_a_remap_that_is_none_or_collides_is_refused(text):
    with pytest.raises(BridgeError, match="remap"):
        RosOptions(remap=text)


@pytest.mark.parametrize(
    ("remap", "other"),
    [
        ("/joint_states:/clock", "/clock"),
        ("/joint_states:/qbmove_1dof/reference_1", "/qbmove_1dof/reference_1"),
        ("/pliant/pause:/pliant/resume", "/pliant/resume"),
    ],
)
def test_a_remap_onto_a_name_that_the_robot_has_is_refused_with_both(remap, other):
    with pytest.raises(BridgeError, match=f"{remap.partition(':')[0]}.*would both be {other}|{other} and"):
        RosRun("qbmove-1dof", remap=remap)


def names_of(run):
    wire = run.wire
    return sorted({*wire.out, *wire.into, *wire.services, *wire.actions})


@pytest.mark.nightly
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("robot", ["qbmove-1dof", "sea-1dof", "2RR"])
def test_no_name_of_a_robot_can_be_remapped_onto_another_one_and_each_can_be_onto_a_free_one(robot, version):
    with RosRun(robot, version=version, clock=False) as run:
        names = names_of(run)
    for k, name in enumerate(names):
        other = names[k - 1]
        if name == ROBOTS or other.startswith(f"{name}/") or name.startswith(f"{other}/"):
            continue  # a remap holds for what stands below a name
        with pytest.raises(BridgeError, match="remap"):
            RosRun(robot, version=version, clock=False, remap=f"{name}:{other}")
        with RosRun(robot, version=version, clock=False, remap=f"{name}:/free/name") as run:
            found = names_of(run)
        assert "/free/name" in found
        assert name not in found


@pytest.mark.parametrize(("field", "text"), [("prefix", "1_"), ("prefix", "a b"), ("frame_prefix", "/left/")])
def test_a_prefix_that_ros_does_not_take_is_refused(field, text):
    with pytest.raises(BridgeError, match=field):
        RosOptions(**{field: text})


def test_frames_have_both_prefixes_and_the_world_has_none():
    names = GraphNames(prefix="l_", frame_prefix="left/", joints={"a": "b"}, links={"c": "d"})
    assert (names.joint("a"), names.link("c"), names.frame("c"), names.frame("world")) == (
        "l_b", "l_d", "left/l_d", "world",
    )  # fmt: skip
    message = {"header": {"frame_id": "c"}, "name": ["a"], "parts": [{"child_frame_id": "c", "name": "text"}]}
    assert names.message(message) == {
        "header": {"frame_id": "left/l_d"},
        "name": ["l_b"],
        "parts": [{"child_frame_id": "left/l_d", "name": "text"}],
    }


@pytest.mark.parametrize("robot", ["qbmove-2dof", "biped", "2RR", "fr3"])
def test_no_name_of_joint_or_frame_escapes_the_prefix(robot):
    built = {"meshes": "shapes"} if robot == "fr3" else {}
    with RosRun(robot, built=built, prefix="p_", frame_prefix="f/", clock=False) as run:
        run.simulation.step(round(0.1 / run.simulation.engine.dt))
        found = {"joint": set(), "frame": set()}

        def look(value):
            for key, item in value.items() if isinstance(value, dict) else ():
                if key in ("frame_id", "child_frame_id"):
                    found["frame"].add(item)
                elif key in ("name", "joint_names") and isinstance(item, list):
                    found["joint"].update(item)
                look(item)
            for item in value if isinstance(value, list) else ():
                look(item)

        for topic in run.wire.out.values():
            for message in topic.messages()[-2:]:
                look(message)
        assert found["joint"]
        assert {name for name in found["joint"] if not name.startswith("p_")} == set()
        assert {name for name in found["frame"] if not name.startswith("f/p_")} <= {"world", ""}


def test_a_second_robot_has_its_services_under_its_node_and_leaves_those_of_the_clock_alone():
    with RosRun("qbmove-1dof") as first, RosRun("qbmove-1dof", namespace="b", clock=False, prefix="b_") as second:
        assert "/pliant/pause" in first.wire.services
        assert "/gazebo/pause_physics" in first.wire.services
        assert "/pliant_qbmove_1dof/pause" in first.wire.services
        assert not set(first.wire.services) & set(second.wire.services)
        assert second.wire.call("/pliant_b/pause")["success"]
        assert second.simulation.paused
        shared = set(first.wire.out) & set(second.wire.out)
        common = {"/diagnostics", "/joint_states", "/tf", "/tf_static", "/rosout", "/parameter_events"}
        assert shared == (common | {"/pliant/robots"}) & set(first.wire.out)
