"""MuJoCo with compiled laws: simulation, divergence guard and monitors."""

from pliant.engine.base import ENGINES, Engine, MujocoState, PortInfo, mujoco_state, register_engine
from pliant.engine.callbacks import install
from pliant.engine.guard import Guard
from pliant.engine.monitor import Monitor
from pliant.engine.mujoco_engine import MujocoEngine, hold_pose

__all__ = [
    "ENGINES",
    "Engine",
    "Guard",
    "Monitor",
    "MujocoEngine",
    "MujocoState",
    "PortInfo",
    "hold_pose",
    "install",
    "mujoco_state",
    "register_engine",
]
