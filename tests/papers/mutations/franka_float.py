"""What breaks the statements and checks of ``franka-float``."""

import dataclasses
import importlib.util

import numpy as np
from mutations import Mutation

from pliant.franka.client import FrankaRobot
from pliant.franka.device import plant
from pliant.franka.robots import arm_model, dynamics
from pliant.papers import franka_float

PINOCCHIO = importlib.util.find_spec("pinocchio") is not None
SHORT = 0.3
"""How long a broken arm floats [s]; a wrong gravity shows at once."""


def floats(*labels):
    """Return a run of the chosen arms only."""

    def run(context, options):
        chosen = {"no friction": {"friction": False}, **franka_float.arms(options)}
        drifts = {label: franka_float.float_one(chosen[label], SHORT) for label in labels or chosen}
        dummy = np.zeros((1, 7))
        return franka_float.drift_statements({label: drifts.get(label, dummy) for label in chosen}, SHORT)

    return run


def pushes(context, options):
    wrenches, found, _ = franka_float.estimates(context.rng, 1, settle=0.6)
    return franka_float.wrench_checks(wrenches, found)


def library(context, options):
    exact = franka_float.accuracy(context.rng, 5)
    statements = franka_float.dynamics_statements(exact, context.rng, 5)
    return [*statements, *franka_float.dynamics_checks(exact)]


def hand(context, options):
    return [franka_float.hand_statement()]


def chain(context, options):
    return [franka_float.kinematics_statement(context.rng, 3)]


def gravity(change):
    """Return a patch of the gravity that every cabinet is told."""

    def patch(monkeypatch):
        started = plant.ArmPlant.__init__

        def broken(self, *args, **options):
            started(self, *args, **options)
            self.gravity = change(self.gravity)

        monkeypatch.setattr(plant.ArmPlant, "__init__", broken)

    return patch


def scaled(name, factor):
    """Return a patch that multiplies a function of the dynamics library."""

    def patch(monkeypatch):
        right = getattr(dynamics, name)
        monkeypatch.setattr(dynamics, name, lambda *args, **options: factor * right(*args, **options))

    return patch


def indefinite(monkeypatch):
    right = dynamics.mass
    tilt = np.zeros((7, 7))
    tilt[0, 1], tilt[6, 6] = 1e-9, -1.0
    monkeypatch.setattr(dynamics, "mass", lambda *args, **options: right(*args, **options) + tilt)


def half_announced(monkeypatch):
    announce = FrankaRobot.add_tool
    monkeypatch.setattr(FrankaRobot, "add_tool", lambda self, X, mass, *rest: announce(self, X, 0.5 * mass, *rest))


def strong(monkeypatch):
    push = franka_float.push
    monkeypatch.setattr(franka_float, "push", lambda robot, wrench: push(robot, 1.3 * wrench))


def heavy(monkeypatch):
    right = arm_model.FRANKA_HAND
    broken = dataclasses.replace(
        right,
        mass=0.8,
        center_of_mass=(-0.01, 0.0, 0.04),
        inertia=tuple(1.5 * number for number in right.inertia),
    )
    monkeypatch.setattr(arm_model, "FRANKA_HAND", broken)


def long_arm(monkeypatch):
    """A flange that is 0.1 mm too far out and a first axis that leans."""
    broken = arm_model.DH.copy()
    broken[7, 2] += 1e-4
    broken[1, 1] = 0.0
    monkeypatch.setattr(arm_model, "DH", broken)


def turned_hand(monkeypatch):
    broken = arm_model.EE_OF_HAND.copy()
    broken[:3, :3] = np.eye(3)
    monkeypatch.setattr(arm_model, "_TIP", 0.1)
    monkeypatch.setattr(arm_model, "EE_OF_HAND", broken)


MUTATIONS = [
    Mutation(
        experiment="franka-float",
        name="the cabinet compensates 1 % too much gravity",
        patch=gravity(lambda g: 1.01 * g),
        run=floats("no friction", "friction, compensated", "friction, not compensated", "FR3"),
        turns=(
            "drift with zero torques, no friction",
            "drift with zero torques, friction, *",
            "drift with zero torques, FR3",
        ),
    ),
    Mutation(
        experiment="franka-float",
        name="half of the load is announced",
        patch=half_announced,
        run=floats("0.8 kg at the flange, known"),
        turns=("drift with zero torques, 0.8 kg at the flange, known",),
    ),
    Mutation(
        experiment="franka-float",
        name="the cabinet's gravity vector is 20 mrad off",
        patch=gravity(lambda g: g + np.cross(g, [0.0, 0.02, 0.0])),
        run=floats("the base leans"),
        turns=("drift with zero torques, the base leans",),
    ),
    Mutation(
        experiment="franka-float",
        name="another hand",
        patch=heavy,
        run=hand,
        turns=(
            "mass of the simulated hand",
            "distance of its centre of mass from the printed one",
            "largest difference of its inertia",
        ),
    ),
    Mutation(
        experiment="franka-float",
        name="another arm",
        patch=long_arm,
        run=chain,
        turns=("distance of the flange from the printed chain", "angle of the flange to the printed chain"),
    ),
    Mutation(
        experiment="franka-float",
        name="an end effector that is not turned",
        patch=turned_hand,
        run=chain,
        turns=("distance of the end effector from the printed one", "angle of the end effector to the printed one"),
    ),
    Mutation(
        experiment="franka-float",
        name="the wrench is 30 % larger than said",
        patch=strong,
        run=pushes,
        turns=("error of an external *, steady",),
    ),
    Mutation(
        experiment="franka-float",
        name="the inertia matrix is asymmetric and indefinite",
        patch=indefinite,
        run=library,
        turns=(
            "asymmetry of the inertia matrix",
            "smallest eigenvalue of the inertia matrix",
            "largest error of M against *",
        ),
    ),
    Mutation(
        experiment="franka-float",
        name="the Coriolis matrix is 0.1 % too large",
        patch=scaled("coriolis", 1.001),
        run=library,
        turns=("symmetric part of dM/dt - 2 C", "largest error of C dq + g against *", "largest error of C *"),
    ),
    Mutation(
        experiment="franka-float",
        name="gravity is 0.1 % too large",
        patch=scaled("gravity", 1.001),
        run=library,
        turns=("largest error of C dq + g against *", *(("largest error of g *",) if PINOCCHIO else ())),
    ),
    Mutation(
        experiment="franka-float",
        name="friction is 0.1 % too large",
        patch=scaled("friction", 1.001),
        run=library,
        turns=("largest error of friction against *",),
    ),
]
