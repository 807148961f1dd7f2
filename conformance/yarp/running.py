"""A robot served to programs of YARP, with a name server of its own."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

START_S = 120.0
"""Longest wait for the simulation: a first start compiles."""


@contextlib.contextmanager
def running(home: Path, robot: str, options: str = "", settings: Sequence[str] = ()) -> Iterator[dict[str, str]]:
    """Run a robot with the bridge; give the environment in which programs of YARP find it.

    Args:
        home: an empty folder, for the configuration of YARP and the log.
        robot: name or file.
        options: of the bridge.
        settings: further arguments of ``pliant run``.
    """
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    (home / "yarp.conf").write_text(f"127.0.0.1 {port} yarp\n")
    environment = {**os.environ, "YARP_CONFIG_HOME": str(home), "YARP_COLORED_OUTPUT": "0"}
    log = home / "log"
    with log.open("w") as file:
        command = [
            sys.executable,
            "-m",
            "pliant",
            "run",
            robot,
            "--bridge",
            f"yarp:{options}" if options else "yarp",
            *settings,
        ]
        process = subprocess.Popen(command, env=environment, stdout=file, stderr=file)
        try:
            end = time.monotonic() + START_S
            while "name server started" not in log.read_text():
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < end, log.read_text()
                time.sleep(0.2)
            yield environment
        finally:
            process.terminate()
            process.wait(20.0)
