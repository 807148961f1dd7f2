"""What the vendor's grasp_object program does, through pylibfranka: grasp a box between the fingers, hold, release."""

import faulthandler
import sys
import time

import pylibfranka as f
from steps import Steps

faulthandler.dump_traceback_later(200, exit=True)
step = Steps()
WIDTH = 0.05
robot = f.Robot(sys.argv[1], f.RealtimeConfig.kIgnore)
hand = f.Gripper(sys.argv[1])


@step
def the_object_is_narrow_enough():
    state = hand.read_once()
    assert state.max_width >= WIDTH, state.max_width
    return state.max_width


@step
def the_object_is_grasped_and_held_for_three_seconds():
    assert hand.grasp(WIDTH, 0.1, 60.0)
    until = time.monotonic() + 3.0
    while time.monotonic() < until:  # robot time advances while the hand is read
        state = hand.read_once()
        assert state.is_grasped
    return state.width


@step
def the_object_is_released():
    assert hand.stop()
    assert not hand.read_once().is_grasped
