"""How a node of ROS 1 comes, goes, and meets others: registrations, names, a second robot on one master."""

import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest
from ros1_world import template, until

from pliant.bridges.ros1 import Node

pytestmark = pytest.mark.network


@contextmanager
def running(tmp_path, *arguments):
    """Run pliant's command line in a process of its own; what it says is in ``out`` and ``err``."""
    with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "pliant", *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=out, stderr=err
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait(30)


def registered(master):
    return {
        *(t for t, nodes in master.publishers.items() if nodes),
        *(t for t, nodes in master.subscribers.items() if nodes),
        *master.services,
    }


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_ended_leaves_nothing_in_the_master(master, tmp_path, number):
    with running(tmp_path, "run", template(tmp_path), "--bridge", f"ros1:master={master.uri}", "--no-check") as process:
        client = Node("/client", master=master.uri, host="127.0.0.1")
        client.start()
        try:
            client.register()
            clock = []
            client.subscribe("/clock", "rosgraph_msgs/Clock", clock.append)
            until(lambda: clock or process.poll() is not None, "it runs", 60.0)
        finally:
            client.stop()
        process.send_signal(number)
        assert process.wait(60) in (0, 130)
    assert registered(master) == set()
    assert "s simulated" in (tmp_path / "out").read_text()  # the results are said
