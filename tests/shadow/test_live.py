"""The shadow of a robot that is heard message by message: drifts named, faults of the source named, and it goes on."""

import numpy as np
import pytest
from shadow_logs import described, log_of, messages_of

from pliant.base.errors import ModelError, RecordingError
from pliant.recording.live import Heard
from pliant.shadow import LiveShadow

SOFT = {"actuator.link_friction.torque": 0.05, "actuator.k": 10.0}
WATCHED = ["joint spring", "joint delay", "link load"]


def follow(shadow, messages, batch=40):
    found = []
    for k in range(0, len(messages), batch):
        shadow.hear(messages[k : k + batch])
        found += shadow.advance()
    while True:
        before = shadow.heard
        found += shadow.advance()
        if shadow.heard == before:
            return found


@pytest.fixture(scope="module")
def robot():
    return described("sea-1dof", **SOFT)


@pytest.fixture(scope="module")
def unchanged(robot):
    return log_of(robot, seed=5, duration=9.0)


@pytest.fixture(scope="module")
def softer(robot):
    return log_of(robot, seed=11, duration=9.0, changes={"joint.k": 8.0})


def shadow_of(robot, **options):
    return LiveShadow(robot, **{"watched": WATCHED, "window": 4.0, "step": 2e-4, "commands": "held"} | options)


def test_the_spring_that_is_a_fifth_softer_is_named_in_every_window(robot, softer):
    shadow = shadow_of(robot)
    windows = follow(shadow, messages_of(softer))
    assert len(windows) >= 2
    for window in windows:
        assert window.drifted[:1] == ("joint spring",), window.verdict
        assert window.estimates[0].value == pytest.approx(0.8, abs=0.02)
    assert shadow.notes == []


def test_nothing_is_named_beside_the_robot_as_described(robot, unchanged):
    windows = follow(shadow_of(robot), messages_of(unchanged))
    assert windows
    assert all(window.drifted == () for window in windows)


def test_commands_on_a_topic_of_their_own_are_held_from_their_arrival_on(robot, softer):
    states, commands = [], []
    for message in messages_of(softer):
        reference = {"joint/reference_1": message.values["joint/reference_1"]}
        commands.append(message._replace(source="/joint/equilibrium_position", rank=5, values=reference))
        rest = {port: value for port, value in message.values.items() if port not in reference}
        states.append(message._replace(values=rest))
    both = [one for pair in zip(commands, states, strict=True) for one in pair]
    windows = follow(shadow_of(robot, commands="auto"), both)
    assert windows
    assert all(window.commands == "held" for window in windows)
    assert all(window.drifted[:1] == ("joint spring",) for window in windows)


def test_a_robot_that_restarts_is_told_and_followed_again(robot, unchanged):
    shadow = shadow_of(robot)
    before, after = (messages_of(unchanged, begin=begin, keep=lambda t: t < 6.0) for begin in (100.0, 0.0))
    windows = follow(shadow, [*before, *after])
    (note,) = shadow.notes
    assert "the time goes back from 105.990 to 0.000 s (/joint/link_state): a restart" in note
    assert shadow.restarts == 1
    assert {window.begin > 50.0 for window in windows} == {True, False}
    assert all(window.drifted == () for window in windows)


def test_a_gap_begins_a_segment_of_its_own(robot, unchanged):
    shadow = shadow_of(robot, window=1.0, step=5e-4)
    windows = follow(shadow, messages_of(unchanged, keep=lambda t: not 4.0 < t < 5.5))
    assert len(shadow.notes) == 1
    assert "a gap, or a jump of the clock" in shadow.notes[0]
    assert not [w for w in windows if w.begin < 5.5 and w.end > 4.0]
    assert [w for w in windows if w.begin > 5.5]


def test_a_topic_that_falls_silent_is_told_and_done_without(robot, unchanged):
    messages = []
    for message in messages_of(unchanged):
        motor = {"joint/motor_1_position": message.values["joint/motor_1_position"]}
        rest = {port: value for port, value in message.values.items() if port not in motor}
        messages.append(message._replace(values=rest))
        if message.time < 4.0:
            messages.append(message._replace(source="/joint/motor_1_state", values=motor))
    shadow = shadow_of(robot, window=1.0, step=5e-4)
    windows = follow(shadow, messages)
    assert "/joint/motor_1_state: silent for more than 1 s while others are heard" in shadow.notes
    assert max(window.end for window in windows) > 8.0


def test_joints_that_nobody_sends_are_left_out_and_joints_of_another_robot_are_not_heard():
    robot = described("qbmove-2dof")
    shadow = LiveShadow(robot, watched=["joint_1 spring"], window=1.0, step=1e-3)
    time = np.arange(0.0, 4.0, 0.01)
    messages = [
        Heard("/states", 0, t, True, {"joint_1/position": 0.0, "joint_1/reference_1": 0.0, "elbow/position": 3.0})
        for t in time.tolist()
    ]
    follow(shadow, messages)
    assert shadow.notes == ["joint_2 is left out: nobody sends its position and reference_1"]
    assert shadow.pose is not None
    assert set(shadow.pose.curves) == {"joint_1"}


def test_what_is_missing_is_told(robot, unchanged):
    shadow = shadow_of(robot)
    assert shadow.missing() == "no position of a joint is heard"
    positions = [m._replace(values={"joint/position": m.values["joint/position"]}) for m in messages_of(unchanged)]
    assert follow(shadow, positions) == []
    assert shadow.missing() == "no command of a joint is heard"


def test_of_two_time_steps_the_one_that_explains_the_robot_is_kept(robot):
    from pliant.engine import MujocoEngine

    engine = MujocoEngine(robot)  # it moves with the step of its description, 0.5 ms
    messages = []
    for k in range(800):
        t = 0.01 * k
        values = {port: float(engine.port(port)[0]) for port in ("joint/position", "joint/reference_1")}
        messages.append(Heard("/joint/link_state", 0, t, True, values))
        engine.port("joint/reference_1")[0] = 0.3 * np.sin(4.0 * t) + 0.15 * np.sin(11.0 * t)
        engine.step(20)
    shadow = LiveShadow(robot, watched=["joint damping", "joint delay"], window=4.0)
    windows = follow(shadow, messages)
    assert windows
    assert all(window.drifted == () for window in windows)
    assert all(window.misfit < 1e-7 for window in windows)
    assert any("a time step of 0.5 ms" in note for note in shadow.notes)


def test_a_simulation_that_is_too_slow_takes_the_longer_step_and_then_begins_anew(robot, unchanged):
    shadow = LiveShadow(robot, watched=WATCHED, window=4.0)
    messages = messages_of(unchanged)
    shadow.hear(messages[:300])
    shadow.advance()
    shadow.hear(messages[300:])
    shadow.keep_up()
    assert any("a time step of 0.5 ms, because a shorter one is slower" in note for note in shadow.notes)
    later = [m._replace(time=m.time + 8.99 + 9.0 * k) for k in range(3) for m in messages[1:]]
    shadow.hear(later)
    shadow.keep_up()
    assert "behind the robot" in shadow.notes[-1]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"window": 0.0}, RecordingError, "must be more than 0"),
        ({"watched": ["elbow spring"]}, ModelError, "no parameter 'elbow spring'"),
        ({"commands": "latch"}, RecordingError, "commands is 'latch'; did you mean 'latched'"),
        ({"settle": -1.0}, RecordingError, "settle is -1 s"),
    ],
)
def test_what_cannot_be_followed_is_refused(robot, options, error, message):
    with pytest.raises(error, match=message):
        LiveShadow(robot, **options)


def test_a_robot_without_compliant_joints_is_refused():
    import pliant

    with pytest.raises(RecordingError, match="has no compliant joint"):
        LiveShadow(pliant.load("softfoot"))
