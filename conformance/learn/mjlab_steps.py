"""The links in mjlab, with the adapter of pliant; run with mjlab's interpreter."""

import mujoco
import torch
from link import ACTUATORS, DT, JOINTS, START, STEPS, WORLDS, XML, commands, tell
from mjlab.entity import EntityArticulationInfoCfg, EntityCfg
from mjlab.scene import Scene, SceneCfg
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg

from pliant.learn.adapters.mjlab import CompliantJointsCfg

joints = CompliantJointsCfg(target_names_expr=(".*",), actuators=ACTUATORS, second="velocity_target")
robot = EntityCfg(
    spec_fn=lambda: mujoco.MjSpec.from_string(XML),
    articulation=EntityArticulationInfoCfg(actuators=(joints,)),
)
scene = Scene(SceneCfg(num_envs=WORLDS, entities={"robot": robot}), device="cpu")
model = scene.compile()
sim = Simulation(
    num_envs=WORLDS, cfg=SimulationCfg(mujoco=MujocoCfg(timestep=DT, integrator="euler")), model=model, device="cpu"
)
scene.initialize(sim.mj_model, sim.model, sim.data)
entity = scene["robot"]
assert tuple(entity.joint_names) == JOINTS
found = []
for begin in (0.5, 0.0):  # a first episode from elsewhere, which the reset shall leave no trace of
    start = torch.tensor(START) + begin
    entity.write_joint_state_to_sim(start, torch.zeros_like(start))
    scene.reset()
    sim.forward()
    found = []
    for step in range(STEPS if begin == 0.0 else 20):
        position, preset = (torch.tensor(value) for value in commands(step))
        entity.set_joint_position_target(position)
        entity.set_joint_velocity_target(preset)
        scene.write_data_to_sim()
        sim.step()
        scene.update(DT)
        found.append(entity.data.joint_pos.cpu().numpy().copy())
tell(found)
