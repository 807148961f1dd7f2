"""MuJoCo with compiled laws: single and batched simulation, divergence guard and energy audit."""

from pliant.engine.audit import EnergyAudit, EnergyBalance
from pliant.engine.base import ENGINES, Engine, MujocoState, PortInfo, mujoco_state, register_engine
from pliant.engine.batch import make_batch, put_at_rest, set_actuators
from pliant.engine.callbacks import install
from pliant.engine.guard import Guard
from pliant.engine.mujoco_engine import MujocoEngine, hold_pose

__all__ = [
    "ENGINES",
    "EnergyAudit",
    "EnergyBalance",
    "Engine",
    "Guard",
    "MujocoEngine",
    "MujocoState",
    "PortInfo",
    "hold_pose",
    "install",
    "make_batch",
    "mujoco_state",
    "put_at_rest",
    "register_engine",
    "set_actuators",
]
