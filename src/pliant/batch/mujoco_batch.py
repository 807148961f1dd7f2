"""Batches: many simulations of one robot, stepped in parallel on all cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import mujoco
from mujoco.batch import Batch

from pliant.base.errors import ModelError
from pliant.engine import callbacks
from pliant.engine.guard import log_to_console_only
from pliant.engine.mujoco_engine import reset_to_rest, starts_of
from pliant.laws import layout
from pliant.model.wanted import check_robot

if TYPE_CHECKING:
    from pliant.laws.actuator import CompliantActuator
    from pliant.model.robot import Robot


def make_batch(
    robot: Robot | mujoco.MjModel, nsim: int, *, nthread: int = 0, model: mujoco.MjModel | None = None
) -> Batch:
    """Return a `mujoco.batch.Batch` of a robot, with every simulation at rest in the initial pose.

    The laws run in the threads of the batch. Write references with ``batch.ctrl``: the control of the actuator
    ``<joint>`` is reference 1, that of ``<joint>/ref_2`` is reference 2.

    Args:
        robot: a `pliant.model.Robot`, or a compiled `mujoco.MjModel`.
        nsim: number of simulations, >= 1.
        nthread: number of threads; 0 uses all cores.
        model: the compiled model of the robot, if the caller has it already.

    Raises:
        ModelError: nsim is less than 1, or the model changes while it runs.
    """
    check_robot(robot, "make_batch")
    if nsim < 1:
        raise ModelError(f"nsim is {nsim}; must be at least 1", field="nsim")
    if model is None:
        model = robot if isinstance(robot, mujoco.MjModel) else robot.compile()
    log_to_console_only()
    callbacks.install(model)
    batch = Batch(model, nsim, nthread)
    data = mujoco.MjData(model)
    reset_to_rest(model, data, *starts_of(robot))
    batch.reset()
    for name in ("qpos", "qvel", "act", "ctrl"):
        batch.bind(name)[:] = getattr(data, name)
    return batch


def put_at_rest(batch: Batch, robots: Sequence[Robot], models: Sequence[mujoco.MjModel]) -> None:
    """Set each simulation of a batch to rest as its own robot: pose, motors and references.

    Args:
        batch: the batch.
        robots: robot of each simulation.
        models: compiled model of each simulation, whose key frame "rest" has the initial pose. The actuators are those
            of the robot, so simulations that differ in actuators only may share one.
    """
    qpos, qvel, act, ctrl = (batch.bind(name) for name in ("qpos", "qvel", "act", "ctrl"))
    for sim, (robot, model) in enumerate(zip(robots, models, strict=True)):
        key = model.key("rest").id
        qpos[sim], qvel[sim], ctrl[sim] = model.key_qpos[key], model.key_qvel[key], model.key_ctrl[key]
        act[sim] = model.key_act[key]
        for joint, actuator in robot.actuators.items():
            i = model.actuator(joint).id
            q = float(qpos[sim, model.joint(joint).qposadr[0]])
            state, references = actuator.hold(q, float(model.opt.timestep))
            first, c = int(model.actuator_actadr[i]), int(model.actuator_ctrladr[i])
            if state.size:
                act[sim, first : first + state.size] = state
            ctrl[sim, c : c + actuator.commands] = references[: actuator.commands]


def set_actuators(
    batch: Batch,
    joint: str,
    actuators: Sequence[CompliantActuator] | Callable[[int], CompliantActuator],
    dt: float,
) -> None:
    """Give each simulation of a batch its own actuator on a joint.

    Args:
        batch: the batch.
        joint: the joint's name.
        actuators: one `CompliantActuator` per simulation, or a function of the simulation index. They may differ in all
            parameters, but not in what determines the state variables: mode family, number of motors, options with
            states.
        dt: time step of the model [s].

    Raises:
        ModelError: an actuator needs different state variables from those in the compiled model.
    """
    rows = batch.expand("actuator_user")
    index = mujoco.mj_name2id(batch.model, mujoco.mjtObj.mjOBJ_ACTUATOR, joint)
    if index < 0 or index not in callbacks.compliant_ids(batch.model):
        raise ModelError(f"no compliant actuator {joint!r} in this batch", field=joint)
    first = batch.model.actuator_user[index]
    for sim in range(batch.nsim):
        actuator = actuators(sim) if callable(actuators) else actuators[sim]
        row = actuator.pack(dt)
        if row[layout.P_STATES] != first[layout.P_STATES] or row[layout.P_COMPANION] != first[layout.P_COMPANION]:
            raise ModelError(
                f"simulation {sim}: the actuator of {joint!r} has other states than the batch's model (another mode, "
                "law or option); put it into a batch of its own",
                field=joint,
            )
        if row.size > rows.shape[2]:
            raise ModelError(
                f"simulation {sim}: the table of {joint!r} is longer than any in the batch's model; give the model the "
                "longest one",
                field=joint,
            )
        rows[sim, index, : row.size] = row
        callbacks.register(type(actuator.law))
