"""Batches: many simulations of one robot that advance together, each with its own parameters.

* `CpuBatch` has worlds with the ports of the engine, parameters by name, and resets of single worlds; other wings
  implement its interface, `RobotBatch`, elsewhere.
* `make_batch` returns MuJoCo's own batch of a robot; `put_at_rest` and `set_actuators` set its simulations.
"""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "Choice": "pliant.batch.distributions",
    "CpuBatch": "pliant.batch.worlds",
    "LogUniform": "pliant.batch.distributions",
    "Normal": "pliant.batch.distributions",
    "RobotBatch": "pliant.batch.worlds",
    "Uniform": "pliant.batch.distributions",
    "make_batch": "pliant.batch.mujoco_batch",
    "put_at_rest": "pliant.batch.mujoco_batch",
    "set_actuators": "pliant.batch.mujoco_batch",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
