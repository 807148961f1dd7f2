"""A shadow beside robots of rospy, with Debian's roscore, and of rclpy: it names the stiffer spring, and their graphs
know nothing of it that could send."""

import json
import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import real

import pliant
from pliant.engine import MujocoEngine

pytestmark = [pytest.mark.network, pytest.mark.slow]
DESCRIBED = {"joint.mode": 6}


def write_log(path, seconds=14.0, period=0.01):
    """Write what a joint with a spring that is a fifth stiffer does."""
    robot = pliant.load("qbmove-1dof")
    for name, value in {**DESCRIBED, "joint.k1": 0.00228, "joint.k2": 0.00228}.items():
        robot.set(name, value)
    engine = MujocoEngine(robot)
    every = round(period / engine.dt)
    reference, position = engine.port("joint/reference_1"), engine.port("joint/position")
    lines = ["time,reference,position"]
    for k in range(round(seconds / period)):
        t = 10.0 + k * period
        reference[0] = 0.3 * math.sin(3.1 * t) + 0.15 * math.sin(10.7 * t)
        lines.append(f"{t:.6f},{reference[0]:.9f},{position[0]:.9f}")
        engine.step(every)
    path.write_text("\n".join(lines) + "\n")


def words(wire, where):
    options = [word for name, value in DESCRIBED.items() for word in ("--set", f"{name}={value}")]
    return ["shadow", "qbmove-1dof", *options, wire, where, "--duration", 11, "--window", 5, "--json"]


def check(out, said):
    """Check what the shadow named, and that the driver sent what it should; return what the driver said."""
    summary = json.loads(out.splitlines()[-1])["summary"]
    assert summary["messages"] > 1500
    assert summary["restarts"] == 0
    assert "joint spring" in summary["named"]
    result = json.loads(said.partition("RESULT ")[2].splitlines()[0])
    assert result["sent"] > 1000
    return result


@pytest.mark.skipif(real.rospy_python() is None, reason=f"no interpreter has rospy; type: {real.INSTALL}")
def test_a_shadow_beside_rospy_names_the_stiffer_spring_and_the_master_knows_no_publication_of_it(tmp_path):
    log = tmp_path / "log.csv"
    write_log(log)
    core = real.Roscore()
    where = f"master={core.env['ROS_MASTER_URI']},host=127.0.0.1,namespace=lab,clock=ros"
    driver = real.Program(
        [real.rospy_python(), Path(__file__).with_name("ros1_shadow_steps.py"), log, "0.01"], core.env
    )
    shadow = real.pliant(words("--ros1", where), core.env)
    try:
        core.wait_for("/lab/robot_state")
        real.until(lambda: core.state()[1].get("/lab/robot_state"), "the shadow subscribes")
        published, subscribed, services = core.state()
        ((name,),) = [subscribed["/lab/robot_state"]]
        assert not [topic for topic, nodes in published.items() if name in nodes]
        assert not [service for service, nodes in services.items() if name in nodes]
        out = real.finish(shadow, 240.0)
        said = real.finish(driver, 120.0)
    finally:
        shadow.close()
        driver.close()
        core.close()
    check(out, said)


@pytest.mark.parametrize("distro", ["jazzy", "kilted"])
def test_a_shadow_beside_rclpy_names_the_stiffer_spring_and_the_graph_knows_subscriptions_of_it_alone(distro, tmp_path):
    python, why = real.rclpy_python(distro)
    if python is None:
        pytest.skip(why)
    log, domain = tmp_path / "log.csv", real.free_domain()
    write_log(log)
    env = {**real.clean_env(), "ROS_DOMAIN_ID": str(domain)}
    driver = real.Program([python, Path(__file__).with_name("ros2_shadow_steps.py"), log, "0.01"], env)
    shadow = real.pliant(words("--ros2", f"domain={domain},namespace=lab,clock=ros"), env)
    try:
        out = real.finish(shadow, 240.0)
        said = real.finish(driver, 120.0)
    finally:
        shadow.close()
        driver.close()
    graph = check(out, said)
    assert set(graph["publishers"]) <= {"/ros_discovery_info"}
    assert graph["services"] == graph["clients"] == []
    assert {"/clock", "/lab/robot_state", "/lab/joint/equilibrium_position"} <= set(graph["subscriptions"])
    assert graph["commanders"] == ["lab_driver"]
    assert graph["heard"] == graph["sent"]  # on the topic of the commands: its own, and no other
