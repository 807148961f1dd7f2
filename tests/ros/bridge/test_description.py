"""robot_description, /tf, /tf_static, /joint_states and odometry of every kind of robot agree with each other."""

import xml.etree.ElementTree as ET
from pathlib import Path
from urllib.parse import unquote, urlparse

import numpy as np
import pytest
from ros_runs import RosRun

from pliant.base.errors import ModelError
from pliant.base.spatial import quaternion_product, rotate
from pliant.engine.base import mujoco_state
from pliant.export.urdf import describe_urdf
from pliant.robots import build_robot
from pliant.robots.loading import load
from pliant.ros.bridge.description import MARK, described, serve_description
from pliant.ros2_control.tree import urdf_of_tree

PLAIN = """
<mujoco model="plain">
  <worldbody>
    <geom type="plane" size="1 1 0.1"/>
    <body name="trunk" pos="0 0 1" euler="10 20 30"><freejoint name="root"/><geom size="0.1"/>
      <body name="upper" pos="0.1 0 0">
        <joint name="yaw" axis="0 0 1" pos="0.02 0 0.01" ref="0.3"/><joint name="lift" type="slide" axis="0 1 1"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/>
        <body name="wrist" pos="0.3 0 0"><joint name="ball" type="ball" pos="0.01 0 0"/><geom size="0.03"/>
          <body name="plate" pos="0 0 0.05" euler="0 90 0"><geom type="box" size="0.1 0.1 0.01" pos="0 0 0.1"/></body>
        </body>
      </body>
    </body>
    <body name="loose" pos="2 0 1"><freejoint/><geom size="0.05"/></body>
  </worldbody>
  <actuator><position name="yaw_servo" joint="yaw" kp="50" kv="5"/></actuator>
</mujoco>
"""
ROBOTS = ("plain", "qbmove-2dof", "biped", "softfoot", "2RR", "Stewart_Gough_6PFS", "tdcr", "fr3", "franka-dual")


def robot_of(name, tmp_path):
    if name != "plain":
        return name
    path = tmp_path / "plain.xml"
    path.write_text(PLAIN)
    return load(path)


def built(name):
    return {"meshes": "shapes"} if name in ("fr3", "franka-dual") else {}


def transforms(run):
    found, of = {}, {}
    for topic in ("/tf_static", "/tf"):
        for message in run.wire.out[topic].messages() if topic in run.wire.out else ():
            for item in message["transforms"]:
                assert of.setdefault(item["child_frame_id"], topic) == topic
                found[item["child_frame_id"]] = item
    return found


def place(frame, edges):
    """Return position and quaternion of a frame in the world."""
    if frame == "world":
        return np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    edge = edges[frame]
    p, q = place(edge["header"]["frame_id"], edges)
    step, turn = edge["transform"]["translation"], edge["transform"]["rotation"]
    return (
        p + rotate(q, [step[a] for a in "xyz"]),
        quaternion_product(q, [turn[a] for a in "wxyz"]),
    )


@pytest.mark.parametrize(("name", "version"), [*((name, 2) for name in ROBOTS), ("plain", 1), ("fr3", 1)])
def test_frames_are_where_the_bodies_are_and_all_joints_of_the_description_have_a_state(name, version, tmp_path):
    with RosRun(robot_of(name, tmp_path), version, built(name), clock=False) as run:
        engine, topics = run.simulation.engine, run.bridge.topics
        qvel = engine.port("state/qvel")
        qvel[:] = np.random.default_rng(1).normal(size=qvel.size) * 0.05
        run.simulation.step(round(0.1 / engine.dt))
        root = ET.fromstring(run.wire.out["/robot_description"].messages()[0]["data"])
        links = {link.get("name") for link in root.findall("link")}
        kinds = {joint.get("name"): joint.get("type") for joint in root.findall("joint")}
        edges = transforms(run)
        mounted = {topics.frame(d) for d in topics.devices.values() if d.mount and topics.frame(d) != d.mount.body}
        # A Franka arm of ROS 1 sends the vendor's frames of its end effector, which are no links.
        own = {frame for frame in edges if frame.endswith(("_NE", "_EE", "_K"))}
        assert links == {"world", *edges} - mounted - own
        named = {n for t in ("", "/left", "/right") if f"{t}/joint_states" in run.wire.out
                 for m in run.wire.out[f"{t}/joint_states"].messages() for n in m["name"]}  # fmt: skip
        assert named == {n for n, kind in kinds.items() if kind in ("revolute", "continuous", "prismatic")}
        stamp = run.wire.out["/tf"].last()["transforms"][0]["header"]["stamp"]
        assert stamp == run.simulation.time_ns
        data, model = mujoco_state(engine, "test").data, run.robot.compile()
        mujoco_state(engine, "test").forward()
        offsets = described(topics).offsets
        for b in range(1, model.nbody):
            body = model.body(b).name
            p, q = place(topics.names.frame(body), edges)
            expected = data.xpos[b] + rotate(data.xquat[b], offsets[body])
            assert p == pytest.approx(expected, abs=1e-9), body
            assert abs(float(q @ data.xquat[b])) == pytest.approx(1.0, abs=1e-9), body


def test_an_arm_has_the_names_of_the_vendors_description():
    with RosRun("fr3", built={"meshes": "shapes"}, clock=False) as run:
        run.simulation.step(50)
        root = ET.fromstring(run.wire.out["/robot_description"].messages()[0]["data"])
        links = {link.get("name") for link in root.findall("link")}
        parts = {"fr3_hand", "fr3_hand_tcp", "fr3_leftfinger", "fr3_rightfinger"}
        assert links == {"world", *(f"fr3_link{i}" for i in range(9)), *parts}
        assert {edge["header"]["frame_id"] for edge in transforms(run).values()} <= links


def test_the_base_of_a_robot_has_odometry_and_a_loose_body_has_none(tmp_path):
    with RosRun(robot_of("plain", tmp_path), clock=False) as run:
        model = run.robot.compile()
        engine = run.simulation.engine
        address = int(model.jnt_dofadr[model.joint("root").id])
        engine.port("state/qvel")[address : address + 6] = (0.3, -0.2, 0.1, 0.5, 0.4, -0.6)
        run.simulation.step(round(0.04 / engine.dt))
        assert [t for t in run.wire.out if "odom" in t] == ["/toBEassigned/odom"]
        odometry = run.wire.out["/toBEassigned/odom"].last()
        assert (odometry["header"]["frame_id"], odometry["child_frame_id"]) == ("world", "trunk")
        qvel, qpos = engine.port("state/qvel"), engine.port("state/qpos")
        at = int(model.jnt_qposadr[model.joint("root").id])
        linear = odometry["twist"]["twist"]["linear"]
        turned = rotate(qpos[at + 3 : at + 7], [linear[a] for a in "xyz"])
        assert turned == pytest.approx(qvel[address : address + 3], abs=1e-12)
        angular = odometry["twist"]["twist"]["angular"]
        assert [angular[a] for a in "xyz"] == pytest.approx(qvel[address + 3 : address + 6].tolist())


def test_meshes_are_files_of_this_machine_that_are_written_once(tmp_path, monkeypatch):
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "cache"))
    tmp_path.joinpath("box.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    path = tmp_path / "mesh.xml"
    path.write_text(
        '<mujoco><asset><mesh name="part" file="box.obj"/></asset><worldbody><body name="b"><joint name="j"/>'
        '<geom type="mesh" mesh="part"/></body></worldbody></mujoco>'
    )
    files = set()
    for _ in range(2):
        with RosRun(load(path), clock=False) as run:
            root = ET.fromstring(run.wire.out["/robot_description"].messages()[0]["data"])
            files |= {mesh.get("filename") for mesh in root.iter("mesh")}
    (address,) = files
    assert urlparse(address).scheme == "file"
    assert Path(unquote(urlparse(address).path)).read_bytes()[80:84] == (4).to_bytes(4, "little")


def test_a_description_of_a_launch_file_stays_and_one_of_an_earlier_run_is_replaced():
    for before, stays in (("<robot name='mine'/>", True), (f"{MARK}<robot/>", False), (None, False)):
        run = RosRun("qbmove-1dof", 1, clock=False)
        run.simulation.close()
        assert run.wire.params["/robot_description"].count("<link") > 1
        run.wire.params["/robot_description"] = before
        serve_description(run.bridge.topics, described(run.bridge.topics))
        assert (run.wire.params["/robot_description"] == before) is stays


def test_what_urdf_cannot_carry_is_left_out_and_not_refused():
    robot = build_robot("2RR", {})
    with pytest.raises(ModelError, match="closes a loop"):
        describe_urdf(robot)
    root, _, source = urdf_of_tree(robot)
    assert len(root.findall("link")) >= robot.compile().nbody
    assert any("closes a loop" in note for note in source.notes)


def test_options_leave_description_and_frames_out():
    with RosRun("qbmove-2dof", tf=False, description=False, joint_states=None) as run:
        run.simulation.step(50)
        assert not {"/tf", "/tf_static", "/robot_description", "/joint_states"} & set(run.wire.out)
