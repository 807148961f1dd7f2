"""What breaks the statements and checks of ``franka-errors``."""

from mutations import Mutation

from pliant.franka.device.cabinet import Cabinet
from pliant.franka.wire import fci
from pliant.papers import franka_errors as module
from pliant.papers.arms import fci_recipes
from pliant.papers.arms.fci_recipes import RECIPES


def follow(*errors):
    """Return a run of the recipes of some errors."""

    def run(context, options):
        outcomes = [fci_recipes.provoke(recipe) for recipe in RECIPES if recipe.error in errors]
        statements = [module.reflex_statement(outcomes), module.recovery_statement(outcomes)]
        return [*statements, *module.checks(outcomes)]

    return run


def deaf(monkeypatch):
    monkeypatch.setattr(fci_recipes, "LONGEST", 100)
    monkeypatch.setattr(Cabinet, "_raise", lambda self, error: False)


def careless(monkeypatch):
    reflex = Cabinet._reflex

    def broken(self, status):
        reflex(self, status)
        self.state.robot_mode = fci.RobotMode.OTHER

    monkeypatch.setattr(Cabinet, "_reflex", broken)


def unanswered(monkeypatch):
    reflex = Cabinet._reflex
    monkeypatch.setattr(Cabinet, "_reflex", lambda self, status: reflex(self, "aborted"))


def helpless(monkeypatch):
    recover = Cabinet._recover

    def late(self):
        number = self._recovery[0]
        recover(self)
        if self._recovery is None:
            self.answers[:] = [answer for answer in self.answers if answer.command_id != number]
            self._say("AutomaticErrorRecovery", number, "manual_recovery")

    monkeypatch.setattr(Cabinet, "_recover", late)


def stubborn(monkeypatch):
    finish = Cabinet._finish

    def broken(self, status, stop_id=None):
        finish(self, "aborted" if status == "success" else status, stop_id)

    monkeypatch.setattr(Cabinet, "_finish", broken)


def slow(monkeypatch):
    control, held = Cabinet.control, {}

    def broken(self, command=None):
        before = held.get(id(self))
        held[id(self)] = command
        return control(self, before if self.moving else None)

    monkeypatch.setattr(Cabinet, "control", broken)


SILENT, STEP = "communication_constraints_violation", "controller_torque_discontinuity"
MUTATIONS = [
    Mutation(
        experiment="franka-errors",
        name="lost commands raise nothing",
        patch=deaf,
        run=follow(SILENT),
        turns=("recipes that do not raise their own error",),
    ),
    Mutation(
        experiment="franka-errors",
        name="the robot is in another mode after an error",
        patch=careless,
        run=follow(STEP),
        turns=("robots that are not in reflex mode, move, or take a motion",),
    ),
    Mutation(
        experiment="franka-errors",
        name="an error ends a motion as if it was aborted",
        patch=unanswered,
        run=follow(STEP),
        turns=("motions that their error did not end",),
    ),
    Mutation(
        experiment="franka-errors",
        name="the recovery asks for a manual one",
        patch=helpless,
        run=follow(STEP),
        turns=("robots that the recovery did not make idle without errors",),
    ),
    Mutation(
        experiment="franka-errors",
        name="motions after a recovery are aborted",
        patch=stubborn,
        run=follow(STEP),
        turns=("robots that took no motion afterwards",),
    ),
    Mutation(
        experiment="franka-errors",
        name="a command is checked a cycle late",
        patch=slow,
        run=follow(STEP),
        turns=("largest time from an inadmissible command to its error",),
    ),
    Mutation(
        experiment="franka-errors",
        name="a recipe is missing",
        patch=lambda monkeypatch: monkeypatch.setattr("pliant.papers.arms.fci_recipes.RECIPES", RECIPES[1:]),
        run=lambda context, options: [module.missing_recipes()],
        turns=("errors that can be raised and have no recipe",),
    ),
]
