"""Bridges to nowhere, which misbehave on request; tests register them under their names."""

import logging
import signal
import threading

from pliant.simulation import BridgeBase

LONG = "/a_name_space/of_some_depth/" + "joint_with_a_long_name_" * 4 + "/reference_1"


class Wire(BridgeBase):
    """Counts steps, and does one thing at one of them."""

    name = "wire"

    def __init__(self, at=-1, act=lambda: None):
        self.steps, self.at, self.act = 0, at, act
        self.stopped = 0

    def start(self, devices):
        self.devices = devices

    def tick(self, stamp_ns):
        self.steps += 1
        if self.steps == self.at:
            self.act()

    def stop(self):
        self.stopped += 1

    def health(self):
        return {"steps": self.steps, "dropped": 0, "rejected": 0, "loop_us_per_step": 1.0}

    def report(self):
        row = {"topic": LONG, "type": "sensor_msgs/JointState", "direction": "out", "count": self.steps, "rate": 1000.0}
        return [
            {**row, "peers": ["/a_listener_with_a_name_of_its_own", "/another_one"]},
            {**row, "count": 0, "peers": []},
        ]


class Mute(Wire):
    """A lock-step bridge whose client answers nothing after some steps."""

    lockstep = True
    name = "mute"
    awaited = ("/arm/reference_1", "/arm/reference_2")

    def __init__(self, answers=10):
        super().__init__()
        self.answers = answers

    def wait(self, timeout):
        return self.steps <= self.answers


class Stuck(Wire):
    """A lock-step bridge that waits for ever, as for a client that never came; Ctrl-C is pressed meanwhile."""

    lockstep = True
    name = "stuck"

    def wait(self, timeout):
        if self.steps < 20:
            return True
        signal.raise_signal(signal.SIGINT)
        assert not threading.Event().wait(60.0), "nobody sets it"
        raise RuntimeError("Ctrl-C did not end the wait")


class Own(Wire):
    """A lock-step bridge with a time-out of its own."""

    lockstep = True
    name = "own"
    own_timeout = "patience"

    def wait(self, timeout):
        return True


def plain(robot):
    return Wire()


def mute(robot, answers: int = 10):
    return Mute(answers)


def stuck(robot):
    return Stuck()


def own(robot):
    return Own()


def ctrl_c(robot, at: int = 50):
    return Wire(at, lambda: signal.raise_signal(signal.SIGINT))


def refusing(robot, at: int = 5):
    return Wire(at, lambda: logging.getLogger("pliant.wire").warning("/elbow/reference_1: nan is not finite"))


def chatty(robot, at: int = 5):
    return Wire(at, lambda: print("the page reloads"))


def failing(robot):
    from pliant.base.errors import BridgeError

    class Failing(Wire):
        def start(self, devices):
            raise BridgeError("no master answers")

    return Failing()
