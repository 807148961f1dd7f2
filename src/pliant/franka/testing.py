"""A plugin of pytest that gives tests a served Franka arm: the fixture ``franka_arm``.

pytest finds it by the entry point ``pliant_franka``. The arm runs in a process of its own, which serves the robot's
control interface, so that a client that holds Python's lock while it waits does not stop the robot::

    import pylibfranka, pytest

    @pytest.mark.franka_arm("fr3-workcell", objects="plate@hand", hand="none")
    def test_my_program(franka_arm):
        robot = pylibfranka.Robot(franka_arm.address, pylibfranka.RealtimeConfig.kIgnore)
        ...
        assert franka_arm.state.robot_mode == "idle"

This module imports nothing but pytest and the standard library: it is loaded with every run of pytest.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import pytest

_numbers = itertools.count(1)
_ATTEMPTS = 5
"""Addresses that are tried until one is free."""


class ServedArm:
    """A robot with Franka arms in a process of its own, served on an address of its own.

    Args:
        robot: name of a catalogue robot with a Franka arm, such as "fr3", "franka", "fr3-workcell", "franka-dual".
        mode: time mode of the interface: "lockstep", "paced" or "wall".
        system_version: version of the robot's system, see `pliant.franka.bridge.FciOptions`.
        options: options of the robot, those of ``--set robot.NAME=VALUE``.

    Raises:
        RuntimeError: the server did not start; the text says why.
    """

    def __init__(
        self, robot: str = "fr3", *, mode: str = "lockstep", system_version: str = "own", **options: object
    ) -> None:
        self.robot = robot
        self._process: subprocess.Popen[str] | None = None
        asked = {"robot": robot, "mode": mode, "system_version": system_version, "options": options}
        for attempt in range(_ATTEMPTS):
            host = f"127.{100 + os.getpid() % 100}.{next(_numbers) % 250 + 1}.1"
            self._process = subprocess.Popen(
                [sys.executable, "-m", "pliant.franka.testing_server", json.dumps({**asked, "host": host})],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            try:
                self.addresses: dict[str, str] = self._read()
            except RuntimeError as error:
                self.close()
                if "in use" not in str(error) or attempt == _ATTEMPTS - 1:
                    raise
            else:
                break

    @property
    def address(self) -> str:
        """Address of the first arm, which a client's ``Robot(address)`` takes; the hand has the same."""
        return next(iter(self.addresses.values()))

    @property
    def state(self) -> SimpleNamespace:
        """State of the first arm as the simulation has it, not as a client sees it: the fields of libfranka's
        RobotState with SI units, ``robot_mode`` and ``errors`` by name, and ``time`` [s]."""
        return self.state_of(next(iter(self.addresses)))

    def state_of(self, arm: str) -> SimpleNamespace:
        """Return the state of an arm by its name, a key of ``addresses``."""
        return SimpleNamespace(**self._ask("state", arm=arm))

    @property
    def contact(self) -> list[SimpleNamespace]:
        """True contacts of the arms with anything else now: ``body`` of the arm, ``other`` body, ``position`` [m], and
        the ``force`` on the arm [N], both in the world."""
        return [SimpleNamespace(**found) for found in self._ask("contact")]

    def reset(self) -> None:
        """Return everything to its start and end the clients' connections."""
        self._ask("reset")

    def request(self, name: str, arm: str = "", **arguments: object) -> object:
        """Send a request to an arm, such as ``request("user_stop", pressed=True)``; return its result.

        Args:
            name: name of the request.
            arm: name of the arm; "" for the first.
            **arguments: of the request.
        """
        return self._ask("request", arm=arm or next(iter(self.addresses)), name=name, arguments=arguments)

    @contextlib.contextmanager
    def recording(self, path: str | Path) -> Iterator[Path]:
        """Record the run into an MCAP file while the block runs; `pliant replay` shows it."""
        self._ask("record", path=str(path))
        try:
            yield Path(path)
        finally:
            self._ask("stop_recording")

    def close(self) -> None:
        """End the server; may be called twice."""
        process, self._process = self._process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            process.wait(10.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _ask(self, what: str, **fields: object) -> Any:
        if self._process is None:
            raise RuntimeError("the served arm is closed")
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # then the answer says why
            self._process.stdin.write(json.dumps({"do": what, **fields}) + "\n")
            self._process.stdin.flush()
        return self._read()

    def _read(self) -> Any:
        assert self._process is not None
        assert self._process.stdout is not None
        stdout: IO[str] = self._process.stdout
        line = stdout.readline()
        if not line:
            raise RuntimeError(f"the server of {self.robot} has ended; its messages are on the standard error")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["value"]


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers", "franka_arm(robot='fr3', mode='lockstep', **options): robot and options of the fixture franka_arm"
    )


@pytest.fixture(scope="session")
def _franka_arms() -> Iterator[dict[str, ServedArm]]:
    arms: dict[str, ServedArm] = {}
    yield arms
    for arm in arms.values():
        arm.close()


@pytest.fixture
def franka_arm(request: pytest.FixtureRequest, _franka_arms: dict[str, ServedArm]) -> ServedArm:
    """A served arm at its start; the marker ``franka_arm`` chooses robot and options.

    A server is started once for each choice of a session, and reset before each test.
    """
    marker = request.node.get_closest_marker("franka_arm")
    arguments = () if marker is None else marker.args
    options = {} if marker is None else marker.kwargs
    key = json.dumps([arguments, options], sort_keys=True)
    if key in _franka_arms:
        _franka_arms[key].reset()
    else:
        _franka_arms[key] = ServedArm(*arguments, **options)
    return _franka_arms[key]
