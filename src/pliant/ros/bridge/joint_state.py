"""A topic of joint states: sensor_msgs/JointState from the fields of a sample, or from the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.ros.bridge.control_topics import topic_joints
from pliant.ros.bridge.kinematics import KinematicTree
from pliant.ros.bridge.publication import Publication, picked
from pliant.ros.bridge.topics import RosTopics

RATE = 50.0
"""How often the joints of no board are sent [Hz], joint_state_controller's default."""


def joint_state(topic: str, names: Sequence[str], fields: Sequence[str], *, size: int, **options: Any) -> Publication:
    """Return the publication of a topic of joint states.

    Args:
        topic: full name.
        names: names of the joints; may be empty, as the toolbox's motor states have none.
        fields: fields of the sample for position [rad], velocity [rad/s], effort [N m]; those left out are not sent.
        size: number of elements of each field.
        options: ``every``, ``stamp``, ``when``, ``numbers`` or ``whole`` of `Publication`.
    """
    paths = ("position", "velocity", "effort")[: len(fields)]
    values = {"name": list(names), **{path: [0.0] * size for path in paths}}
    given = {"numbers": picked(*fields), **options}
    return Publication(topic=topic, type="sensor_msgs/JointState", paths=paths, values=values, **given)


def serve_other_joints(topics: RosTopics, tree: KinematicTree, joints: Sequence[str]) -> None:
    """Send the joints that no device has in ``/joint_states``, so that all of the description's have a position.

    Args:
        topics: the topics of the bridge; its devices are served already.
        tree: the tree of the robot.
        joints: the hinges and slides of the tree, by the model's names.
    """
    rate, names = topics.options.joint_states, topics.names
    known = topics.stated | topic_joints(topics)
    others = [i for i, joint in enumerate(joints) if not {joint, names.joints.get(joint, joint)} & known]
    if rate is None or not others or topics.simulation is None:
        return
    topics.stated.update(joints[i] for i in others)
    engine = topics.simulation.engine
    qpos, qvel = engine.port("state/qpos"), engine.port("state/qvel")
    positions, velocities = tree.addresses[others], tree.velocities[others]
    zeros = np.zeros(len(others)).tolist()
    values = {"name": [joints[i] for i in others], "position": zeros, "velocity": zeros}
    topic, kind = "/joint_states", "sensor_msgs/JointState"
    handle = topics.advertise(topic, kind)
    fill = topics.stamped(kind, values, ["position", "velocity"], topic=topic)

    def write(stamp_ns: int) -> None:
        if handle.active:
            handle.send(fill(stamp_ns, qpos[positions], qvel[velocities]))

    topics.at(rate or RATE, write)
