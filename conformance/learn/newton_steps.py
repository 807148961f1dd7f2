"""The links in Newton, with the adapter of pliant; run with Newton's interpreter."""

import newton
import numpy as np
from link import ACTUATORS, DT, JOINTS, START, STEPS, WORLDS, XML, commands, tell

from pliant.learn.adapters.newton import CompliantDrive

robot = newton.ModelBuilder()
newton.solvers.SolverMuJoCo.register_custom_attributes(robot)
robot.add_mjcf(XML)
names = [label.split("/")[-1] for label in robot.joint_label]
for name in JOINTS:
    index = robot.joint_qd_start[names.index(name)]
    robot.add_actuator(CompliantDrive, index=index, actuator=ACTUATORS[name], dt=DT, second="velocity_target")
builder = newton.ModelBuilder()
newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
builder.replicate(robot, WORLDS)
model = builder.finalize(device="cpu")
solver = newton.solvers.SolverMuJoCo(model, use_mujoco_cpu=WORLDS == 1, integrator="euler")
order = np.argsort([names.index(name) for name in JOINTS])
assert model.joint_dof_count == WORLDS * len(JOINTS)
old, new, control = model.state(), model.state(), model.control()
before, after = ([actuator.state() for actuator in model.actuators] for _ in range(2))
found = []
for begin in (0.5, 0.0):  # a first episode from elsewhere, which the reset shall leave no trace of
    for state in before:
        state.reset()
    old.joint_q.assign((START + np.float32(begin))[:, order].ravel())
    old.joint_qd.zero_()
    found = []
    for step in range(STEPS if begin == 0.0 else 20):
        position, preset = (value[:, order].ravel() for value in commands(step))
        control.joint_target_q.assign(position)
        control.joint_target_qd.assign(preset)
        control.joint_f.zero_()
        for actuator, first, second in zip(model.actuators, before, after, strict=True):
            actuator.step(old, control, first, second, dt=DT)
        before, after = after, before
        solver.step(old, new, control, None, DT)
        old, new = new, old
        found.append(old.joint_q.numpy().reshape(WORLDS, -1)[:, np.argsort(order)])
tell(found)
