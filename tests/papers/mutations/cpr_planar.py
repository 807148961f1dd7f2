"""Mutations of the experiment ``cpr-planar``."""

from mutations import Mutation
from rod_mutations import loose_solver, offset_joints, unstable

from pliant.papers import cpr_planar as module
from pliant.rods import catalogue, load_robot


def paths(context, options):
    found, _ = module.follow_paths(context, options)
    return [t for name, path in found.items() for t in module.path_targets(name, path)]


def unstable_paths(context, options):
    out = []
    for name in ("RERRFR", *module.INVERSE):
        robot = load_robot(name)
        pose = (0.0, 0.0, -0.3) if name == "3RR" else robot.description.home
        start = unstable(robot, pose)
        out += module.path_targets(name, robot.follow([pose] * 3, start=start, branch="smooth"))
    return out


def open_path(patch):
    original = module.loop_poses

    def poses(*arguments):
        out = original(*arguments)
        out[-1, 0] += 1e-3
        return out

    patch.setattr(module, "loop_poses", poses)


def saved(context, options):
    (key, (_, numbers)), *_ = module.SAVED["RERRFR"].items()
    robot = load_robot("RERRFR")
    q = robot.solve_igm(numbers, start=robot.home()).q
    return [module.saved_configuration("RERRFR", key, q, numbers)[0]]


MUTATIONS = [
    Mutation(
        experiment="cpr-planar",
        name="the solver stops early",
        patch=loose_solver,
        run=paths,
        turns=("*: largest scaled residual", "*: direct against inverse model", "*: force left on the plate"),
    ),
    Mutation(
        experiment="cpr-planar",
        name="the robots are on unstable branches",
        run=unstable_paths,
        turns=("*: unstable directions",),
    ),
    Mutation(
        experiment="cpr-planar",
        name="the path does not close",
        patch=open_path,
        run=paths,
        turns=("*: joints after the closed path against before",),
    ),
    Mutation(
        experiment="cpr-planar",
        name="the direct model takes joint values that are 1 mm off",
        patch=offset_joints,
        run=lambda context, options: [
            module.generality(tuple(n for n in catalogue() if load_robot(n).planar), "planar")
        ],
        turns=("planar robots of the published software solved at home by both models",),
    ),
    Mutation(
        experiment="cpr-planar",
        name="the stored joint values are those of the right equations",
        run=saved,
        turns=("RERRFR, initial_config: *",),
    ),
]
