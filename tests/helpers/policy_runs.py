"""A policy in a batch, and the same over a bridge in lock-step, for tests that compare the two."""

import contextlib
import threading

import numpy as np
from fuzz import until

from pliant.learn.envs.vector import BatchEnv

PERIODS = 15
"""Actions of a comparison."""


@contextlib.contextmanager
def killed_in_the_middle(run, process):
    """Kill the process that serves a robot after three actions of the policy that the block runs."""
    killer = threading.Thread(
        target=lambda: (until(lambda: run.steps > 2, "steps", 240.0), process.kill()), daemon=True
    )
    killer.start()
    yield
    killer.join()
    assert run.steps > 2


def in_a_batch(task, act, policy, *, worlds=3, read=None, **reset):
    """Return what the last world of a batch shows at the start and after each action.

    Args:
        task: the task.
        act: function of an observation and the number of the action that returns the commands.
        policy: gives the limits of the commands.
        worlds: number of worlds.
        read: function of the environment and the observations; None for the observation itself.
        reset: arguments of the reset.
    """
    env = BatchEnv(task, worlds)
    seen, _ = env.reset(seed=1, **reset)
    show = read or (lambda env, seen: seen[-1].astype(float))
    found = [show(env, seen)]
    for k in range(PERIODS):
        values = np.array([act(row, k) for row in seen.astype(float)])
        seen = env.step(2.0 * (values - policy.low) / (policy.high - policy.low) - 1.0)[0]
        found.append(show(env, seen))
    env.close()
    return np.array(found)


def stepped_over_a_bridge(simulation, run, joints, expected, steps, messages):
    """Return what a policy observes over a bridge, whose simulation steps between two actions.

    Args:
        simulation: the simulation, which this steps.
        run: the `PolicyRun`.
        joints: its interface to the robot.
        expected: function of the simulation that returns what the observations are to be.
        steps: steps of the engine for each action.
        messages: messages of each action.
    """
    devices, submissions, submit = simulation.devices.values(), [], simulation.submit

    def counted(action):
        future = submit(action)
        submissions.append(future)
        return future

    simulation.submit = counted

    def arrived():
        return sum(device.inbox._count for device in devices) + len(submissions)

    joints.wait(30.0)
    found = []
    for k in range(PERIODS + 1):
        until(lambda: np.allclose(joints.observe()[0], expected(simulation), rtol=1e-6, atol=1e-9), "the newest state")
        found.append(joints.observe()[0])
        if k == PERIODS:
            break
        before = arrived()
        run.step()
        until(lambda before=before: arrived() - before >= messages, "the commands at the robot")
        simulation.step(steps)
    return np.array(found)
