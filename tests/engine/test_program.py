"""Steps in one call of machine code: the same bytes as MuJoCo's step with the same work after each, and its errors."""

import ctypes
import signal

import mujoco
import numpy as np
import pytest
from audited import AuditedEngine

from pliant.base.errors import DivergedError
from pliant.engine import MujocoEngine
from pliant.engine.flush import FLUSH_PERIOD, flush_state
from pliant.engine.guard import KEPT
from pliant.engine.program import SIGNAL_PERIOD, StepProgram, physics
from pliant.laws.compile import BoundKernel, assemble, bound, from_block
from pliant.robots import list_robots
from pliant.robots.loading import load

PACKAGES = ("g1", "icub", "talos")  # their files come from other packages
ROBOTS = ("awas2-1dof", "bavs-1dof", "franka", "qbmove-5dof", "sea-1dof", "softfoot-bench")


def drive(engine, advance, steps=300, every=25):
    """Move the controls and push every 25 steps."""
    random, controls = np.random.default_rng(3), engine.data.ctrl.copy()
    for _ in range(0, steps, every):
        engine.data.ctrl[:] = controls + 0.02 * random.standard_normal(controls.shape)
        engine.data.qfrc_applied[:] = 0.01 * random.standard_normal(engine.model.nv)
        advance(engine, every)


def repeat(engine, n, times):
    for _ in range(times):
        engine.step(n)


def by_mujoco(engine, n):
    """Advance as a program of Python does: MuJoCo's step, small numbers, then the observation."""
    data = engine.data
    for _ in range(n):
        mujoco.mj_step(engine.model, data)
        engine._steps += 1
        if engine._steps % FLUSH_PERIOD == 0:
            flush_state(data.qpos, engine.model.nq, data.qvel, engine.model.nv, data.act, engine.model.na,
                        data.qacc_warmstart)  # fmt: skip
        engine._observe()


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("kind", [MujocoEngine, AuditedEngine], ids=["plain", "audited"])
def test_steps_at_once_single_steps_and_mujocos_own_give_the_same_bytes(name, kind):
    assert set(ROBOTS) <= {robot.name for robot in list_robots()} - set(PACKAGES)
    single, at_once, plain = (kind(load(name)) for _ in range(3))
    drive(single, lambda engine, n: [engine.step() for _ in range(n)])
    drive(at_once, lambda engine, n: engine.step(n))
    drive(plain, by_mujoco)
    for engine in (single, at_once):
        assert engine.save().tobytes() == plain.save().tobytes()
        assert engine.observed.tobytes() == plain.observed.tobytes()
    assert single.guard is not None
    assert at_once.guard is not None
    kept, every = at_once.guard.states(), mujoco.mjtState.mjSTATE_INTEGRATION
    assert single.guard.states().tobytes() == kept.tobytes()
    assert len(kept) == KEPT
    now, back = np.zeros(mujoco.mj_stateSize(plain.model, every)), mujoco.MjData(plain.model)
    mujoco.mj_setState(plain.model, back, kept[-1], at_once.guard._spec)
    mujoco.mj_getState(plain.model, back, now, every)
    assert now.tobytes() == plain.save()[:-1].tobytes()
    if isinstance(single, AuditedEngine) and isinstance(at_once, AuditedEngine):
        assert single.audit.balance() == at_once.audit.balance()


def test_steps_at_once_end_where_single_steps_diverge():
    def run(n):
        engine = MujocoEngine(load("qbmove-1dof"))
        engine.step(10)
        engine.data.qfrc_applied[:] = 1e7
        with pytest.raises(DivergedError, match="diverged at t") as caught:
            repeat(engine, n, 500 // n)
        return engine.steps, caught.value.joint, caught.value.time, np.load(caught.value.dump)["states"].tobytes()

    assert run(1) == run(500)


def test_an_error_of_mujoco_is_raised_and_the_engine_goes_on():
    engine = MujocoEngine(load("qbmove-1dof"))
    engine.step(3)
    integrator = engine.model.opt.integrator
    engine.model.opt.integrator = 99
    with pytest.raises(mujoco.FatalError) as ours:
        engine.step(2)
    with pytest.raises(mujoco.FatalError) as theirs:
        mujoco.mj_step(engine.model, engine.data)
    assert str(ours.value) == str(theirs.value)
    assert engine.steps == 3
    engine.model.opt.integrator = integrator
    engine.step(2)
    assert engine.steps == 5


def test_an_exception_in_a_callback_of_python_leaves_the_step():
    engine = MujocoEngine(load("qbmove-1dof"))

    def control(_model, _data):
        raise KeyError("mine")

    mujoco.set_mjcb_control(control)
    try:
        with pytest.raises(KeyError, match="mine"):
            engine.step(2)
    finally:
        mujoco.set_mjcb_control(None)
    engine.step(2)
    assert engine.steps == 2


def test_a_call_that_stops_ends_the_run_and_leaves_out_what_follows():
    engine = MujocoEngine(load("qbmove-1dof"))
    stop, ended = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    halt = bound(stop_after, ended, 3, stop)
    step = physics(engine.model, engine.data)
    assert StepProgram([], [step, halt], [halt], stop).run(10)
    assert ended[0] == 3
    assert engine.data.time == pytest.approx(3 * engine.dt)


def stop_after(count, most, stop):
    """Count, and stop at a number of calls (C arrays)."""
    count[0] += 1
    if count[0] == most:
        stop[0] = 1


def test_a_signal_ends_a_run_between_two_steps():
    engine = MujocoEngine(load("qbmove-1dof"))
    engine._program = StepProgram([], [*engine._program.each, signal_of(signal.SIGUSR1)], [], engine._stop)
    found = []

    def interrupt(*_):
        found.append(engine.data.time)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            engine.step(1000)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert engine.steps == SIGNAL_PERIOD
    assert found == [pytest.approx(SIGNAL_PERIOD * engine.dt)]
    engine._program = engine._make_program()
    engine.step(3)
    assert engine.steps == SIGNAL_PERIOD + 3


def signal_of(number):
    """Return the call that raises a signal."""
    at = f"inttoptr (i64 {ctypes.cast(ctypes.CDLL(None)['raise'], ctypes.c_void_p).value} to ptr)"
    machine, code = assemble(from_block("raise_signal", at, ("i32",)), "raise_signal")
    return BoundKernel(code, (number,), machine)
