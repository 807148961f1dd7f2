"""Broken causes of the experiment ``box``."""

from mutations import Mutation

from pliant.joints.qbmove_5dof.kinematics import ArmKinematics
from pliant.papers import box


def pushes(context, options):
    runs = {name: box.push(preset, options) for name, preset in box.PRESETS.items()}
    return [*box.judge_pushes(options, runs), *box.verify(options, runs)]


def goals(context, options):
    return box.judge_goals(box.sweep_goals(options, [0.065, 0.075, 0.085]))


def stay_soft(monkeypatch):
    monkeypatch.setitem(box.PRESETS, "stiff", box.PRESETS["soft"])


def halve_gravity(monkeypatch):
    gravity = ArmKinematics.gravity
    monkeypatch.setattr(ArmKinematics, "gravity", lambda self, q: 0.5 * gravity(self, q))


MUTATIONS = [
    Mutation(
        experiment="box",
        name="the floor is half as rough",
        turns=("soft: largest displacement of the box", "soft: way of the tip beyond the first contact"),
        options={"box_friction": 0.115},
        run=pushes,
    ),
    Mutation(
        experiment="box",
        name="the stiff preset is the soft one",
        turns=(
            "stiff: displacement of the box",
            "stiff: distance of the tip from its goal over the length of the path",
            "stiff: largest difference of a joint from its desired position",
            "largest horizontal force of the stiff arm over that of the soft one",
            "stiff: pushing force over Coulomb's, while the box slides",
        ),
        patch=stay_soft,
        run=pushes,
    ),
    Mutation(
        experiment="box",
        name="half of gravity is compensated",
        turns=("soft: springs' torque less gravity*", "stiff: springs' torque less gravity*"),
        patch=halve_gravity,
        run=pushes,
    ),
    Mutation(
        experiment="box",
        name="the springs are those of the toolbox",
        turns=("range of pushes at which the soft arm is stopped*",),
        options={"springs": "toolbox"},
        run=goals,
    ),
]
