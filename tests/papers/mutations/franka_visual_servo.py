"""What breaks the statements and checks of ``franka-visual-servo``."""

import dataclasses
import functools
import importlib.util

import numpy as np
from mutations import Mutation

from pliant.franka.robots import build
from pliant.papers import franka_visual_servo as module
from pliant.papers.arms import tag_servo

SHORT = 0.6
"""Length of a broken run [s]."""


@functools.cache
def pose():
    """Return the first start of the quick version, which healthy and broken runs share."""
    return module.start_poses(module.FrankaVisualServoOptions(starts=1), np.random.default_rng(0))[0][0]


def runs(options, features, *, laws=module.LAWS, duration=SHORT):
    setup = dataclasses.replace(module.setup_of(options), timeout=duration)
    return [module.run_servo(pose(), law, setup, rendered=features == module.RENDERED) for law in laws]


@functools.cache
def healthy_interface():
    """Return a pair of a run in this process and the same one through the interface."""
    setup = module.setup_of(module.FrankaVisualServoOptions())
    return module.run_servo(pose(), "PBVS", setup, rendered=False, duration=SHORT)


def interface_missing():
    return "" if importlib.util.find_spec("pylibfranka") else "pylibfranka is not installed"


def ends(context, options):
    """Judge runs of both laws with exact features and with rendered images."""
    exact, rendered = runs(options, module.EXACT), runs(options, module.RENDERED)
    return [module.tag_statement(rendered, ""), module.image_statement(exact), *module.checks(exact)]


def paths(context, options):
    exact = runs(options, module.EXACT, duration=1.5)
    rendered = runs(options, module.RENDERED, laws=("PBVS",), duration=1.5)
    return [module.image_statement(exact), *module.checks([*exact, *rendered])]


def loop(context, options):
    return [module.synchronous_statement(runs(options, module.RENDERED, laws=("PBVS",), duration=0.1))]


def corners(context, options):
    return module.checks(runs(options, module.RENDERED, laws=("PBVS",), duration=0.1))


def through_interface(context, options):
    """Judge a run through a broken interface, or of a broken program, beside a healthy one in this process."""
    near = healthy_interface()
    setup = module.setup_of(options)
    return [
        module.interface_statement(
            [near], [module.run_servo(pose(), "PBVS", setup, rendered=False, fci=True, duration=SHORT)]
        )
    ]


def image_law(monkeypatch):
    """Let both laws be IBVS."""
    right = tag_servo.law_task
    monkeypatch.setattr(tag_servo, "law_task", lambda _, *rest: right("IBVS", *rest))


def fast_loop(monkeypatch):
    monkeypatch.setattr(tag_servo, "PERIOD", 0.01)


def moved_tag(monkeypatch):
    """Put the tag 5 mm beside where everybody believes it."""
    right = build._add_tag

    def beside(spec, tag):
        x, y, z = tag.position
        right(spec, dataclasses.replace(tag, position=(x + 5e-3, y, z)))

    monkeypatch.setattr(build, "_add_tag", beside)


def wall_clock(monkeypatch):
    """Let the robot's time be the wall clock, which does not wait for the detector."""
    monkeypatch.setattr(tag_servo, "MODE", "wall")
    look = tag_servo.look_with

    def slow(*args):
        import time

        right = look(*args)

        def wait():
            time.sleep(0.01)
            return right()

        return wait

    monkeypatch.setattr(tag_servo, "look_with", slow)


MUTATIONS = [
    Mutation(
        experiment="franka-visual-servo",
        name="gains of a tenth",
        options={"gain_at_zero": 0.4, "gain_at_infinity": 0.12},
        run=ends,
        missing=tag_servo.missing_for_pictures,
        turns=(
            "largest error of the camera's * at the end, PBVS, *",
            "largest error of the camera's * at the end, IBVS, *",
            "largest distance of a corner from its goal at the end, IBVS",
        ),
    ),
    Mutation(
        experiment="franka-visual-servo",
        name="IBVS takes the place of PBVS",
        patch=image_law,
        run=paths,
        missing=tag_servo.missing_for_pictures,
        turns=(
            "largest distance of the camera from a straight line, PBVS, *",
            "median bend of *, IBVS over PBVS",
        ),
    ),
    Mutation(
        experiment="franka-visual-servo",
        name="the loop runs at 10 ms, the camera at 20 ms",
        patch=fast_loop,
        run=loop,
        missing=tag_servo.missing_for_pictures,
        turns=(
            "largest difference of the loop's period from 20 ms",
            "largest age of an image when it is used",
        ),
    ),
    Mutation(
        experiment="franka-visual-servo",
        name="the tag is 5 mm beside its place",
        patch=moved_tag,
        run=corners,
        missing=tag_servo.missing_for_pictures,
        turns=("largest distance of a detected corner from where the true pose projects it",),
    ),
    Mutation(
        experiment="franka-visual-servo",
        name="the robot's clock does not wait for the detector",
        patch=wall_clock,
        run=through_interface,
        missing=interface_missing,
        turns=("packets lost, late or malformed at the robot's interface",),
    ),
    Mutation(
        experiment="franka-visual-servo",
        name="another gain through the interface than in this process",
        options={"gain_at_infinity": 0.8},
        run=through_interface,
        missing=interface_missing,
        turns=("largest distance of the camera between the interface and this process",),
    ),
]
