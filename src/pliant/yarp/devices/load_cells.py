"""Load cells below a foot: vertical forces at given places that are equal to what the ground does to the foot."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from pliant.base.errors import DeviceError, nearest
from pliant.devices.base import DeviceBase, DeviceOptions, FieldInfo
from pliant.devices.kinds import device_for
from pliant.devices.sensors import sample_period
from pliant.engine.base import Engine, mujoco_state
from pliant.model.contacts import contact_wrench
from pliant.model.robot import Robot
from pliant.yarp.model.services import ContactLoadCells

RATE = 100.0
"""Samples a second [Hz]."""


@device_for(ContactLoadCells)
class LoadCellsDevice(DeviceBase):
    """Vertical forces of load cells, computed from the contact forces on a link.

    The contact forces are summed to a wrench at the origin of the link's frame. The forces f of the cells at (x, y) are
    the smallest ones with the same vertical force and the same tilting torques:
    sum f = Fz, sum y f = Tx, -sum x f = Ty. With fewer than three cells, or cells on a line, they are the nearest.

    Args:
        description: the cells.
        robot: the robot.
        options: of `DeviceBase`; without ``sample_period`` it samples a hundred times a second.
    """

    signatures = ("load_cells",)

    def __init__(self, description: ContactLoadCells, robot: Robot, **options: Unpack[DeviceOptions]) -> None:
        n = len(description.cells)
        if n < 1 or len(description.positions) != n:
            raise DeviceError(
                f"{description.name}: {n} cells and {len(description.positions)} positions; must be one for each cell",
                field="cells",
            )
        names = [body.name for body in robot.spec.bodies]
        if description.link not in names:
            raise DeviceError(
                f"{description.name}: there is no link {description.link!r}; "
                f"{nearest(description.link, filter(None, names))}",
                field="link",
            )
        samples = {
            "load": FieldInfo((n,), "N", f"vertical forces on the cells {', '.join(description.cells)}, in link axes"),
            "wrench": FieldInfo((6,), "N, N m", "force and torque of all contacts, at the link's origin, in its axes"),
        }
        options.setdefault("sample_period", sample_period(RATE, float(robot.spec.option.timestep)))
        super().__init__(
            description.name,
            samples=samples,
            **options,
        )
        self.joints = tuple(description.cells)
        self.metadata = {"link": description.link}
        self._link = description.link
        x, y = np.array(description.positions, dtype=float)[:, :2].T
        self._share = np.linalg.pinv(np.stack([np.ones(n), y, -x]))

    def _connect(self, engine: Engine) -> None:
        import mujoco

        self._state = mujoco_state(engine, self.name)
        model = self._state.model
        self._body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, self._link)
        welded = int(model.body_weldid[self._body])
        # A foot is often several bodies that are fixed to each other.
        self._geoms = frozenset(
            int(g) for g in range(model.ngeom) if int(model.body_weldid[model.geom_bodyid[g]]) == welded
        )

    def contact_wrench(self) -> np.ndarray:
        """Return force [N] and torque [N m] of all contacts of the link, at its origin, in its axes, shape (6,)."""
        model, data = self._state.model, self._state.data
        total = np.zeros(6)
        origin, axes = data.xpos[self._body], data.xmat[self._body].reshape(3, 3)
        for c in range(data.ncon):
            first, second = (int(g) for g in data.contact.geom[c])
            sign = (second in self._geoms) - (first in self._geoms)
            if not sign:
                continue
            force, torque = (sign * part for part in contact_wrench(model, data, c))
            total[:3] += force
            total[3:] += torque + np.cross(data.contact.pos[c] - origin, force)
        return np.concatenate([axes.T @ total[:3], axes.T @ total[3:]])

    def _measure(self) -> dict[str, float | np.ndarray]:
        wrench = self.contact_wrench()
        return {"load": self._share @ wrench[2:5], "wrench": wrench}
