"""The process behind `pliant.franka.testing`: serves a robot, and answers questions in lines of JSON."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.base.errors import PliantError
from pliant.franka.wire import fci

if TYPE_CHECKING:
    from pliant.franka.bridge import FciBridge
    from pliant.simulation import Simulation

TIMEOUT = 30.0
"""Longest wait for an answer of the simulation [s]."""


class _Answers:
    """Handlers of the questions; all but the waits run in the thread of the loop."""

    def __init__(self, simulation: Simulation, bridge: FciBridge) -> None:
        self._simulation, self._bridge = simulation, bridge

    def answer(self, asked: dict[str, Any]) -> object:
        """Return the value of a question."""
        fields = {key: value for key, value in asked.items() if key != "do"}
        if asked["do"] == "request":
            found = self._simulation.request(fields["arm"], fields["name"], **fields["arguments"]).result(TIMEOUT)
            return found if isinstance(found, str | int | float | bool | None) else str(found)
        actions: dict[str, Callable[..., object]] = {
            "state": self._state,
            "contact": self._contact,
            "reset": self._reset,
            "record": self._simulation.record,
            "stop_recording": self._simulation.stop_recording,
        }
        action = actions[asked["do"]]
        value = self._simulation.submit(lambda: action(**fields)).result(TIMEOUT)
        until = time.monotonic() + TIMEOUT
        while not self._simulation.time and time.monotonic() < until:
            time.sleep(1e-3)  # after a reset there is no state before the first step has ended
        return value

    def _state(self, arm: str) -> dict[str, object]:
        sample = self._simulation.sample(arm)
        found = {name: np.asarray(sample.values[name]).tolist() for name in sample.values}
        found["robot_mode"] = fci.RobotMode(int(found["robot_mode"])).name.lower()
        for name in ("errors", "reflex_reason"):
            found[name] = [error for error, bit in zip(fci.ERRORS, found[name], strict=True) if bit]
        return {**found, "time": self._simulation.time}

    def _contact(self) -> list[dict[str, object]]:
        import mujoco

        from pliant.engine.base import mujoco_state

        state = mujoco_state(self._simulation.engine, "contact")
        model, data = state.model, state.data
        arms = tuple(f"{server.device.name}_" for server in self._bridge.arms)
        found, wrench = [], np.zeros(6)
        for i in range(data.ncon):
            contact = data.contact[i]
            names = [model.body(model.geom_bodyid[geom]).name for geom in contact.geom]
            ours = [name.startswith(arms) for name in names]
            if ours[0] == ours[1]:
                continue
            mujoco.mj_contactForce(model, data, i, wrench)
            # MuJoCo's wrench acts on the second geom, along the rows of the frame.
            force = contact.frame.reshape(3, 3).T @ wrench[:3] * (1.0 if ours[1] else -1.0)
            body, other = names if ours[0] else names[::-1]
            found.append({"body": body, "other": other, "position": contact.pos.tolist(), "force": force.tolist()})
        return found

    def _reset(self) -> None:
        for server in self._bridge.arms:
            server.disconnect("the server was reset")
        self._simulation.reset()


def main(text: str) -> None:
    """Serve until the input ends; print one line of JSON when the ports are open, and one an answer.

    Args:
        text: JSON with "robot", "options", "host", "mode" and "system_version".
    """
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.franka.bridge import FciBridge, FciOptions
    from pliant.robots import build_robot
    from pliant.simulation import Simulation

    def say(**fields: object) -> None:
        sys.stdout.write(json.dumps(fields) + "\n")
        sys.stdout.flush()

    given = json.loads(text)
    try:
        options = FciOptions(host=given["host"], mode=given["mode"], system_version=given["system_version"])
        bridge = FciBridge(options)
        robot = build_robot(given["robot"], {key: _written(value) for key, value in given["options"].items()})
        simulation = Simulation(MujocoEngine(robot), make_devices(robot), [bridge])
        simulation.step()  # before the first question, so that there is a state
    except PliantError as error:
        say(error=str(error))
        return
    say(value={server.device.name: server.host for server in bridge.arms})
    answers = _Answers(simulation, bridge)

    def converse() -> None:
        for line in sys.stdin:
            try:
                say(value=answers.answer(json.loads(line)))
            except Exception as error:  # the asker gets it
                say(error=f"{type(error).__name__}: {error}")
        simulation.stop()

    with simulation:
        threading.Thread(target=converse, name="pliant-questions", daemon=True).start()
        simulation.run()


def _written(value: object) -> str:
    """Return an option as the command line has it."""
    if isinstance(value, list):
        return ",".join(map(_written, value))
    return str(value).lower() if isinstance(value, bool | None) else str(value)


if __name__ == "__main__":
    main(sys.argv[1])
