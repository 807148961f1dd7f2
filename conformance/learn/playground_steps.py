"""The links in MJX as MuJoCo Playground steps it, with the adapter of pliant; run with Playground's interpreter."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
from link import ACTUATORS, JOINTS, START, STEPS, WORLDS, XML, commands, tell
from mujoco import mjx
from mujoco_playground._src import mjx_env

from pliant.learn.adapters.playground import CompliantJoints

mj_model = mujoco.MjModel.from_xml_string(XML)
joints = CompliantJoints(mj_model, ACTUATORS)
assert joints.names == JOINTS
model = mjx.put_model(mj_model)
start = jax.vmap(lambda q: mjx_env.make_data(mj_model, qpos=q, impl="jax"))(jnp.asarray(START))
motors = jax.vmap(lambda _: joints.motors())(jnp.arange(WORLDS))
step = jax.jit(jax.vmap(lambda data, references, motors: joints.step(model, data, references, motors)))
found = []
for begin in (0.5, 0.0):  # a first episode from elsewhere, which the second shall have no trace of
    data, found = start.replace(qpos=start.qpos + begin), []
    for k in range(STEPS if begin == 0.0 else 20):
        data, motors = step(data, jnp.stack([jnp.asarray(value) for value in commands(k)], axis=-1), motors)
        found.append(np.asarray(data.qpos))
tell(found)
