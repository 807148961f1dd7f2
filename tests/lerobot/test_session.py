"""An arm as LeRobot sees it, without LeRobot: actions within limits, misfits refused, scenes and a scripted push."""

import contextlib
import logging

import numpy as np
import pytest
from fci_clients import served

from pliant.base.errors import DeviceError
from pliant.lerobot import ArmOptions, ArmSession, PushScript, connected_session

SO_100 = ("shoulder_pan.pos", "shoulder_lift.pos", "elbow_flex.pos", "wrist_flex.pos", "wrist_roll.pos", "gripper.pos")


@contextlib.contextmanager
def connected(**options):
    session = ArmSession(ArmOptions(**({"views": "none"} | options)))
    session.connect()
    try:
        yield session
    finally:
        session.disconnect()


@pytest.fixture(scope="module")
def arm():
    with connected() as session:
        yield session


def held(session):
    """Return the action that keeps everything where it is."""
    seen = session.observe()
    return {name: seen.get(name, 600.0) for name in session.action_names}


def push(session, most=150):
    script = PushScript(session)
    actions = []
    while not script.finished and len(actions) < most:
        actions.append(script.action())
        session.act(actions[-1])
    return actions


def test_the_script_pushes_the_box_to_its_goal_while_the_hand_opens_and_closes(arm, caplog):
    arm.reset(0)
    assert not arm.succeeded
    script, widths = PushScript(arm), []
    with caplog.at_level(logging.INFO, logger="pliant.lerobot"):
        while not script.finished:
            arm.act(script.action())
            widths.append(arm.observe()["gripper.pos"])
        assert arm.succeeded
        arm.reset(1)
        for _ in range(40):
            arm.act(script.action())
        arm.reset(2)
    assert script.finished is False  # it begins anew in each episode
    assert min(widths) < 0.002
    assert widths[-1] > 0.02
    assert "episode 0" in caplog.messages[0]
    assert caplog.messages[0].endswith("success")
    assert "failure, must be within" in caplog.messages[1]


def test_each_episode_has_a_place_of_the_box_and_the_same_again(arm):
    places = []
    for episode in (3, 4, 3):
        arm.reset(episode)
        assert arm.time < 0.02
        places.append(arm.box().copy())
    assert np.abs(places[0] - places[1])[:2].max() > 1e-3
    np.testing.assert_array_equal(places[0], places[2])


@pytest.mark.slow
def test_equal_actions_give_equal_bits(arm):
    arm.reset(5)
    actions = push(arm, most=60)
    first = np.array(list(arm.observe().values()))
    arm.reset(5)
    for action in actions:
        arm.act(action)
    assert np.array(list(arm.observe().values())).tobytes() == first.tobytes()


def test_a_far_joint_position_is_approached_at_the_largest_speed_and_stays_within_the_limits(arm):
    arm.reset(0)
    before = arm.observe()
    sent = arm.act(held(arm) | {"joint_1.pos": 9.0, "gripper.pos": 1.0})
    assert sent["joint_1.pos"] - before["joint_1.pos"] == pytest.approx(arm.options.joint_speed / arm.options.fps)
    assert sent["gripper.pos"] == 0.08
    for _ in range(80):
        sent = arm.act(held(arm) | {"joint_1.pos": 9.0})
    limit = ArmSession(ArmOptions())._arm.limits.position_max[0]
    assert limit - 0.2 < arm.observe()["joint_1.pos"] <= limit


def test_robot_time_follows_the_number_of_actions(arm):
    arm.reset(0)
    begun = arm.time
    for _ in range(7):
        arm.act(held(arm))
    assert arm.time - begun == pytest.approx(7 / arm.options.fps)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (dict.fromkeys(SO_100, 0.0), "another robot: it has elbow_flex.pos.*lacks joint_1.pos.*--robot.action=joint"),
        (dict.fromkeys(("joint_1.pos", "gripper.pos"), 0.0), "lacks joint_2.pos, joint_3.pos"),
        ({f"{n}.pos": 0.0 for n in ("x", "y", "z", "rx", "ry", "rz", "gripper")}, "--robot.action=cartesian"),
        (
            {f"{n}.pos": 0.0 for n in (*(f"joint_{i}" for i in range(1, 8)), "gripper", "stiffness")},
            "--robot.stiffness=action fits",
        ),
    ],
)
def test_an_action_of_another_robot_is_refused_by_name_with_what_fits(arm, action, message):
    before = arm.time
    with pytest.raises(DeviceError, match=message):
        arm.act(action)
    assert arm.time == before


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_refused_by_name(arm, wrong):
    with pytest.raises(DeviceError, match=r"joint_3\.pos is (nan|inf); must be a finite number"):
        arm.act(held(arm) | {"joint_3.pos": wrong})


@pytest.mark.slow
def test_stiffness_is_a_dimension_of_the_action_and_scales_the_force_on_the_table():
    with connected(action="cartesian", stiffness="action", speed=0.12) as session:  # 0.2 m/s trips a reflex
        assert session.action_names[-1] == "stiffness.pos"
        at = held(session) | {"x.pos": 0.4, "y.pos": -0.2, "rx.pos": 0.0, "ry.pos": 0.0, "rz.pos": 0.0}
        forces = {}
        for stiffness, z, frames in ((1000.0, 0.1, 80), (1000.0, 0.02, 30), (200.0, -0.01, 40), (800.0, -0.01, 30)):
            for _ in range(frames):
                session.act(at | {"z.pos": z, "gripper.pos": 0.0, "stiffness.pos": stiffness})
            seen = session.observe()
            forces[stiffness] = -seen["z.force"]
            if z < 0.0:
                # K times the depth of the reference, less what the static friction of the joints holds
                assert 0.0 < stiffness * (seen["z.pos"] - z) - forces[stiffness] < 4.0
        sent = session.act(at | {"z.pos": -0.01, "gripper.pos": 0.0, "stiffness.pos": 9e9})
    assert sent["stiffness.pos"] == 3000.0
    assert forces[800.0] > 3.0 * forces[200.0]


def test_a_cartesian_target_moves_the_end_effector_at_the_largest_speed():
    with connected(action="cartesian") as session:
        start = session.pose
        sent = session.act(held(session) | {"x.pos": 1.0})
        assert sent["x.pos"] - start[0] == pytest.approx(0.25 / 20.0, abs=1e-4)
        assert session.act(held(session) | {"rz.pos": 1.0})["rz.pos"] == pytest.approx(1.0 / 20.0, abs=1e-2)
        push(session)
        assert session.succeeded


def test_the_place_of_the_box_is_observed_on_request_and_follows_the_push(arm):
    arm.reset(4)
    assert "box.x" not in arm.observe()
    with connected(scene="state", stamps=True, episode=4) as session:
        seen = session.observe()
        assert tuple(seen) == session.observation_names
        assert [seen["box.x"], seen["box.y"]] == arm.box()[:2].tolist()
        push(session)
        seen = session.observe()
        assert seen["box.x"] == pytest.approx(0.6, abs=0.02)
        assert seen["time"] == session.time
    with connected(task="none") as session:  # without a box there is none to see
        assert tuple(session.observe()) == session.observation_names


@pytest.mark.slow
def test_pictures_carry_the_robot_time_of_what_they_show():
    from pliant.base.errors import MissingDependency

    try:
        context = connected(views="both", stamps=True)
        session = context.__enter__()
    except (DeviceError, MissingDependency) as error:
        pytest.skip(f"no graphics library: {error}")
    with contextlib.ExitStack() as stack:
        stack.push(context)
        for _ in range(3):
            session.act(held(session))
        seen = session.observe()
        for camera in ("wrist", "table"):
            assert seen[camera].shape == session.pictures[camera] == (96, 128, 3)
            assert seen[camera].dtype == np.uint8
            assert seen[camera].std() > 5.0
            assert 0.0 <= seen["time"] - seen[f"{camera}.time"] <= 0.051
        first = seen["table"].copy()
        push(session)
        assert np.abs(session.observe()["table"].astype(int) - first).max() > 40


def test_what_needs_a_connection_says_so():
    session = ArmSession(ArmOptions())
    with pytest.raises(DeviceError, match=r"not connected; call connect\(\)"):
        session.observe()
    session.disconnect()


def test_the_teleoperator_needs_exactly_one_arm(arm):
    assert connected_session() is arm
    with connected(), pytest.raises(DeviceError, match="2 robots of type pliant are connected"):
        connected_session()
    with pytest.raises(DeviceError, match="connected already"):
        arm.connect()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"arm": "so100"}, "--robot.arm.*fr3"),
        ({"action": "torque"}, "--robot.action.*joint"),
        ({"fps": 0.0}, "--robot.fps"),
        ({"width": 4}, "--robot.width"),
        ({"address": "127.0.0.1", "stamps": True}, "views=none"),
        ({"scene": "all"}, "--robot.scene.*state"),
        ({"address": "127.0.0.1", "scene": "state"}, "only a simulated arm with task=push"),
        ({"task": "none", "scene": "state"}, "only a simulated arm with task=push"),
        ({"address": "127.0.0.1", "clock": "robot"}, "must be wall with an address"),
    ],
)
def test_a_wrong_option_is_refused_with_its_name_and_what_is_valid(wrong, message):
    with pytest.raises(DeviceError, match=message):
        ArmSession(ArmOptions(**wrong))


@pytest.mark.network
@pytest.mark.slow
def test_an_arm_behind_its_interface_follows_streamed_actions_and_moves_its_hand():
    with served("fr3") as host:
        with connected(address=host) as session:
            action = held(session)
            goal = action | {"joint_1.pos": action["joint_1.pos"] + 0.1, "gripper.pos": 0.01}
            reached = 0
            while reached < 20_000 and abs(session.observe()["joint_1.pos"] - goal["joint_1.pos"]) > 2e-3:
                session.act(goal)
                reached += 1
            until = session.time + 1.0
            while session.time < until:
                session.act(goal)
            assert session.observe()["joint_1.pos"] == pytest.approx(goal["joint_1.pos"], abs=2e-3)
            assert session.observe()["gripper.pos"] == pytest.approx(0.01, abs=1e-3)
            session.reset(1)
            assert session.observe()["joint_1.pos"] == pytest.approx(action["joint_1.pos"], abs=2e-3)
        with pytest.raises(DeviceError, match=r"is of type fr3; --robot\.arm=fr3 fits"):
            ArmSession(ArmOptions(address=host, arm="fer")).connect()
