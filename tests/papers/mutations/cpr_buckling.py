"""Mutations of the experiment ``cpr-buckling``."""

from mutations import Mutation
from rod_mutations import section

from pliant.papers import cpr_buckling as module


def columns(context, options):
    return [*module.euler_targets(context)[0], *module.elastica(options, 4)[0]]


column = module.column


def straight(kind):
    """Return the column on its straight branch, stable or not."""
    robot = column(kind)
    original, follow = robot.solve_dgm, robot.follow
    start = original([], (0.0, 0.0, -0.3, 0.0, 0.0, 0.0))
    robot.solve_dgm = lambda q, wrench, **options: original(
        q, wrench, **{"start": start, "branch": "smooth", **options}
    )
    robot.follow = lambda path, wrench, **options: follow(path, wrench, branch="smooth", **options)
    return robot


MUTATIONS = [
    Mutation(
        experiment="cpr-buckling",
        name="the rods bend with 1.5 % more stiffness than their section has",
        patch=section(bending=1.015),
        run=columns,
        turns=("*: critical load", "after buckling: tip angle against elastica"),
    ),
    Mutation(
        experiment="cpr-buckling",
        name="the rods are much stiffer in one plane of bending than in the other",
        patch=section(bending_2=3.0),
        run=columns,
        turns=("*: unstable directions beyond",),
    ),
    Mutation(
        experiment="cpr-buckling",
        name="no force aside chooses a plane: the column stays straight",
        patch=lambda patch: patch.setattr(module, "column", straight),
        run=lambda context, options: module.elastica(options, 4)[0],
        options={"side_load": 0.0},
        turns=("after buckling: the bent rod is stable", "after buckling: tip angle against elastica"),
    ),
    Mutation(
        experiment="cpr-buckling",
        name="the load stops at 1 N",
        options={"largest_load": 1.0},
        run=lambda context, options: [module.largest_load(name, options)[0] for name in module.HEXAPODS],
        turns=("*: stiffness left at the largest load, as a share",),
    ),
]
