"""The plugin of pytest: a served arm for other people's tests."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.franka.testing import ServedArm
from pliant.franka.testing_server import _Answers, main
from pliant.robots import build_robot
from pliant.simulation import Simulation

pytestmark = pytest.mark.network

PROGRAM = """
import numpy as np, pylibfranka, pytest

def move(address, cycles=200):
    robot = pylibfranka.Robot(address, pylibfranka.RealtimeConfig.kIgnore)
    control = robot.start_torque_control()
    for k in range(cycles):
        state, _ = control.readOnce()
        command = pylibfranka.Torques([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
        command.motion_finished = k == cycles - 1
        control.writeOnce(command)
    return robot.read_once()

def test_a_program_moves_the_arm(franka_arm):
    before = franka_arm.state.q
    seen = move(franka_arm.address)
    assert seen.q[3] - before[3] > 1e-3
    assert franka_arm.state.robot_mode == "idle"

def test_the_next_test_begins_at_the_start_again(franka_arm):
    assert franka_arm.state.time < 5.0
    assert np.abs(franka_arm.state.dq).max() < 1e-9
    before = franka_arm.state.q
    assert move(franka_arm.address).q[3] - before[3] > 1e-3

@pytest.mark.franka_arm("franka-dual", hand="none")
def test_two_arms_have_addresses_of_their_own(franka_arm):
    assert len(set(franka_arm.addresses.values())) == 2
    for address in franka_arm.addresses.values():
        move(address, 20)
"""


@pytest.mark.slow
def test_the_fixture_serves_programs_of_pylibfranka(tmp_path):
    if importlib.util.find_spec("pylibfranka") is None:
        pytest.skip("pylibfranka is not installed")
    (tmp_path / "test_program.py").write_text(PROGRAM)
    environment = {k: v for k, v in os.environ.items() if k != "PYTEST_ADDOPTS"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--strict-markers", "-p", "pliant.franka.testing", str(tmp_path)],
        env={**environment, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert re.search(r"\b3 passed", done.stdout), done.stdout[-3000:] + done.stderr[-1000:]


def test_the_plugin_imports_neither_mujoco_nor_numpy():
    code = "import sys, pliant.franka.testing; print([m for m in ('mujoco', 'numpy', 'numba') if m in sys.modules])"
    environment = {k: v for k, v in os.environ.items() if k != "PYTEST_ADDOPTS"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.fixture(scope="module")
def served():
    arm = ServedArm("fr3", friction=False)
    yield arm
    arm.close()


def test_the_fixture_knows_states_buttons_and_recordings(served, tmp_path):
    with served.recording(tmp_path / "run.mcap") as path:
        served.request("user_stop", pressed=True)
        assert served.state.robot_mode == "user_stopped"
    assert path.stat().st_size > 0
    assert served.contact == []
    for _ in range(20):
        served.reset()
        assert served.state.time < 2.0
    assert served.state.robot_mode == "idle"
    assert served.state.errors == []


def test_a_question_that_fails_says_why_and_the_server_goes_on(served):
    with pytest.raises(RuntimeError, match=r"there is no request 'user_stpo'.*user_stop"):
        served.request("user_stpo", pressed=True)
    with pytest.raises(RuntimeError, match="gripper"):
        served.state_of("gripper")
    assert len(served.state.q) == 7


def test_the_contacts_of_an_arm_are_what_the_scale_below_the_surface_measures():
    robot = build_robot("fr3", {"table": "true", "objects": "plate@hand", "hand": "none"})
    with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free") as simulation:
        arm = simulation.devices["franka"]
        answers = _Answers(simulation, SimpleNamespace(arms=[SimpleNamespace(device=arm)]))
        simulation.step(200)
        empty = simulation.sample("scale").values["force"][2]
        before = sum(found["force"][2] for found in answers._contact())
        data = simulation.engine.data
        data.xfrc_applied[simulation.engine.model.body("franka_link7").id, 2] = -40.0
        simulation.step(2000)
        touching = answers._contact()
        pressed = sum(found["force"][2] for found in touching)
        assert pressed - before > 10.0
        assert {found["body"] for found in touching} == {"franka_link7"}
        assert empty - simulation.sample("scale").values["force"][2] == pytest.approx(pressed - before, rel=0.02)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"robot": "fr4"}, "fr3"),
        ({"options": {"hand": "claw"}}, "vacuum"),
        ({"options": {"objects": ["box", "pad@0.5/-0.3", "ball"], "hand": None, "table": True}}, "no object 'ball'"),
        ({"mode": "fast"}, "lockstep"),
    ],
)
def test_a_robot_or_option_that_does_not_exist_is_answered_with_those_that_do(asked, said, capsys):
    given = {"robot": "fr3", "options": {}, "host": "127.0.0.1", "mode": "lockstep", "system_version": "own"}
    main(json.dumps(given | asked))
    assert said in json.loads(capsys.readouterr().out)["error"]
