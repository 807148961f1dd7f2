"""The real Franka clients from PyPI against the server, each in a process of its own, in lock-step.

Each client's script runs once; every step in it is one test here. Stock clients know one port only, so each server
has a loopback address of its own.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "fci"
TIMEOUT = 0.3
"""What a lock-step cycle waits for its command [s]: longer than a busy machine keeps a client from its core, shorter
than what clients wait for a state. The silent client's step takes 25 times as long."""

CLIENTS = {
    "pylibfranka": ("pylibfranka", "fr3"),
    "franky": ("franky", "fr3"),
    "panda": ("panda_py", "fer"),
    "weight": ("pylibfranka", "fr3"),
    "press": ("pylibfranka", "fr3"),
    "grasp": ("pylibfranka", "fr3"),
}
LOADS = {
    "weight": ("--load=0.1",),
    "press": ("--set=table=true", "--set=objects=plate@hand", "--set=hand=none"),
    "grasp": ("--set=table=true", "--set=objects=box@hand"),
}
"""Client -> further options of its server."""

pytestmark = [pytest.mark.network, pytest.mark.slow]


def names(client):
    text = (FOLDER / f"{client}_steps.py").read_text(encoding="utf-8")
    return re.findall(r"^@step\ndef (\w+)", text, flags=re.MULTILINE)


def converse(client, *, mode="lockstep", timeout=TIMEOUT, number=1):
    """Run a client's script against a fresh server; return its steps and the server's health."""
    host = f"127.{10 + os.getpid() % 200}.{number}.1"
    _, arm = CLIENTS[client]
    options = (f"--host={host}", f"--arm={arm}", f"--mode={mode}", f"--command-timeout={timeout}")
    options += LOADS.get(client, ())
    server = subprocess.Popen(
        [sys.executable, FOLDER / "serve.py", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        assert server.stdout.readline().strip() == "READY"
        result = subprocess.run(
            [sys.executable, FOLDER / f"{client}_steps.py", host, str(timeout)],
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    finally:
        server.stdin.close()
    health = json.loads(server.stdout.read().strip().splitlines()[-1])
    server.wait(60)
    server.stdout.close()
    steps = {}
    for line in result.stdout.splitlines():
        if line.startswith('{"step"'):
            step = json.loads(line)
            steps[step["step"]] = step
    return steps, health, result


_RESULTS = {}


def results(client, run=0):
    module, _ = CLIENTS[client]
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    if (client, run) not in _RESULTS:
        _RESULTS[client, run] = converse(client, number=10 * run + 1 + list(CLIENTS).index(client))
    return _RESULTS[client, run]


@pytest.mark.parametrize(("client", "step"), [(c, s) for c in CLIENTS for s in names(c)])
def test_the_client_passes_the_step(client, step):
    steps, health, result = results(client)
    assert step in steps, f"the client ended before: {result.returncode} {result.stderr[-2000:]} {health}"
    assert steps[step]["ok"], f"{steps[step]['found']}\n{result.stderr[-2000:]}\n{health}"


@pytest.mark.parametrize("client", CLIENTS)
def test_nothing_was_lost_that_the_client_sent(client):
    _, health, _ = results(client)
    silent = 20 if client == "pylibfranka" else 0  # the one step that falls silent on purpose
    assert health["late"] == 0
    assert health["malformed"] == 0
    assert health["lost"] == silent, health


def test_the_scale_below_the_table_measures_what_the_program_presses():
    steps, health, _ = results("press")
    step = steps["the_weight_of_a_kilogram_is_pressed_on_the_surface"]
    assert step["ok"], step["found"]
    assert health["pressed"]["held"] == pytest.approx(9.81, rel=0.02)
    assert abs(step["found"]["force"]) == pytest.approx(health["pressed"]["held"], rel=0.02)


def test_two_runs_of_a_client_see_the_same_states():
    first, _, _ = results("pylibfranka")
    second, _, _ = results("pylibfranka", run=1)
    step = "states_of_a_motion_from_rest"
    assert first[step]["ok"]
    assert first[step]["found"] == second[step]["found"]


def test_a_torque_loop_in_python_runs_to_its_end():
    steps, _, _ = results("pylibfranka")
    assert steps["torque"]["found"]["cycles"] == 5001


def test_two_arms_in_one_world_serve_two_clients_at_once():
    if importlib.util.find_spec("pylibfranka") is None:
        pytest.skip("pylibfranka is not installed")
    hosts = [f"127.{10 + os.getpid() % 200}.50.{n}" for n in (1, 2)]
    server = subprocess.Popen(
        [sys.executable, FOLDER / "serve.py", f"--host={hosts[0]}", "--two"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        assert server.stdout.readline().strip() == "READY"
        clients = [
            subprocess.Popen([sys.executable, FOLDER / "swing_steps.py", host], stdout=subprocess.PIPE, text=True)
            for host in hosts
        ]
        said = [json.loads(client.communicate(timeout=240)[0]) for client in clients]
    finally:
        server.stdin.close()
    health = json.loads(server.stdout.read().strip().splitlines()[-1])
    server.wait(60)
    server.stdout.close()
    assert all(step["ok"] for step in said), said
    assert [(arm["name"], arm["lost"], arm["timeouts"]) for arm in health["arms"]] == [("left", 0, 0), ("right", 0, 0)]
