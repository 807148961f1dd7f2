"""What breaks the statements and checks of ``franka-dynamic-servo``."""

import dataclasses
import functools
import importlib.util

import numpy as np
from mutations import Mutation

from pliant.franka.client import FrankaRobot
from pliant.papers import franka_dynamic_servo as module
from pliant.papers.arms import tag_servo

SHORT = 0.2
"""Length of a broken run [s]."""
DEFAULTS = module.FrankaDynamicServoOptions(starts=1)


@functools.cache
def pose():
    """Return the first start of the quick version, which healthy and broken runs share."""
    wish = tag_servo.Wish(near=DEFAULTS.near, far=DEFAULTS.far, tilt=DEFAULTS.tilt, turn=DEFAULTS.turn)
    return tag_servo.starts(1, np.random.default_rng(0), wish, module.setup_of(DEFAULTS), tag_servo.exact_camera())[0][
        0
    ]


@functools.cache
def healthy():
    return module.run_torques(pose(), "pose", DEFAULTS, rendered=False, duration=SHORT)


def runs(options, *kinds, duration=SHORT):
    return [module.run_torques(pose(), features, options, rendered=r, duration=duration) for features, r in kinds]


def ends(context, options):
    """Judge runs of both laws that last as long as a healthy one needs, or less."""
    exact = runs(options, ("pose", False), ("points", False))
    rendered = runs(options, ("pose", True))
    return [module.study_statement(rendered, ""), *module.checks(exact, options)]


def motion(context, options):
    return module.checks(runs(options, ("pose", False), duration=0.5), options)


def through_interface(context, options):
    far = module.run_torques(pose(), "pose", options, rendered=False, fci=True, duration=SHORT)
    return [module.interface_statement([healthy().servo], [far.servo])]


def interface_missing():
    return "" if importlib.util.find_spec("pylibfranka") else "pylibfranka is not installed"


def light_model(monkeypatch):
    """Let the controller believe in 70 % of the mass."""
    right = FrankaRobot.get_mass
    monkeypatch.setattr(FrankaRobot, "get_mass", lambda self: 0.7 * right(self))


def image_law(monkeypatch):
    """Let both laws be that of the points."""
    monkeypatch.setitem(module.LAWS, "pose", module.points_torque)


def wall_clock(monkeypatch):
    """Let the robot's time be the wall clock, which does not wait for the law."""
    monkeypatch.setattr(tag_servo, "MODE", "wall")
    right = module.pose_torque

    def slow(*args):
        import time

        time.sleep(2e-3)
        return right(*args)

    monkeypatch.setitem(module.LAWS, "pose", slow)


MUTATIONS = [
    Mutation(
        experiment="franka-dynamic-servo",
        name="a tenth of the frequency",
        options=dataclasses.asdict(DEFAULTS) | {"frequency": 0.6},
        run=ends,
        missing=tag_servo.missing_for_pictures,
        turns=("largest error of the camera's * at the end, *",),
    ),
    Mutation(
        experiment="franka-dynamic-servo",
        name="the controller's model has 70 % of the mass",
        patch=light_model,
        run=motion,
        turns=("largest distance of the pose's error from its linear equation, over the error at the start",),
    ),
    Mutation(
        experiment="franka-dynamic-servo",
        name="the law of the points takes the place of that of the pose",
        patch=image_law,
        run=motion,
        turns=("largest distance of the camera from a straight line, pose",),
    ),
    Mutation(
        experiment="franka-dynamic-servo",
        name="no smooth start",
        options={"decay": 1000.0},
        run=motion,
        turns=("largest change of a torque within a millisecond",),
    ),
    Mutation(
        experiment="franka-dynamic-servo",
        name="the robot's clock does not wait for the law",
        patch=wall_clock,
        run=through_interface,
        missing=interface_missing,
        turns=("packets lost, late or malformed at the robot's interface",),
    ),
    Mutation(
        experiment="franka-dynamic-servo",
        name="another frequency through the interface than in this process",
        options={"frequency": 3.0},
        run=through_interface,
        missing=interface_missing,
        turns=("largest distance of the camera between the interface and this process",),
    ),
]
