"""Robot time in the loops of LeRobot: an episode has as many actions as its length says, and no wait on the wall."""

import types

import pytest

from pliant.lerobot import ArmOptions, RobotClock

LOOP = """
import time
def precise_sleep(seconds):
    raise AssertionError("the wall clock")
def record(act, fps, length):
    late, timestamp, start = 0, 0, time.perf_counter()
    while timestamp < length:
        begin = time.perf_counter()
        act()
        rest = 1 / fps - (time.perf_counter() - begin)
        late += rest < 0
        precise_sleep(max(rest, 0.0))
        timestamp = time.perf_counter() - start
    return late
"""
"""What `record_loop` of LeRobot 0.4.4 does with the time."""


@pytest.mark.parametrize("fps", [3.0, 7.0, 10.0, 20.0, 30.0, 100.0])
def test_every_episode_has_the_actions_of_its_length_and_none_is_late(fps):
    session = types.SimpleNamespace(frames=0, options=ArmOptions(fps=fps))
    module = types.ModuleType("loop")
    exec(LOOP, module.__dict__)
    RobotClock(session).install(module)
    for length in (1, 3, 7.0, 15.0):
        session.frames = 0  # as a new scene

        def act():
            session.frames += 1

        assert module.record(act, fps, length) == 0
        assert session.frames == round(fps * length)
    assert module.time.time() > 0.0  # the rest of the module is that of Python
