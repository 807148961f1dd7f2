"""What breaks the statements and checks of ``franka-dual-arm``."""

import dataclasses
import importlib.util

from mutations import Mutation

from pliant.base.spatial import pose, rotation_from_rpy
from pliant.franka.client import FrankaGroup
from pliant.franka.robots import build
from pliant.papers import franka_dual_arm as module
from pliant.papers.arms import follow_tag


def plan(options, **changes):
    """Return a plan that begins where the circle does."""
    return dataclasses.replace(module.plan_of(options, quick=True), approach=False, **changes)


def still(context, options):
    """Judge the first moments of a run."""
    run = module.run_arms(plan(options, laps=0.01, float_time=0.1), obstacle=False)
    return [module.robots_statement(run), module.gravity_statement(run)]


def short(context, options):
    """Judge a tenth of a lap."""
    run = module.run_arms(plan(options, laps=0.15), obstacle=False)
    return [module.rate_statement(run), module.left_statement(run), *module.follow_checks(run, (0.0, 1.0))]


def covered(context, options):
    """Judge a run whose camera is covered after a twentieth of a second of the circle."""
    run = module.run_arms(plan(options, laps=0.15, blind_after=0.05), obstacle=False)
    return [
        module.robots_statement(run),
        module.left_statement(run),
        module.follow_statement(run, run, (0.0, 1.0)),
        module.contact_statement(run),
        module.interface_statement(run),
    ]


def followed(context, options):
    """Judge the published law."""
    run = module.run_arms(plan(options, laps=0.35, feedforward=False), obstacle=False)
    return [module.follow_statement(run, run, (0.0, 1.0))]


def view(context, options):
    return [module.view_statement(module.run_arms(plan(options, laps=0.01), obstacle=False))]


def without_post(context, options):
    return [module.contact_statement(module.run_arms(plan(options, laps=0.05), obstacle=False))]


def with_post(context, options):
    return [module.contact_statement(module.run_arms(plan(options, laps=0.46, force_limit=60.0)))]


def published(context, options):
    """Let the loop feed forward where the published law does not."""
    run = module.run_arms(plan(options, laps=0.15), obstacle=False)
    return module.published_checks(run)


def through_interface(context, options):
    return [module.interface_statement(module.run_arms(plan(options, laps=0.02), fci=True, mode="wall"))]


def every_second(monkeypatch):
    """Command the right arm in every second millisecond only."""

    def step(self):
        left, right = self.robots
        left.backend.exchange(left.next_command())
        if round(1e3 * left.time) % 2:
            right.backend.exchange(right.next_command())

    monkeypatch.setattr(FrankaGroup, "step", step)


def unknown_hand(monkeypatch):
    """Do not tell the cabinet that there is a hand."""
    mount, frame = build._END_EFFECTORS["fingers"]
    assert mount is not None
    monkeypatch.setitem(build._END_EFFECTORS, "fingers", (None, frame))


def half_the_mass(monkeypatch):
    right = follow_tag.dynamics.mass
    monkeypatch.setattr(follow_tag.dynamics, "mass", lambda *args, **kwargs: 0.5 * right(*args, **kwargs))


def late_images(monkeypatch):
    monkeypatch.setattr(follow_tag, "IMAGE_PERIOD", 0.04)


def turned_tag(monkeypatch):
    """Let the detector see the tag turned by 2 degrees."""
    look = follow_tag._Eyes.__call__
    turn = pose(R=rotation_from_rpy((0.0, 0.035, 0.0)))

    def turned(self, cycle):
        found = look(self, cycle)
        return None if found is None else (found[0], found[1] @ turn)

    monkeypatch.setattr(follow_tag._Eyes, "__call__", turned)


def interface_missing():
    """Return what the interface needs and is not installed."""
    return "" if importlib.util.find_spec("pylibfranka") else "pylibfranka is not installed"


MUTATIONS = [
    Mutation(
        experiment="franka-dual-arm",
        name="the program commands one arm twice as often as the other",
        patch=every_second,
        run=still,
        turns=("largest difference between the times of both arms' states",),
    ),
    Mutation(
        experiment="franka-dual-arm",
        name="the cabinet does not know the hand",
        patch=unknown_hand,
        run=still,
        turns=("motion of the left arm's joints under zero torques at the start",),
    ),
    Mutation(
        experiment="franka-dual-arm",
        name="an image in 40 ms",
        patch=late_images,
        run=short,
        turns=("longest time between two images", "shortest time between two images"),
    ),
    Mutation(
        experiment="franka-dual-arm",
        name="the left arm is weak, and believes in half of its mass",
        options={"translation_bandwidth": 5.0},
        patch=half_the_mass,
        run=short,
        turns=("largest distance of the tag from its place on the circle",),
    ),
    Mutation(
        experiment="franka-dual-arm",
        name="the published law without feed-forward",
        options={"feedforward": False},
        run=short,
        turns=("largest error of the camera's place in free motion",),
    ),
    Mutation(
        experiment="franka-dual-arm",
        name="the right arm hardly moves",
        options={"gain_at_zero": 0.2, "gain_at_infinity": 0.1, "gain_slope": 0.1},
        run=followed,
        turns=("largest error of the camera's place under the published law, over *",),
    ),
    Mutation(
        experiment="franka-dual-arm",
        name="the camera is covered on the way",
        run=covered,
        turns=("laps of the circle that were not made, *",),
    ),
    Mutation(
        experiment="franka-dual-arm",
        name="the tag is seen turned",
        patch=turned_tag,
        run=short,
        turns=("largest error of the camera's orientation in free motion",),
    ),
    Mutation(
        experiment="franka-dual-arm",
        name="another distance is desired",
        options={"distance": 0.21},
        run=view,
        turns=("distance of the tag from the point 20 cm before the camera when the circle begins",),
    ),
    Mutation(
        experiment="franka-dual-arm",
        name="there is no obstacle",
        run=without_post,
        turns=(
            "by how much the obstacle keeps the hand from the circle",
            "range of the path across the face of the post, while it touches",
            "largest contact force after the impact",
        ),
    ),
    Mutation(
        experiment="franka-dual-arm",
        name="a stiff admittance",
        options={"damping": 800.0},
        run=with_post,
        turns=("largest contact force after the impact",),
    ),
    Mutation(
        experiment="franka-dual-arm",
        name="the feed-forward is in the published law",
        run=published,
        turns=("residual of the published law against its reference",),
    ),
    Mutation(
        experiment="franka-dual-arm",
        name="the robots' clock does not wait for the program",
        run=through_interface,
        missing=interface_missing,
        turns=("packets of both arms lost, late or malformed",),
    ),
]
