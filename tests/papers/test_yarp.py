"""Experiments through the ports of YARP: what a program sees, and the arithmetic behind the verdicts."""

import math

import mujoco
import numpy as np
import pytest
from mutations import quick

from pliant.base.errors import BridgeError, DivergedError
from pliant.engine import MujocoEngine
from pliant.papers.yarp_clock import LoopRun
from pliant.papers.yarp_ft_imu import noise_targets
from pliant.papers.yarp_impedance import GRAVITY, POSE, GravityModel
from pliant.walking.robots.biped.parameters import REST
from pliant.yarp.program import Board, biped, serve

pytestmark = pytest.mark.network


@pytest.mark.parametrize(
    ("name", "verdicts"),
    [
        pytest.param(
            "yarp-impedance",
            {"reproduced": 8, "consistent": 4, "not reproduced": 0, "not judged": 3},
            marks=pytest.mark.nightly,
        ),
        ("yarp-clock", {"reproduced": 1, "consistent": 4, "not reproduced": 0, "not judged": 3}),
        ("yarp-ft-imu", {"reproduced": 3, "consistent": 2, "not reproduced": 0, "not judged": 2}),
    ],
)
def test_the_statements_of_the_paper_have_these_verdicts(name, verdicts):
    result = quick(name)
    assert [t.name for t in result.failures] == []
    assert result.verdicts == verdicts
    assert result.summary


def test_every_simulated_period_is_a_millisecond_at_every_pace():
    result = quick("yarp-clock")
    assert [row[0] for row in result.tables[0].rows] == ["factor 0.1", "factor 1", "factor 5", "free", "lock-step"]
    assert all(row[1] == row[2] for row in result.tables[0].rows)
    assert result.tables[0].rows[-1][-1] == "99 of 99"


def test_a_loop_that_wakes_late_is_counted_and_not_judged():
    stamps = np.arange(4) * 1_000_000
    run = LoopRun(label="a", factor=1.0, stamps=stamps, times=stamps, slept=np.array([0, 1, 3, 4]) * 1_000_000)
    assert (run.worst, run.late, run.on_time, run.achieved) == (0.0, 1, "2 of 3", 1.0)


def test_a_refused_call_says_what_was_asked():
    with serve(biped(timestep=0.001)) as world:
        board = Board(world, "left_arm")
        with pytest.raises(BridgeError, match=r"\[get\] \[nope\] 0.*was refused"):
            board.call("[get] [nope] 0")
        board.close()


@pytest.mark.parametrize("steps", [0, 20])
def test_a_simulation_that_breaks_is_reported_with_its_cause(steps, monkeypatch):
    step, left = MujocoEngine.step, steps

    def breaking(*arguments):
        nonlocal left
        left -= 1
        if left < 0:
            raise DivergedError("broken for this test")
        return step(*arguments)

    monkeypatch.setattr(MujocoEngine, "step", breaking)
    with pytest.raises(DivergedError, match="broken for this test"), serve(biped(timestep=0.001)) as world:
        world.step(50)


@pytest.mark.parametrize(
    ("noise", "failing"),
    [
        (lambda rng: rng.standard_normal((3000, 3)), set()),
        (lambda rng: rng.standard_normal((3000, 3)) + 0.1, {"mean"}),
        (lambda rng: 1.1 * rng.standard_normal((3000, 3)), {"deviation"}),
        (lambda rng: np.repeat(rng.standard_normal((1500, 3)), 2, axis=0), {"correlation"}),
        (lambda rng: rng.uniform(-math.sqrt(3.0), math.sqrt(3.0), (3000, 3)), {"excess"}),
    ],
)
def test_only_white_gaussian_noise_meets_the_targets_of_noise(noise, failing):
    targets = noise_targets(0.2 * noise(np.random.default_rng(5)), 0.2, "x")
    missed = {t.name.split(": ")[1].split()[0] for t in targets if not t.passed}
    assert failing <= missed
    assert bool(failing) == bool(missed)


def test_the_gravity_model_of_the_program_is_that_of_the_engine():
    model = biped(timestep=0.002).compile()
    data = mujoco.MjData(model)
    joints = [j.name for j in (model.joint(i) for i in range(model.njnt)) if j.name in REST]
    for name in joints:
        data.joint(name).qpos[:] = REST[name]
    arm = [name for name in joints if name.startswith("l_") and ("shoulder" in name or "elbow" in name)]
    for name, angle in zip(arm, POSE, strict=True):
        data.joint(name).qpos[:] = angle
    mujoco.mj_forward(model, data)
    expected = [data.qfrc_bias[model.joint(name).dofadr[0]] for name in arm]
    found = GravityModel().torques(np.zeros(3), np.array(POSE))
    assert found == pytest.approx(expected, abs=1e-9)
    assert -model.opt.gravity[2] == GRAVITY
