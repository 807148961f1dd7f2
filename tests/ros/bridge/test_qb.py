"""What the qb_move packages serve, as a client of ROS 1 meets it."""

import math
from itertools import pairwise

import pytest
from ros1_world import until

from pliant.base.errors import BridgeError
from pliant.ros.bridge.qb import GOAL_TOLERANCE, PATH_TOLERANCE, QB_PRESET

pytestmark = pytest.mark.network
MS = 1_000_000
BASE = "/toBEassigned/joint/control/joint_{}_trajectory_controller"
SHAFT, MOTORS = BASE.format("position_and_preset"), BASE.format("motor_positions")
SHAFT_JOINTS = ["joint_shaft_joint", "joint_stiffness_preset_virtual_joint"]
MOTOR_JOINTS = ["joint_motor_1_joint", "joint_motor_2_joint"]
KIND = "control_msgs/FollowJointTrajectory"
ACTIVE, PREEMPTED, SUCCEEDED, ABORTED, REJECTED, RECALLED = 1, 2, 3, 4, 5, 8


class Client:
    """An action client of the plainest kind."""

    def __init__(self, item, base):
        action = f"{base}/follow_joint_trajectory"
        self.item, self.count = item, 0
        if item.client is None:
            item.connect()
        self.results = item.hear(f"{action}/result", f"{KIND}ActionResult")
        self.feedback = item.hear(f"{action}/feedback", f"{KIND}ActionFeedback")
        self.status = item.hear(f"{action}/status", "actionlib_msgs/GoalStatusArray")
        self._goal = item.speak(f"{action}/goal", f"{KIND}ActionGoal")
        self._cancel = item.speak(f"{action}/cancel", "actionlib_msgs/GoalID")

    def send(self, joints, *points, id=None, stamp=0, start=0, **goal):
        self.count += 1
        rows = [{"positions": list(p), "time_from_start": round(t * 1e9), **more} for t, p, more in points]
        trajectory = {"joint_names": joints, "points": rows, "header": {"stamp": start}}
        id = f"g{self.count}" if id is None else id
        self._goal(goal_id={"id": id, "stamp": stamp}, goal={"trajectory": trajectory, **goal})
        return id

    def cancel(self, **which):
        self._cancel(**which)

    def begun(self):
        """Run the simulation until the newest goal moves the joints."""

        def active():
            self.item.simulation.step(1)
            return self.status and any(one["status"] == ACTIVE for one in self.status[-1]["status_list"])

        until(active, "the goal is taken up")

    def result(self, steps=0):
        """Run the simulation, then wait for one more result; return status, error code, texts."""
        before = len(self.results)
        self.item.simulation.step(steps) if steps else None
        until(lambda: len(self.results) > before or (steps == 0 and self.results), "a result")
        last = self.results[-1]
        return last["status"]["status"], last["result"]["error_code"], last["result"]["error_string"]


@pytest.fixture
def free(world):
    """A qbMove without load: its shaft goes where its motors are."""

    def make(mode=6):
        item = world(mode)
        item.simulation.step(10)  # the joint has been measured
        return item

    return make


def point(t, *positions, **more):
    return t, positions, more


@pytest.mark.parametrize("mode", [3, 5, 6])
def test_a_goal_is_reached_and_reported(free, mode):
    item = free(mode)
    client = Client(item, SHAFT)
    client.send(SHAFT_JOINTS, point(1.0, 0.3, 0.8), path_tolerance=[{"name": SHAFT_JOINTS[0], "position": 0.2}],
                goal_tolerance=[{"name": SHAFT_JOINTS[0], "position": 0.05}])  # fmt: skip
    item.simulation.step(500)
    until(lambda: client.status[-1]["status_list"] and client.status[-1]["status_list"][0]["status"] == ACTIVE)
    assert client.result(900) == (SUCCEEDED, 0, "")
    until(lambda: client.status[-1]["status_list"][0]["status"] == SUCCEEDED)
    reached = item.simulation.sample("joint").values
    assert reached["equilibrium"] == pytest.approx(0.3, abs=0.01)
    assert reached["preset"] == pytest.approx(0.8 * QB_PRESET, abs=0.01)
    ids = {f["status"]["goal_id"]["id"] for f in client.feedback}
    assert ids == {"g1"}
    stamps = [f["feedback"]["header"]["stamp"] // MS for f in client.feedback]
    assert {b - a for a, b in pairwise(stamps)} == {50}
    middle = next(f["feedback"] for f in client.feedback if f["feedback"]["header"]["stamp"] == 500 * MS)
    desired, actual, error = (middle[part]["positions"] for part in ("desired", "actual", "error"))
    assert desired[0] == pytest.approx(0.3 * 0.489, abs=0.001)
    assert error.tolist() == pytest.approx((desired - actual).tolist())
    assert middle["desired"]["velocities"][0] == pytest.approx(0.3, rel=0.01)


def test_the_other_controller_moves_the_motors(free):
    item = free()
    client = Client(item, MOTORS)
    client.send(MOTOR_JOINTS, point(0.5, 0.4, 0.1))
    assert client.result(800) == (SUCCEEDED, 0, "")
    values = item.simulation.sample("joint").values
    assert (values["motor_1_position"], values["motor_2_position"]) == pytest.approx((0.4, 0.1), abs=GOAL_TOLERANCE)


def test_the_path_tolerance_of_the_packages_is_kept_by_default(free):
    # The motors of the template need about 20 ms to follow: 8 rad/s leave 0.05 rad at once.
    client = Client(free(), MOTORS)
    client.send(MOTOR_JOINTS, point(0.1, 0.8, 0.8))
    status, code, text = client.result(150)
    assert (status, code) == (ABORTED, -4)
    assert "joint_motor_1_joint has a position error of" in text
    assert f"the tolerance is {PATH_TOLERANCE:g}" in text


def test_the_goals_tolerances_count_where_it_gives_them(free):
    item = free()
    client = Client(item, MOTORS)
    loose = [{"name": joint, "position": -1.0} for joint in MOTOR_JOINTS]
    client.send(MOTOR_JOINTS, point(0.1, 0.8, 0.8), path_tolerance=loose)
    assert client.result(800) == (SUCCEEDED, 0, "")
    tight = [{"name": MOTOR_JOINTS[1], "position": 1e-9}]
    client.send(MOTOR_JOINTS, point(0.5, 0.7, 0.6), goal_tolerance=tight, path_tolerance=loose)
    status, code, text = client.result(900)
    assert (status, code) == (ABORTED, -5)
    assert "joint_motor_2_joint" in text
    assert "the tolerance is 1e-09" in text


def test_a_goal_gets_its_time_to_arrive(free):
    item = free()
    client = Client(item, MOTORS)
    loose = [{"name": joint, "position": -1.0} for joint in MOTOR_JOINTS]
    client.send(MOTOR_JOINTS, point(0.1, 0.8, 0.8), path_tolerance=loose, goal_time_tolerance=-1)
    assert client.result(150)[:2] == (ABORTED, -5)
    began = item.simulation.time_ns
    client.send(MOTOR_JOINTS, point(0.1, 0.0, 0.0), path_tolerance=loose, goal_time_tolerance=2_000_000_000)
    assert client.result(2500)[0] == SUCCEEDED
    assert client.results[-1]["header"]["stamp"] - began > 100 * MS


def test_a_soft_joint_under_load_leaves_the_path_as_its_spring_says(free):
    item = free()
    client = Client(item, SHAFT)
    load = item.speak("/toBEassigned/joint/external_torque", "std_msgs/Float64")
    load(data=0.5)
    item.simulation.step(1000)
    client.send(SHAFT_JOINTS, point(1.0, 0.3, 0.1))
    status, code, text = client.result(300)
    assert (status, code) == (ABORTED, -4)
    assert "joint_shaft_joint has a position error of" in text


@pytest.mark.parametrize(
    ("joints", "points", "more", "code", "said"),
    [
        (["joint_shaft_joint", "elbow"], [point(1.0, 0.3, 0.1)], {}, -2, "joint_names are"),
        (SHAFT_JOINTS, [point(1.0, 0.3, 1.5)], {}, -1, "must be 0 to 1"),
        (SHAFT_JOINTS, [point(1.0, math.nan, 0.5)], {}, -1, "finite"),
        (SHAFT_JOINTS, [], {}, -1, "has 0 points"),
        (SHAFT_JOINTS, [point(1.0, 0.3, 0.5), point(1.0, 0.3, 0.5)], {}, -1, "increasing times"),
        (SHAFT_JOINTS, [point(0.001, 0.3, 0.5)], {"start": 2 * MS}, -3, "ended at 0.003 s"),
        (SHAFT_JOINTS, [point(1.0, 0.3, 0.5)], {"path_tolerance": [{"name": "x", "position": 1}]}, -2, "for 'x'"),
        (
            SHAFT_JOINTS, [point(1.0, 0.3, 0.5)],
            {"goal_tolerance": [{"name": SHAFT_JOINTS[0], "position": math.nan}]}, -1, "tolerance of joint_shaft_joint",
        ),
    ],
)  # fmt: skip
def test_a_goal_that_is_not_valid_is_rejected_with_its_code(free, joints, points, more, code, said):
    item = free()
    client = Client(item, SHAFT)
    client.send(joints, *points, **more)
    status, found, text = client.result()
    assert (status, found) == (REJECTED, code)
    assert said in text
    assert any(said in fault for fault in item.bridge.health()["last_faults"])


def test_a_mode_without_positions_takes_no_goal(free):
    item = free(4)
    client = Client(item, SHAFT)
    client.send(SHAFT_JOINTS, point(1.0, 0.3, 0.5))
    assert client.result()[0] == REJECTED
    assert "mode 4" in client.results[0]["result"]["error_string"]


def test_a_goal_is_cancelled_and_the_joint_stays_there(free):
    item = free()
    client = Client(item, MOTORS)
    id = client.send(MOTOR_JOINTS, point(2.0, 0.8, 0.8))
    item.simulation.step(500)
    client.cancel(id=id)
    assert client.result(2)[0] == PREEMPTED
    held = item.simulation.engine.port("joint/reference_1")[0]
    assert held == pytest.approx(0.2, abs=0.01)
    item.simulation.step(300)
    assert item.simulation.engine.port("joint/reference_1")[0] == held


def test_goals_are_recalled_before_they_begin_and_before_they_come(free):
    item = free()
    client = Client(item, SHAFT)
    client.send(SHAFT_JOINTS, point(1.0, 0.3, 0.5), id="waiting")
    client.cancel()  # all of them
    assert client.result()[0] == RECALLED
    client.cancel(id="late")
    client.send(SHAFT_JOINTS, point(1.0, 0.3, 0.5), id="late")
    until(lambda: len(client.results) == 2)
    client.cancel(stamp=77)
    client.send(SHAFT_JOINTS, point(1.0, 0.3, 0.5), id="old", stamp=76)
    until(lambda: len(client.results) == 3)
    assert [r["status"]["status"] for r in client.results] == [RECALLED] * 3
    client.send(SHAFT_JOINTS, point(1.0, 0.3, 0.5), id="new", stamp=78)
    item.simulation.step(5)
    until(lambda: client.status[-1]["status_list"][-1] | {"text": ""}
          == {"goal_id": {"id": "new", "stamp": 78}, "status": ACTIVE, "text": ""})  # fmt: skip


def test_a_goal_that_is_sent_twice_is_one_and_one_without_a_name_gets_one(free):
    item = free()
    client = Client(item, SHAFT)
    client.send(SHAFT_JOINTS, point(1.0, 0.3, 0.5), id="twice")
    client.send(SHAFT_JOINTS, point(1.0, 0.3, 0.5), id="twice")
    client.send(SHAFT_JOINTS, point(1.0, 0.3, 0.5), id="")
    item.simulation.step(5)
    until(lambda: len(client.status[-1]["status_list"]) == 2)
    until(lambda: [s["status"] for s in client.status[-1]["status_list"]] == [PREEMPTED, ACTIVE])
    assert client.status[-1]["status_list"][1]["goal_id"]["id"].startswith("/pliant_toBEassigned-")


@pytest.mark.parametrize("base", [SHAFT, MOTORS])
def test_a_trajectory_on_a_command_topic_ends_the_goal(free, base):
    item = free()
    client = Client(item, SHAFT)
    client.send(SHAFT_JOINTS, point(1.0, 0.3, 0.5))
    client.begun()
    item.simulation.step(100)
    command = item.speak(f"{base}/command", "trajectory_msgs/JointTrajectory")
    joints = SHAFT_JOINTS if base == SHAFT else MOTOR_JOINTS
    command(joint_names=joints, points=[{"positions": [0.2, 0.1], "time_from_start": 100 * MS}])
    assert client.result(5)[0] == PREEMPTED
    item.simulation.step(150)
    first = item.simulation.engine.port("joint/reference_1")[0]
    assert first == pytest.approx(0.2 if base == SHAFT else 0.15)


def test_a_goal_of_the_other_controller_takes_over_where_the_joint_is(free):
    item = free()
    shaft, motors = Client(item, SHAFT), Client(item, MOTORS)
    shaft.send(SHAFT_JOINTS, point(1.0, 0.4, 0.0), path_tolerance=[{"name": SHAFT_JOINTS[0], "position": -1}])
    item.simulation.step(500)
    before = item.simulation.engine.port("joint/reference_1")[0]
    motors.send(MOTOR_JOINTS, point(1.0, 0.4, 0.4))
    assert shaft.result(1)[0] == PREEMPTED
    item.simulation.step(2)
    assert item.simulation.engine.port("joint/reference_1")[0] == pytest.approx(before, abs=0.002)
    assert motors.result(1200) == (SUCCEEDED, 0, "")


def test_an_empty_trajectory_stops_the_motion(free):
    item = free()
    item.connect()
    command = item.speak(f"{SHAFT}/command", "trajectory_msgs/JointTrajectory")
    command(joint_names=SHAFT_JOINTS, points=[{"positions": [0.4, 0.1], "time_from_start": 1000 * MS}])
    item.simulation.step(500)
    command()
    item.simulation.step(2)
    held = item.simulation.engine.port("joint/reference_1")[0]
    assert held == pytest.approx(0.2, abs=0.01)
    item.simulation.step(300)
    assert item.simulation.engine.port("joint/reference_1")[0] == held


def test_a_trajectory_begins_where_another_topic_has_left_the_joint(free):
    item = free()
    item.connect()
    reference = item.speak("/toBEassigned/joint/equilibrium_position", "std_msgs/Float64")
    command = item.speak(f"{SHAFT}/command", "trajectory_msgs/JointTrajectory")
    command(joint_names=SHAFT_JOINTS, points=[{"positions": [0.4, 0.1], "time_from_start": 100 * MS}])
    item.simulation.step(200)
    reference(data=-0.2)
    item.simulation.step(1000)
    command(joint_names=SHAFT_JOINTS, points=[{"positions": [0.4, 0.1], "time_from_start": 600 * MS}])
    item.simulation.step(301)
    assert item.simulation.engine.port("joint/reference_1")[0] == pytest.approx(0.1, abs=0.01)


def test_state_and_query_say_where_the_trajectory_is(free):
    item = free()
    item.connect()
    states = item.hear(f"{SHAFT}/state", "control_msgs/JointTrajectoryControllerState")
    command = item.speak(f"{SHAFT}/command", "trajectory_msgs/JointTrajectory")
    command(
        joint_names=SHAFT_JOINTS,
        points=[{"positions": [0.4, 0.1], "velocities": [0.0, 0.0], "accelerations": [0.0, 0.0],
                 "time_from_start": 1000 * MS}],
    )  # fmt: skip
    item.simulation.step(501)
    until(lambda: len(states) >= 24)
    assert states[-1]["joint_names"] == SHAFT_JOINTS
    assert {b["header"]["stamp"] - a["header"]["stamp"] for a, b in pairwise(states)} == {20 * MS}
    assert [s["header"]["seq"] for s in states] == list(range(len(states)))
    desired, actual, error = (states[-1][p]["positions"] for p in ("desired", "actual", "error"))
    assert error.tolist() == pytest.approx((desired - actual).tolist())
    now = item.simulation.time_ns
    found = item.call(f"{SHAFT}/query_state", "control_msgs/QueryTrajectoryState", time=11 * MS + 500 * MS)
    assert found["name"] == SHAFT_JOINTS
    assert found["position"].tolist() == pytest.approx([0.2, 0.05], abs=2e-3)
    # half way of a quintic from rest to rest: 15/8 of the mean velocity, no acceleration
    assert found["velocity"][0] == pytest.approx(15 / 8 * 0.4, rel=0.01)
    assert found["acceleration"][0] == pytest.approx(0.0, abs=0.05)
    assert item.simulation.time_ns == now
    later = item.call(f"{SHAFT}/query_state", "control_msgs/QueryTrajectoryState", time=60_000 * MS)
    assert later["position"].tolist() == pytest.approx([0.4, 0.1])
    assert later["velocity"].tolist() == [0.0, 0.0]


def test_a_query_before_anything_is_measured_is_refused(world):
    item = world()
    item.connect()
    until(lambda: f"{SHAFT}/query_state" in item.master.services)
    with pytest.raises(BridgeError, match="not measured yet"):
        item.call(f"{SHAFT}/query_state", "control_msgs/QueryTrajectoryState", time=0)


def test_a_goal_before_the_first_sample_waits_for_it(world):
    item = world()
    client = Client(item, MOTORS)
    client.send(MOTOR_JOINTS, point(0.3, 0.2, 0.1))
    assert client.result(700) == (SUCCEEDED, 0, "")


def test_a_reset_ends_a_goal_and_the_next_one_works(free):
    item = free()
    client = Client(item, MOTORS)
    client.send(MOTOR_JOINTS, point(2.0, 0.2, 0.1))
    item.simulation.step(300)
    item.simulation.reset()
    item.simulation.step(2)
    until(lambda: client.results)
    assert client.results[0]["status"]["status"] == ABORTED
    assert "reset" in client.results[0]["status"]["text"]
    assert client.results[0]["result"]["error_code"] == -1
    client.send(MOTOR_JOINTS, point(0.3, 0.2, 0.1))
    assert client.result(700) == (SUCCEEDED, 0, "")


def test_a_switch_to_a_mode_without_positions_ends_the_goal(free):
    item = free()
    client = Client(item, MOTORS)
    client.send(MOTOR_JOINTS, point(2.0, 0.2, 0.1))
    item.simulation.step(300)
    item.simulation.devices["joint"].request("set_mode", mode=4)
    status, code, text = client.result(5)
    assert (status, code) == (ABORTED, -1)
    assert "mode 4" in text
