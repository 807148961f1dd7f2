"""Pressure: two saturated rclpy nodes send to eight topics at 1 kHz; what reached the wire is taken, or it is said."""

import json
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import real

pytestmark = [pytest.mark.network, pytest.mark.slow]

COUNT = int(os.environ.get("PLIANT_PRESSURE_COUNT", "2000"))
"""Messages to each topic."""
JOINTS = "joint_1+joint_2+joint_3+joint_4"


def test_commands_of_two_saturated_nodes_are_taken_or_the_starved_topic_is_named():
    python, why = real.rclpy_python("jazzy")
    if python is None:
        pytest.skip(why)
    domain = real.free_domain()
    words = [
        "run",
        "qbmove-5dof",
        "--bridge",
        f"ros2:domain={domain}",
        "--duration",
        str(COUNT / 100 + 5),
        "--no-check",
        "--json",
    ]
    # All on one core, which is less than the two nodes alone take.
    core = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
    process = real.Program([*core, sys.executable, "-m", "pliant", *words], {**os.environ})
    nodes = []
    try:
        for kind in ("equilibrium_position", "stiffness_preset"):
            step = [python, real.FOLDER / "ros2_rclpy_steps.py", "storm", "qbmove_5dof", kind, JOINTS, str(COUNT)]
            nodes.append(real.Program([*core, *step], {**real.clean_env(), "ROS_DOMAIN_ID": str(domain)}))
        for node in nodes:
            real.finish(node, 200.0)
        out = real.finish(process, 200.0)
    finally:
        for item in (process, *nodes):
            item.close()
    said = json.loads(out)
    rows = {row["topic"]: row for row in said["served"]["ros2"] if row["direction"] == "in"}
    taken = {t: r["count"] for t, r in rows.items() if t.endswith(("equilibrium_position", "stiffness_preset"))}
    driven = {t: n for t, n in taken.items() if n}
    text = json.dumps(said["health"]["bridges"]["ros2"]["last_faults"])
    print(driven, text, process.text("err"))
    assert len(driven) == 8
    for topic, count in driven.items():
        assert count >= 0.99 * COUNT or f"{topic} is starved" in text, (topic, count)
        assert "peers" in rows[topic]
        assert rows[topic]["peers"]
