"""What tools ask a controller manager of ros2_control: lists, types, and switching where it maps to modes."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import pytest
from control_tags import TOPICS, chain
from robot_data import needs_data
from ros_runs import RosRun
from tests.helpers.control_boards import part_of

from pliant.control_boards.modes import REQUESTED_MODES
from pliant.laws import Mode
from pliant.robots import list_robots
from pliant.robots.loading import load
from pliant.ros.bridge.actions import GoalState
from pliant.ros.bridge.groups import FOLLOWING
from pliant.yarp.bridge import control_board_answers as answers
from pliant.yarp.wire.text import parse_bottle

ARM = {"lift": ("position", "effort"), "turn": ("position", "effort"), "wheel": ("velocity",)}
GROUP, FORWARD = "toBEassigned/joint_trajectory_controller", "toBEassigned/forward_position_controller"


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(chain(ARM))
    with RosRun(load(path), clock=False) as run:
        run.simulation.step(2)
        yield run


def ask(run, name, space="", **request):
    return run.wire.call(f"{space}/controller_manager/{name}", **request)


def controllers(run):
    return {c["name"]: c for c in ask(run, "list_controllers")["controller"]}


def switch(run, on=(), off=(), strictness=2):
    """Switch controllers while the simulation steps."""
    with ThreadPoolExecutor(1) as pool:
        asked = {"activate_controllers": list(on), "deactivate_controllers": list(off), "strictness": strictness}
        answer = pool.submit(ask, run, "switch_controller", **asked)
        while not answer.done():
            run.simulation.step()
    return answer.result()["ok"], answer.result()["message"]


def test_controllers_are_listed_with_type_state_and_interfaces(arm):
    found = controllers(arm)
    assert found["joint_state_broadcaster"]["type"] == "joint_state_broadcaster/JointStateBroadcaster"
    group = found[GROUP]
    assert (group["type"], group["state"]) == ("joint_trajectory_controller/JointTrajectoryController", "active")
    assert group["claimed_interfaces"] == ["lift/position", "turn/position"]
    assert group["update_rate"] == 1000
    assert (found[FORWARD]["state"], found[FORWARD]["claimed_interfaces"]) == ("inactive", [])
    assert found[FORWARD]["required_command_interfaces"] == ["lift/position", "turn/position"]
    assert found["toBEassigned/forward_velocity_controller"]["claimed_interfaces"] == ["wheel/velocity"]
    types = ask(arm, "list_controller_types")
    assert {c["type"] for c in found.values()} <= set(types["types"])
    assert len(types["types"]) == len(types["base_classes"])


def test_the_names_of_controllers_lead_to_their_topics_and_actions(arm):
    for name in controllers(arm):
        if name != "joint_state_broadcaster":
            assert [t for t in (*arm.wire.into, *arm.wire.actions) if t.startswith(f"/{name}/")], name


def test_hardware_is_listed_as_the_file_has_it(arm):
    (component,) = ask(arm, "list_hardware_components")["component"]
    assert (component["name"], component["plugin_name"], component["state"]["label"]) == (
        "arm", "maker/Hardware", "active"
    )  # fmt: skip
    found = ask(arm, "list_hardware_interfaces")
    rows = {row["name"]: (row["is_available"], row["is_claimed"]) for row in found["command_interfaces"]}
    assert {claimed for _, claimed in rows.values()} == {True, False}
    assert {name: available for name, (available, _) in rows.items()} == {
        "lift/position": True, "lift/effort": False, "turn/position": True, "turn/effort": False,
        "wheel/velocity": True,
    }  # fmt: skip
    assert len(found["state_interfaces"]) == 9
    assert component["command_interfaces"] == found["command_interfaces"]


def test_a_controller_that_is_deactivated_cancels_its_goal_and_takes_none(arm):
    joints = ["lift", "turn"]
    goal = arm.send("/joint_trajectory_controller", joints, (5.0, (1.0, 1.0)))
    arm.simulation.step(10)
    assert switch(arm, [FORWARD], [GROUP]) == (True, "")
    arm.simulation.step(2)
    assert goal.state is GoalState.CANCELED
    assert (controllers(arm)[GROUP]["state"], controllers(arm)[FORWARD]["state"]) == ("inactive", "active")
    refused = arm.send("/joint_trajectory_controller", joints, (1.0, (0.0, 0.0)))
    assert refused.state is GoalState.REJECTED
    assert "switch_controller activates it" in refused.text
    assert switch(arm, [GROUP], [FORWARD]) == (True, "")
    arm.wire.hear(f"/{FORWARD}/commands", data=[1.0, 1.0])
    assert "switch_controller activates it" in arm.wire.said[-1]
    again = arm.send("/joint_trajectory_controller", joints, (0.5, (0.1, 0.1)))
    assert arm.end(again) == (GoalState.SUCCEEDED, 0)


def test_in_ros_1_values_that_are_handed_on_take_the_place_of_a_goal(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(chain(ARM))
    with RosRun(load(path), version=1, clock=False) as arm:
        arm.simulation.step(2)
        goal = arm.send("/joint_trajectory_controller", ["lift", "turn"], (5.0, (1.0, 1.0)))
        arm.simulation.step(10)
        arm.wire.hear(f"/{FORWARD}/command", data=[0.2, -0.2])
        arm.simulation.step(1500)
        assert goal.state is GoalState.CANCELED
        assert arm.simulation.sample("board").values["position"] == pytest.approx([0.2, -0.2], abs=5e-3)


def test_activating_takes_joints_in_a_torque_mode_back_to_the_mode_of_the_start():
    with RosRun("qbmove-2dof", clock=False) as run:
        run.simulation.step(2)
        devices = [run.simulation.devices[f"joint_{i}"] for i in (1, 2)]
        start = [device.mode for device in devices]
        devices[0].request("set_mode", mode=4)
        run.simulation.step(2)
        name = "qbmove_2dof/joint_trajectory_controller"
        assert controllers(run)[name]["state"] == "inactive"
        assert switch(run, [name]) == (True, "")
        assert [device.mode for device in devices] == start
        assert devices[0].mode is not Mode.MOTOR_TORQUES
        assert controllers(run)[name]["state"] == "active"


@pytest.mark.parametrize(
    ("on", "off", "says"),
    [
        (["toBEassigned/forward_positon_controller"], [], "did you mean 'toBEassigned/forward_position_controller'"),
        ([FORWARD], [FORWARD], "forward_position_controller is not active"),
        ([FORWARD], [], f"needs lift/position, which {GROUP} has"),
        ([GROUP], [], f"{GROUP} is active already"),
        (["joint_state_broadcaster"], [], "is active already"),
        ([], ["joint_state_broadcaster"], "is always active"),
        (["x"] * 300, [], "must be at most 200"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_with_a_sentence(arm, on, off, says):
    ok, message = switch(arm, on, off)
    assert not ok
    assert says in message
    assert controllers(arm)[GROUP]["state"] == "active"


@pytest.mark.parametrize("strictness", [0, 1])
def test_with_best_effort_what_cannot_be_done_is_left_out_and_told(strictness, arm):
    ok, message = switch(arm, ["nobody", FORWARD], ["somebody"], strictness=strictness)
    assert ok
    assert message.startswith("left out: there is no controller 'somebody'")
    assert f"{FORWARD} needs lift/position" in message
    assert (controllers(arm)[GROUP]["state"], controllers(arm)[FORWARD]["state"]) == ("active", "inactive")


def test_a_controller_that_is_restarted_ends_its_goal_and_takes_the_next(arm):
    goal = arm.send("/joint_trajectory_controller", ["lift", "turn"], (5.0, (1.0, 1.0)))
    arm.simulation.step(10)
    assert switch(arm, [GROUP], [GROUP]) == (True, "")
    arm.simulation.step(2)
    assert goal.state is GoalState.CANCELED
    again = arm.send("/joint_trajectory_controller", ["lift", "turn"], (0.5, (0.1, 0.1)))
    assert arm.end(again) == (GoalState.SUCCEEDED, 0)


def test_two_clients_that_activate_at_once_leave_one_controller_active(arm):
    names = (GROUP, FORWARD)
    with ThreadPoolExecutor(2) as pool:
        for _ in range(20):
            switch(arm, [], names, strictness=1)
            asked = [
                pool.submit(
                    ask, arm, "switch_controller", activate_controllers=[name], deactivate_controllers=[], strictness=2
                )
                for name in names
            ]
            while not all(answer.done() for answer in asked):
                arm.simulation.step()
            assert sorted(answer.result()["ok"] for answer in asked) == [False, True]
            assert sorted(controllers(arm)[name]["state"] for name in names) == ["active", "inactive"]


def one_claim(run):
    """Return which controllers are active, once it is sure that no two of them claim an interface."""
    found = controllers(run)
    claims = [claim for row in found.values() for claim in row.get("claimed_interfaces", ())]
    assert len(claims) == len(set(claims)), sorted(claims)
    listed = {r["name"] for r in ask(run, "list_hardware_interfaces")["command_interfaces"] if r["is_claimed"]}
    assert listed == set(claims)
    return [name for name, row in found.items() if row["state"] == "active"]


def of_robot(name, tmp_path):
    if name != "arm":
        return name
    path = tmp_path / "arm.urdf"
    path.write_text(chain(ARM))
    return load(path)


@pytest.mark.parametrize(
    "name",
    [
        "arm",
        *(pytest.param(r.name, marks=[] if r.name == "qbmove-2dof" else pytest.mark.nightly) for r in list_robots()),
    ],
)
def test_an_interface_has_one_controller_whichever_two_are_activated(name, tmp_path):
    if name != "arm":
        needs_data(name)
    with RosRun(of_robot(name, tmp_path), clock=False) as run:
        run.simulation.step(2)
        if "/controller_manager/switch_controller" not in run.wire.services:
            return  # no joints that controllers move
        first = one_claim(run)
        names = [row for row in controllers(run) if row != "joint_state_broadcaster"]
        needs = {row: set(controllers(run)[row]["required_command_interfaces"]) for row in names}
        for one, two in itertools.permutations(names, 2):
            switch(run, [], names, strictness=1)
            assert one_claim(run) == ["joint_state_broadcaster"]
            assert switch(run, [one]) == (True, "")
            ok, message = switch(run, [two])
            assert ok == needs[one].isdisjoint(needs[two]), message
            assert ok or f"which {one} has" in message
            assert (two if ok else one) in one_claim(run)
            assert switch(run, [one, two], names, strictness=1)[0]
            both = one_claim(run)
            assert (one in both) or (two in both)
        run.simulation.reset()
        run.simulation.step(2)
        assert one_claim(run) == first


def test_a_reset_begins_with_the_controllers_of_the_start(arm):
    switch(arm, [], [GROUP])
    assert controllers(arm)[GROUP]["state"] == "inactive"
    arm.simulation.reset()
    arm.simulation.step()
    assert controllers(arm)[GROUP]["state"] == "active"


def test_compliant_robots_list_their_joints_too_and_stand_below_the_name_space_that_is_asked_for():
    with RosRun("qbmove-2dof", clock=False, namespace="left", prefix="left_") as run:
        run.simulation.step()
        rows = ask(run, "list_controllers", "/left")["controller"]
        group = next(c for c in rows if c["name"] == "joint_trajectory_controller")
        assert group["claimed_interfaces"] == ["left_joint_1/position", "left_joint_2/position"]
        found = ask(run, "list_hardware_interfaces", "/left")
        assert "left_joint_1/position" in [row["name"] for row in found["state_interfaces"]]


@pytest.mark.parametrize(("version", "params"), [(1, {}), (2, TOPICS)])
def test_ros_1_and_robots_with_a_controller_manager_elsewhere_have_none_here(version, params, tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(chain(ARM, params=params))
    with RosRun(load(path), version=version, clock=False) as run:
        assert not [name for name in run.wire.services if "controller_manager" in name]


def test_efforts_take_the_joints_of_a_board_from_trajectories_and_give_them_back():
    """Modes 4 and 6 of a qbMove: a trajectory, then torques of the motors, then a trajectory again."""
    trajectories, efforts = "qbmove_2dof/joint_trajectory_controller", "qbmove_2dof/forward_effort_controller"
    with RosRun("qbmove-2dof", clock=False) as run:
        run.simulation.step(2)
        devices = [run.simulation.devices[f"joint_{i}"] for i in (1, 2)]
        start = [device.mode for device in devices]
        assert (controllers(run)[trajectories]["state"], controllers(run)[efforts]["state"]) == ("active", "inactive")
        run.wire.hear(f"/{efforts}/commands", data=[0.1, 0.1])
        assert "switch_controller activates it" in run.wire.said[-1]
        goal = run.send("/qbmove_2dof/joint_trajectory_controller", ["joint_1", "joint_2"], (5.0, (0.3, 0.3)))
        run.simulation.step(10)
        assert switch(run, [efforts], [trajectories]) == (True, "")
        run.simulation.step(2)
        assert goal.state is GoalState.CANCELED
        assert [device.mode for device in devices] == [Mode.MOTOR_TORQUES] * 2
        assert (controllers(run)[trajectories]["state"], controllers(run)[efforts]["state"]) == ("inactive", "active")
        rows = {r["name"]: r["is_claimed"] for r in ask(run, "list_hardware_interfaces")["command_interfaces"]}
        assert rows["joint_1/effort"]
        assert not rows["joint_1/position"]
        before = run.simulation.sample("joint_1").values["position"]
        run.wire.hear(f"/{efforts}/commands", data=[2.0, float("nan")])
        run.simulation.step(300)
        assert run.simulation.sample("joint_1").values["position"] > before + 0.1
        assert switch(run, [trajectories], [efforts]) == (True, "")
        assert [device.mode for device in devices] == start
        again = run.send("/qbmove_2dof/joint_trajectory_controller", ["joint_1", "joint_2"], (0.5, (0.1, 0.1)))
        assert run.end(again) == (GoalState.SUCCEEDED, 0)
        run.simulation.step(1000)
        assert run.simulation.sample("joint_1").values["equilibrium"] == pytest.approx(0.1, abs=0.01)


def test_efforts_move_the_axes_of_a_control_board():
    with RosRun("biped", clock=False) as run:
        run.simulation.step(2)
        board = run.simulation.devices["left_arm"]
        trajectories, efforts = "left_arm_trajectory_controller", "left_arm_forward_effort_controller"
        names = {name.rpartition("/")[2]: name for name in controllers(run)}
        assert switch(run, [names[efforts]], []) == (True, "")
        assert controllers(run)[names[trajectories]]["state"] == "inactive"
        run.wire.hear(f"/{names[efforts]}/commands", data=[1.5] + [0.0] * (len(board.joints) - 1))
        run.simulation.step(40)
        values = run.simulation.sample("left_arm").values
        assert values["torque_reference"].tolist() == [1.5, 0.0, 0.0, 0.0]
        assert values["torque"] == pytest.approx([1.5, 0.0, 0.0, 0.0], abs=1e-12)
        assert switch(run, [names[trajectories]], []) == (True, "")
        assert controllers(run)[names[efforts]]["state"] == "inactive"
        run.simulation.step(40)
        after = run.simulation.sample("left_arm").values
        assert set(after["control_mode"]) != set(values["control_mode"])
        goal = run.send(f"/{trajectories}", [*board.joints], (0.5, (0.2, 0.1, 0.0, -0.4)))
        assert run.end(goal)[0] is GoalState.SUCCEEDED


def set_by_yarp(board, mode):
    """Ask the board for a mode of its first axis as a YARP client does."""
    word = {v: k for k, v in answers._MODE_REQUESTS["control_mode"].items()}[mode]
    return str(answers.answer(part_of(board), parse_bottle(f"[set] [icmd] [cmod] 0 [{word}]"), 3))


def test_a_mode_that_a_yarp_client_sets_shows_in_the_lists_and_decides_what_is_taken():
    with RosRun("biped", clock=False) as run:
        run.simulation.step(2)
        board = run.simulation.devices["left_arm"]
        (trajectories,) = [name for name in controllers(run) if name.endswith("left_arm_trajectory_controller")]
        (efforts,) = [name for name in controllers(run) if name.endswith("left_arm_forward_effort_controller")]
        assert switch(run, [efforts], []) == (True, "")
        for mode in REQUESTED_MODES:
            assert switch(run, [efforts], [], strictness=1)[0]
            set_by_yarp(board, mode)
            run.simulation.step(2)
            assert board.modes_now()[0] == mode.removeprefix("force_")
            found = controllers(run)
            claimed = {
                row["name"] for row in ask(run, "list_hardware_interfaces")["command_interfaces"] if row["is_claimed"]
            }
            torque = mode == "torque"
            assert (found[efforts]["state"] == "active") is torque, mode
            assert ({f"{joint}/effort" for joint in board.joints} <= claimed) is torque
            assert found[trajectories]["state"] == "inactive"
            refused = len(run.wire.said)
            run.wire.hear(f"/{efforts}/commands", data=[0.0] * len(board.joints))
            assert (len(run.wire.said) == refused) is torque
            assert switch(run, [trajectories], []) == (True, "")
            assert controllers(run)[trajectories]["state"] == "active"
            goal = run.send(f"/{trajectories.rpartition('/')[2]}", [*board.joints], (9.0, (0.2, 0.1, 0.0, -0.4)))
            run.simulation.step(2)
            assert goal.state is GoalState.ACTIVE
            set_by_yarp(board, mode)
            run.simulation.step(3)
            follows = mode in FOLLOWING
            assert (goal.state is GoalState.ACTIVE) is follows, mode
            assert (controllers(run)[trajectories]["state"] == "active") is follows
            assert follows or f"is in mode {board.modes_now()[0]!r}" in goal.text
