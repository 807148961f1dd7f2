"""Mutations of the experiment ``cpr-stewart``."""

import pytest
from mutations import Mutation
from rod_mutations import loose_solver, offset_joints, section, weight

from pliant import rods
from pliant.base.spatial import pose, rotation_from_rpy
from pliant.papers import cpr_stewart as module
from pliant.rods import catalogue, load_robot


def from_home(pose, name):
    """Solve a pose from the form at home."""
    robot = load_robot(name)
    return robot.solve_igm(pose, start=robot.home())


def paths(context, options):
    found = {name: module.follow_path(name, options, 40)[0] for name in module.ROBOTS}
    out = [t for name, path in found.items() for t in module.path_targets(name.removeprefix("Stewart_Gough_"), path)]
    # The path's prediction is too near for an early stop to show: each is solved from the form at home.
    tilted = {
        text.split(", ")[1]: from_home(found[name][13].plate_pose, name) for name, (text, _) in module.ROBOTS.items()
    }
    tilted["universal"] = module.with_universal_joints().solve_igm(tilted["spherical"].plate_pose)
    return [*out, module.table_1(tilted)]


def loaded(context, options):
    """Return the unstable directions under a load; the direct model finds no way back there, and takes long for it."""
    out = []
    for name in module.ROBOTS:
        robot = load_robot(name)
        X, load = robot.description.home, (0.0, 0.0, -40.0, 0.0, 0.0, 0.0)
        path = robot.follow([X] * 3, load, start=robot.home(), branch="smooth")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rods, "round_trip", lambda path: 0.0)
            out += module.path_targets(name.removeprefix("Stewart_Gough_"), path)
    return [target for target in out if target.name.endswith("unstable directions")]


def open_path(patch):
    original = module.circle

    def poses(*arguments):
        out = original(*arguments)
        out[-1][0, 3] += 1e-3
        return out

    patch.setattr(module, "circle", poses)


def saved(context, options):
    out = []
    for name, entries in module.SAVED.items():
        robot = load_robot(name)
        for key, (_, v) in entries.items():
            X = pose(v[:3], rotation_from_rpy([-a for a in v[3:]]).T)
            out.append(module.saved_configuration(name, key, robot.solve_igm(X, start=robot.home()).q, v)[0])
    return out


MUTATIONS = [
    Mutation(
        experiment="cpr-stewart",
        name="the solver stops early",
        patch=loose_solver,
        run=paths,
        turns=(
            "*: largest scaled residual",
            "*: direct against inverse model",
            "table 1, *",
        ),
    ),
    # A step of Newton's method satisfies the balance of the plate, which is linear in the forces of the rods.
    Mutation(
        experiment="cpr-stewart",
        name="the solver weighs the plate wrongly",
        patch=weight(1.01),
        run=paths,
        turns=("*: force left on the plate",),
    ),
    Mutation(
        experiment="cpr-stewart",
        name="the plate carries 40 N, under which the rods buckle",
        run=loaded,
        turns=("*: unstable directions",),
    ),
    Mutation(
        experiment="cpr-stewart",
        name="the path does not close",
        patch=open_path,
        run=paths,
        turns=("*: joints after the closed path against before",),
    ),
    Mutation(
        experiment="cpr-stewart",
        name="the rods are half as stiff again",
        patch=section(bending=1.5),
        run=lambda context, options: [module.home_target(name) for name in module.ROBOTS],
        turns=("*: mean joint value at home",),
    ),
    Mutation(
        experiment="cpr-stewart",
        name="the direct model takes joint values that are 1 mm off",
        patch=offset_joints,
        run=lambda context, options: [
            module.generality(tuple(n for n in catalogue() if not load_robot(n).planar), "spatial")
        ],
        turns=("spatial robots of the published software solved at home by both models",),
    ),
    Mutation(
        experiment="cpr-stewart",
        name="the stored joint values are those of the right equations",
        run=saved,
        turns=("*: plate against the direct model at the stored joint values",),
    ),
]
