"""Constitutive laws of compliant transmissions, and the components of an actuator."""

from pliant.laws.actuator import ActuatorTraces, CompliantActuator
from pliant.laws.awas2 import AwAS2
from pliant.laws.base import Law, LawValues, get_law, law, registered_laws
from pliant.laws.bavs import BAVS
from pliant.laws.fields import COMMAND_NAMES, COMMANDS, JOINT_FIELDS, JointCommand, JointField
from pliant.laws.friction import PreslidingFriction
from pliant.laws.modes import Mode
from pliant.laws.motor import Cogging, DCMotor, Drive, Electrical, LeverDrive, Thermal
from pliant.laws.pid import PID
from pliant.laws.qbmove import QbMove
from pliant.laws.sea import SEA
from pliant.laws.spring import Creep, Hysteresis, Strength
from pliant.laws.transmission import Backlash, Gear, Tendon

__all__ = [
    "BAVS",
    "COMMANDS",
    "COMMAND_NAMES",
    "JOINT_FIELDS",
    "PID",
    "SEA",
    "ActuatorTraces",
    "AwAS2",
    "Backlash",
    "Cogging",
    "CompliantActuator",
    "Creep",
    "DCMotor",
    "Drive",
    "Electrical",
    "Gear",
    "Hysteresis",
    "JointCommand",
    "JointField",
    "Law",
    "LawValues",
    "LeverDrive",
    "Mode",
    "PreslidingFriction",
    "QbMove",
    "Strength",
    "Tendon",
    "Thermal",
    "get_law",
    "law",
    "registered_laws",
]
