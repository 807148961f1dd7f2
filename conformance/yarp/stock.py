"""The programs of a YARP that is installed or built: a name server of either kind, and what runs beside it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from peer import names

from pliant.base.errors import PliantError

HERE = Path(__file__).parent
FOLDER = os.environ.get("PLIANT_YARP", "")
"""Folder of the programs."""


def folder_of(*wanted: str) -> Path:
    """Return the folder of YARP's programs; where one of these is missing, ``yarp`` by default, the test is skipped."""
    folder = Path(FOLDER)
    for name in wanted or ("yarp",):
        if not FOLDER or not (folder / name).exists():
            pytest.skip(f"no {name} of YARP: set PLIANT_YARP to the folder that holds it and yarpserver (README.md)")
    return folder


def free_port():
    """Return a port with free numbers above it: yarpserver gives them to its clients without looking.

    They are below the ports that Linux gives to connections.
    """
    import random
    import socket

    while True:
        first = random.randrange(20_000, 30_000)
        try:
            for number in range(first, first + 60):
                with socket.create_server(("", number)):
                    pass
        except OSError:
            continue
        return first


class World:
    """A name server, pliant's or YARP's, and the programs of YARP in their environment.

    Args:
        folder: of the programs.
        home: an empty folder, for the configuration of YARP.
        ours: whether the name server is pliant's.
    """

    def __init__(self, folder, home, ours):
        self.folder, self.home, self.ours = folder, home, ours
        port = free_port()
        self.server = ("127.0.0.1", port)
        self.environment = {**os.environ, "YARP_CONFIG_HOME": str(home), "YARP_COLORED_OUTPUT": "0"}
        (home / "yarp.conf").write_text(f"127.0.0.1 {port} yarp\n")
        if ours:
            command = [sys.executable, "-m", "pliant", "yarpserver", "--socket", str(port)]
        else:
            command = [folder / "yarpserver", "--socket", str(port), "--ip", "127.0.0.1", "--write"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
        self.processes = [subprocess.Popen(command, env=self.environment, **quiet)]
        self.wait(lambda: names(self.server, "query /root").startswith("registration"))

    def start(self, program, *arguments, ports=()):
        """Start a program of YARP and wait until it has registered ports."""
        return self.start_command([self.folder / program, *arguments], ports)

    def start_command(self, command, ports=()):
        """Start a program in the environment of YARP and wait until it has registered ports."""
        log = (self.home / f"{len(self.processes)}.log").open("w")
        process = subprocess.Popen(
            command, env=self.environment, stdout=log, stderr=log, cwd=self.home, start_new_session=True
        )
        self.processes.append(process)
        for port in ports:
            self.wait(lambda port=port: names(self.server, f"query {port}").startswith("registration"))
        return process

    def serve(self, *options):
        """Start a bench on the name server."""
        bench = subprocess.Popen(
            [sys.executable, HERE / "serve.py", ":".join(map(str, self.server)), *options],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.processes.append(bench)
        assert bench.stdout.readline().strip().endswith(f":{self.server[1]}")

    @staticmethod
    def wait(condition, seconds=120.0):
        end = time.monotonic() + seconds
        while True:
            try:
                if condition():
                    return
            except (OSError, PliantError):  # a program registers a port before it listens
                pass
            assert time.monotonic() < end
            time.sleep(0.05)

    def pliant(self, *arguments, seconds=300):
        """Run pliant to its end and return what it prints."""
        done = subprocess.run(
            [sys.executable, "-m", "pliant", *arguments], env=self.environment, capture_output=True, text=True,
            timeout=seconds, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def run(self, *arguments, text=None, seconds=120):
        done = subprocess.run(
            [self.folder / "yarp", *arguments], env=self.environment, input=text, capture_output=True, text=True,
            timeout=seconds, check=False,
        )  # fmt: skip
        return done.stdout + done.stderr

    def python(self, code, **more):
        done = subprocess.run(
            [self.folder / "python", "-c", textwrap.dedent(code)], env={**self.environment, **more},
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def close(self):
        for process in self.processes[::-1]:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)  # the programs of a wheel are started by a script
            process.wait(30)
