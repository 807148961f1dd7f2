"""The links with the actuator group of Isaac Lab, and MuJoCo in place of its physics; run with Isaac Lab's interpreter.

Isaac Lab's own classes make and hold the group; its physics, which needs a GPU, is not part of this.
"""

import mujoco
import numpy as np
import torch
from isaaclab.utils.types import ArticulationActions
from link import ACTUATORS, DT, JOINTS, START, STEPS, WORLDS, XML, commands, tell

from pliant.learn.adapters.isaaclab import CompliantJointsCfg

cfg = CompliantJointsCfg(joint_names_expr=[".*"], actuators=ACTUATORS, dt=DT, second="velocity_target")
group = cfg.class_type(cfg=cfg, joint_names=list(JOINTS), joint_ids=slice(None), num_envs=WORLDS, device="cpu")
model = mujoco.MjModel.from_xml_string(XML)
worlds = [mujoco.MjData(model) for _ in range(WORLDS)]
found = []
for begin in (0.5, 0.0):  # a first episode from elsewhere, which the reset shall leave no trace of
    for data, start in zip(worlds, START, strict=True):
        mujoco.mj_resetData(model, data)
        data.qpos[:] = start + begin
    group.reset(list(range(WORLDS)))
    found = []
    for step in range(STEPS if begin == 0.0 else 20):
        position, preset = (torch.tensor(value) for value in commands(step))
        q, dq = (torch.tensor(np.float32([getattr(d, name) for d in worlds])) for name in ("qpos", "qvel"))
        targets = ArticulationActions(position, preset, torch.zeros_like(position), slice(None))
        efforts = group.compute(targets, joint_pos=q, joint_vel=dq).joint_efforts.numpy()
        for data, torque in zip(worlds, efforts, strict=True):
            data.qfrc_applied[:] = torque
            mujoco.mj_step(model, data)
        found.append([data.qpos.copy() for data in worlds])
tell(found)
