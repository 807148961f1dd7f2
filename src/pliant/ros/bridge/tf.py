"""``/tf``: where each body is in the world; ``/tf_static``: where sensors are on their bodies."""

from __future__ import annotations

from pliant.ros.bridge.sensors import serve_sensor_frames
from pliant.ros.bridge.topics import RosTopics

__all__ = ["serve_tf"]

TF_RATE = 50.0
"""[Hz], the default of robot_state_publisher."""


def serve_tf(topics: RosTopics) -> None:
    """Send the pose of every body relative to ``world``; nothing where no engine is bound, as in a replay."""
    if topics.simulation is None:
        return
    serve_sensor_frames(topics)
    engine = topics.simulation.engine
    ports = engine.ports()
    bodies = [p[5:-9] for p in ports if p.startswith("body/") and p.endswith("/position") and p[5:-9] != "world"]
    if not bodies:
        return
    handle = topics.advertise("/tf", "tf2_msgs/TFMessage")
    places = [(engine.port(f"body/{b}/position"), engine.port(f"body/{b}/orientation")) for b in bodies]
    values = {
        "transforms": [
            {"header": {"frame_id": "world"}, "child_frame_id": b, "transform": {"rotation": {"w": 1.0}}}
            for b in bodies
        ]
    }
    numbered = topics.node.codec.version == 1
    paths: list[str] = []
    for i in range(len(bodies)):
        at = f"transforms[{i}]."
        paths += [f"{at}header.seq"] if numbered else []
        paths += [f"{at}header.stamp", *(f"{at}transform.translation.{a}" for a in "xyz")]
        paths += [f"{at}transform.rotation.{a}" for a in "wxyz"]
    fill = topics.template("tf2_msgs/TFMessage", values, paths)
    count = 0

    def write(stamp_ns: int) -> None:
        nonlocal count
        if handle.active:
            numbers: list[float] = []
            for position, orientation in places:
                numbers += [count, stamp_ns] if numbered else [stamp_ns]
                numbers += [*position.tolist(), *orientation.tolist()]
            handle.send(fill(*numbers))
            count = (count + 1) & 0xFFFFFFFF

    topics.at(TF_RATE, write)
