"""The laws as actuators inside other simulators, each in an environment of its own, against pliant's engine.

`make_simulator_venv.sh` makes the environments from PyPI; a variable of `VARIABLES` names an existing one. Where there
is none, a test is skipped with a message that names the command.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import link

from pliant.engine import MujocoEngine
from pliant.model.robot import Robot

FOLDER = Path(__file__).parent
VARIABLES = {
    "mjlab": "PLIANT_MJLAB",
    "newton": "PLIANT_NEWTON",
    "playground": "PLIANT_PLAYGROUND",
    "isaaclab": "PLIANT_ISAACLAB",
}
"""Simulator -> environment variable with the folder of its virtual environment."""
LIMIT = 1200.0
"""How long a simulator may take, most of it to compile its kernels the first time [s]."""


def simulator_python(simulator):
    folder = os.environ.get(VARIABLES[simulator])
    if not folder:
        make = f"sh conformance/learn/make_simulator_venv.sh {simulator} FOLDER"
        pytest.skip(f"{VARIABLES[simulator]} names no virtual environment with {simulator}; make one: {make}")
    python = Path(folder) / "bin" / "python"
    assert python.exists(), f"{VARIABLES[simulator]} is {folder}, where there is no bin/python"
    return python


def engine_positions():
    """Return the positions of the engine, shape (steps, worlds, joints)."""
    found = np.zeros((link.STEPS, link.WORLDS, len(link.JOINTS)))
    for world in range(link.WORLDS):
        robot = Robot(mujoco.MjSpec.from_string(link.XML))
        for name, actuator in link.ACTUATORS.items():
            robot.add_actuator(name, actuator)
        engine = MujocoEngine(robot)
        engine.set_pose({name: float(q) for name, q in zip(link.JOINTS, link.START[world], strict=True)})
        for step in range(link.STEPS):
            for name, r1, r2 in zip(link.JOINTS, *(value[world] for value in link.commands(step)), strict=True):
                engine.port(f"{name}/reference_1")[:] = r1
                if link.ACTUATORS[name].law.motors == 2:
                    engine.port(f"{name}/reference_2")[:] = r2
            engine.step()
            found[step, world] = [engine.port(f"{name}/position")[0] for name in link.JOINTS]
    return found


@pytest.mark.slow
@pytest.mark.timeout(LIMIT + 60.0)
@pytest.mark.parametrize("simulator", VARIABLES)
def test_links_in_another_simulator_follow_the_engine_within_a_microradian_for_a_second(simulator):
    python = simulator_python(simulator)
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    env |= {"PYTHONPATH": os.pathsep.join([str(FOLDER.parents[1] / "src"), str(FOLDER)]), "JAX_PLATFORMS": "cpu"}
    words = [python, FOLDER / f"{simulator}_steps.py"]
    done = subprocess.run(words, capture_output=True, text=True, env=env, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found, expected = np.array(json.loads(done.stdout.splitlines()[-1])), engine_positions()
    assert found.shape == expected.shape
    assert (np.ptp(expected, axis=0) > 0.05).all()
    worst = abs(found - expected).max(axis=(0, 1))
    print(simulator, dict(zip(link.JOINTS, worst.tolist(), strict=True)))
    assert worst.max() <= 1e-6, worst
