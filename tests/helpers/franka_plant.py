"""Franka arms in MuJoCo without devices and loop, for tests of the cabinet and of the models."""

import mujoco

from pliant.franka.device.plant import ArmPlant
from pliant.franka.robots.build import ArmMount, world

ONE = (ArmMount(),)


class Plant:
    """A world of arms: model, state and one `ArmPlant` for each."""

    def __init__(self, mounts=ONE, *, friction=True, spec=None):
        self.mounts = tuple(mounts)
        self.model = (spec or world(self.mounts)).compile()
        self.data = mujoco.MjData(self.model)
        self.arms = [ArmPlant(self.model, self.data, m.name, arm=m.arm, friction=friction) for m in self.mounts]
        self.reset()

    def reset(self):
        """Put every arm at its start, at rest."""
        mujoco.mj_resetData(self.model, self.data)
        for mount, arm in zip(self.mounts, self.arms, strict=True):
            arm.start(mount.q)
        mujoco.mj_forward(self.model, self.data)

    def step(self):
        """Advance by one millisecond."""
        mujoco.mj_step(self.model, self.data)
