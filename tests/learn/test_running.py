"""A policy on a robot in memory: ranges of the training, slew limits, start and end poses, the dead man's switch."""

import io
import threading

import numpy as np
import pytest

from pliant.base.errors import BridgeError
from pliant.learn.policy import Policy, PolicyError
from pliant.learn.running import DeadMan, PolicyGuard, PolicyRun, Safety, run_policy


class Clock:
    """A clock that stands wherever it is told to wait for."""

    def __init__(self):
        self.time = 0.0

    def now(self):
        return self.time

    def wait_until(self, due, stop):
        self.time = max(self.time, due)


class Memory:
    """A robot with one joint that is where it is commanded to be."""

    def __init__(self, position=0.0):
        self.clock, self.position, self.sent, self.gone = Clock(), position, [], ""

    def wait(self, *, silence):
        pass

    def lost(self):
        return self.gone

    def observe(self):
        return np.array([self.position]), 0.0

    def present(self):
        return np.array([self.position])

    def send(self, commands):
        self.position = float(commands[0])
        self.sent.append(self.position)


def policy(**changes):
    """Go to 1 rad, whatever is seen."""
    given = {
        "robot": "bench",
        "observations": ("joint/position",),
        "commands": ("joint/equilibrium_position",),
        "low": [-1.0],
        "high": [1.0],
        "layers": ((np.zeros((1, 1)), [5.0]),),
        "period": 0.1,
        "mean": [0.0],
        "scale": [1.0],
        "range_low": [-0.5],
        "range_high": [1.0],
        "start": [0.3],
    }
    return Policy(**(given | changes))


def test_the_commands_go_to_the_start_pose_first_and_back_at_the_end():
    robot = Memory(position=-0.2)
    run_policy(PolicyRun(policy(), robot, {}, Safety(approach=0.5, end="start")), duration=0.2)
    assert robot.sent == pytest.approx([-0.1, 0.0, 0.1, 0.2, 0.3, 1.0, 1.0, 0.86, 0.72, 0.58, 0.44, 0.3])


def test_a_command_changes_by_no_more_than_the_slew_limit():
    robot = Memory()
    run_policy(PolicyRun(policy(), robot, {}, Safety(approach=0.1, slew=0.5)), duration=0.5)
    # half of the range of 2 rad each second, after the start pose
    assert robot.sent == pytest.approx([0.3, 0.4, 0.5, 0.6, 0.7, 0.8])


def test_an_observation_beyond_the_training_stops_the_policy_and_the_robot_goes_back():
    robot = Memory(position=-0.8)
    run = PolicyRun(policy(start=[0.5]), robot, {}, Safety(end="start", approach=0.1))
    robot.send = lambda commands: None  # it does not move
    with pytest.raises(BridgeError, match=r"joint/position is -0.8, and was -0.65 to 1.15 in the training"):
        run_policy(run, duration=1.0)
    assert run.steps == 0
    assert run.guard.last == pytest.approx([0.5])


@pytest.mark.parametrize("outside", ["clip", "ignore"])
def test_an_observation_beyond_the_training_can_be_clipped_or_ignored(outside):
    seen = policy(layers=((np.eye(1), [0.0]),))
    guard = PolicyGuard(seen, Safety(outside=outside, margin=0.0))
    assert guard.act([-0.9]) == pytest.approx([-0.5 if outside == "clip" else -0.9])
    with pytest.raises(BridgeError, match="not finite"):
        guard.act([np.nan])


def test_a_robot_that_is_lost_in_the_approach_or_in_the_run_ends_it_with_the_reason():
    for approach, at in ((1.0, 3), (0.0, 3)):
        robot = Memory()
        send = robot.send

        def failing(commands, robot=robot, send=send, at=at):
            send(commands)
            robot.gone = "the connection broke" if len(robot.sent) == at else ""

        robot.send = failing
        run = PolicyRun(policy(), robot, {}, Safety(approach=approach))
        with pytest.raises(BridgeError, match="the policy stopped: the connection broke"):
            run_policy(run, duration=5.0)
        assert len(robot.sent) == at  # nothing is sent to a robot that is lost


def test_a_dead_man_stops_the_policy_and_lines_keep_it_alive():
    robot = Memory()
    silent = DeadMan(1e-9, io.StringIO(""))
    run = PolicyRun(policy(), robot, {}, Safety(dead_man=1e-9, end="start", approach=0.1))
    with pytest.raises(BridgeError, match="no line at standard input for 1e-09 s"):
        run_policy(run, duration=5.0, dead_man=silent)
    assert robot.sent == [0.3, 0.3]
    assert not DeadMan(0.0).lost()
    assert not DeadMan(600.0, io.StringIO("\n")).lost()


def test_a_stop_ends_the_run_where_it_is():
    robot, stop = Memory(), threading.Event()
    stop.set()
    run_policy(PolicyRun(policy(), robot, {}), duration=1.0, stop=stop)
    assert robot.sent == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"timeout": 0.0}, "timeout is 0; must be > 0 s"),
        ({"slew": -1.0}, "slew is -1.0; must be >= 0"),
        ({"outside": "stopp"}, "did you mean 'stop'"),
        ({"end": "home"}, "end is 'home'"),
        ({"end": "start"}, "without a time to get there"),
        ({"margin": float("nan")}, "margin is nan"),
    ],
)
def test_limits_that_are_none_are_refused(given, words):
    with pytest.raises(PolicyError, match=words):
        Safety(**given)


def test_a_policy_without_a_start_pose_refuses_the_approach():
    with pytest.raises(PolicyError, match="has no start pose; export it with start="):
        PolicyRun(policy(start=None), Memory(), {}, Safety(approach=1.0))


def test_ranges_and_start_pose_are_kept_in_the_archive(tmp_path):
    found = Policy.load(policy().save(tmp_path / "p.npz"))
    assert [found.range_low.tolist(), found.range_high.tolist(), found.start.tolist()] == [[-0.5], [1.0], [0.3]]
    plain = policy(range_low=None, range_high=None, start=None)
    assert Policy.load(plain.save(tmp_path / "q.npz")).range_low is None
    with pytest.raises(PolicyError, match="must be given together"):
        policy(range_high=None)
