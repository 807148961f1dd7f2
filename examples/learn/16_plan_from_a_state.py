"""Model predictive path integral control (Williams et al. 2017) of a soft arm, from the state of a batch.

You will see the error of the joint's angle shrink while the arm points at a target: each action is the mean of 64
random plans, weighted by their return, tried from the same state in 64 worlds. World 0 is the robot.

Run it: python examples/learn/16_plan_from_a_state.py
"""

import numpy as np

from pliant.learn.envs import BatchEnv
from pliant.learn.envs.tasks import touch

WORLDS, HORIZON, ACTIONS = 64, 4, 12
TARGET = -0.8
TEMPERATURE = 0.02


def returns(env: BatchEnv, state: dict, plans: np.ndarray) -> np.ndarray:
    """Return what each plan earns from a state, shape (worlds,)."""
    env.set_state(state)  # of one world, in all of them
    total = np.zeros(env.num_envs)
    for actions in plans:
        observations = env.step(actions)[0]
        total -= np.abs(observations[:, 0] - TARGET)
    return total


def main() -> float:
    """Point at the target; return the last error [rad]."""
    rng = np.random.default_rng(1)
    task = touch.task(preset=0.6, randomize={}).replace(duration=60.0)
    env = BatchEnv(task, WORLDS, autoreset_mode="Disabled")
    observations, _ = env.reset(seed=1, options={"positions": {"target": TARGET}})
    plan = np.zeros((HORIZON, 2))
    for k in range(ACTIONS):
        state = env.get_state([0])
        plans = np.clip(plan[:, None] + rng.normal(0.0, 0.2, (HORIZON, WORLDS, 2)), -1.0, 1.0)
        earned = returns(env, state, plans)
        weight = np.exp((earned - earned.max()) / TEMPERATURE)
        plan = np.einsum("w,hwa->ha", weight / weight.sum(), plans)
        env.set_state(state)
        observations = env.step(np.tile(plan[0], (WORLDS, 1)))[0]
        plan = np.concatenate([plan[1:], plan[-1:]])
        if k % 3 == 2:
            print(f"{0.1 * (k + 1):.1f} s: {abs(observations[0, 0] - TARGET):.3f} rad off the target")
    env.close()
    return float(abs(observations[0, 0] - TARGET))


if __name__ == "__main__":
    main()
