"""Joint results of many worlds in MuJoCo Warp, accumulated on the device until the end of the run."""

# Warp declares the arrays of a kernel by calls.
# pyright: reportInvalidTypeForm=false
from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import ModelError
from pliant.batch.measures import Measures
from pliant.learn.laws import load_warp, warp_device
from pliant.learn.warp import WarpBatch, free_memory, load_mujoco_warp
from pliant.model.robot import Robot

if TYPE_CHECKING:
    import warp as wp


@functools.cache
def _kernels() -> dict[str, wp.Kernel]:
    wp = load_warp()

    @wp.kernel(enable_backward=False, module="unique")
    def measure(
        k: wp.int32,
        table: wp.array2d(dtype=wp.int32),
        qpos: wp.array2d(dtype=wp.float32),
        qvel: wp.array2d(dtype=wp.float32),
        force: wp.array2d(dtype=wp.float32),
        ctrl: wp.array2d(dtype=wp.float32),
        found: wp.array3d(dtype=wp.float64),
        trace: wp.array3d(dtype=wp.float32),
    ):
        w, j = wp.tid()
        q = wp.float64(qpos[w, table[j, 0]])
        found[0, w, j] = wp.min(found[0, w, j], q)
        found[1, w, j] = wp.max(found[1, w, j], q)
        error = wp.float64(ctrl[w, table[j, 3]]) - q
        found[2, w, j] = found[2, w, j] + error * error
        found[3, w, j] = wp.max(found[3, w, j], wp.float64(wp.abs(force[w, table[j, 2]])))
        found[4, w, j] = wp.max(found[4, w, j], wp.float64(wp.abs(qvel[w, table[j, 1]])))
        trace[k, w, j] = wp.float32(q)

    @wp.kernel(enable_backward=False, module="unique")
    def command(
        column: wp.int32,
        value: wp.float32,
        ctrl: wp.array2d(dtype=wp.float32),
    ):
        ctrl[wp.tid(), column] = value

    return {"measure": measure, "command": command}


def run_measured(
    batch: WarpBatch, joints: Sequence[str], commands: Sequence[Sequence[tuple[int, float]]], steps: int
) -> Measures:
    """Run a batch of worlds and return the results of its joints.

    Args:
        batch: the batch.
        joints: compliant joints, each driven by the actuator of the same name.
        commands: the controls that change before each step, as (column of ``ctrl``, value).
        steps: number of steps.

    Raises:
        ModelError: the positions of all steps do not fit into the memory of the device.
    """
    wp, d, model = load_warp(), batch.warp_data, batch.model
    each, free = 4 * steps * len(joints), free_memory(batch.device)
    if each * batch.worlds > free:
        raise ModelError(
            f"the positions of {batch.worlds} worlds in {steps} steps need {each * batch.worlds / 1e9:.3g} GB on "
            f"{batch.device}, where {free / 1e9:.3g} GB are free; must be at most {free // each} worlds",
            field="worlds",
        )
    rows = []
    for joint in joints:
        actuator = int(model.actuator(joint).id)
        at = int(model.actuator_trnid[actuator, 0])
        reference = int(model.actuator_ctrladr[actuator])
        rows.append((int(model.jnt_qposadr[at]), int(model.jnt_dofadr[at]), actuator, reference))
    places = np.array(rows, dtype=np.int32)
    shape = (batch.worlds, len(joints))
    with wp.ScopedDevice(batch.device):
        table = wp.array(places, dtype=wp.int32)
        start = np.zeros((5, *shape))
        start[0], start[1] = np.inf, -np.inf
        found = wp.array(start, dtype=wp.float64)
        trace = wp.empty((steps, *shape), dtype=wp.float32)
        kernels = _kernels()
        for k in range(steps):
            for column, value in commands[k]:
                wp.launch(kernels["command"], dim=batch.worlds, inputs=[column, value, d.ctrl])
            batch.step()
            inputs = [k, table, d.qpos, d.qvel, d.actuator_force, d.ctrl, found, trace]
            wp.launch(kernels["measure"], dim=shape, inputs=inputs)
    low, high, square, torque, speed = found.numpy()
    final = d.qpos.numpy()[:, places[:, 0]].astype(float)
    reference = d.ctrl.numpy()[:, places[:, 3]].astype(float)
    return Measures(final, low, high, square, torque, speed, reference, trace.numpy())


class WarpBackend:
    """MuJoCo Warp as a back end of sweeps: devices ``cuda``, ``cuda:N`` and ``warp-cpu``."""

    run_measured = staticmethod(run_measured)

    @staticmethod
    def check_device(device: str) -> None:
        """Raise an error if a package or the device is missing on this machine."""
        load_mujoco_warp()
        warp_device(device.removeprefix("warp-"))

    @staticmethod
    def make_batch(robot: Robot, worlds: int, device: str) -> WarpBatch:
        """Return a batch of worlds on a device, for a robot that has been checked."""
        return WarpBatch(robot, worlds, device.removeprefix("warp-"), check=False)
