"""Every error of a Franka arm has a recipe, and a recipe leads to its error through the interface."""

import pytest
from mutations import quick

from pliant.franka.device.settings import CHECKS
from pliant.papers.arms.fci_recipes import RECIPES, provoke
from pliant.papers.franka_errors import QUICK

AT_ONCE = [recipe for recipe in RECIPES if recipe.at_once]
SLOW = [recipe for recipe in RECIPES if not recipe.at_once and recipe.error not in QUICK]


def test_each_error_that_can_be_raised_has_one_recipe():
    assert sorted(recipe.error for recipe in RECIPES) == sorted(CHECKS)
    assert set(QUICK) <= CHECKS


@pytest.mark.network
@pytest.mark.slow
def test_the_quick_version_judges_every_statement_and_passes_its_checks():
    result = quick("franka-errors")
    assert not result.error
    assert [target.name for target in result.failures] == []
    assert [(statement.what, statement.found) for statement in result.not_reproduced] == []


@pytest.mark.network
@pytest.mark.parametrize("recipe", AT_ONCE, ids=lambda recipe: recipe.error)
def test_an_inadmissible_command_raises_its_error_in_its_cycle(recipe):
    outcome = provoke(recipe)
    assert outcome.raised
    assert outcome.cycles == 1 or recipe.wrong == 0
    assert (outcome.mode, outcome.refused, outcome.standing) == ("reflex", True, True)
    assert (outcome.recovery, outcome.recovered, outcome.moves) == ("success", True, True)


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.parametrize("recipe", SLOW, ids=lambda recipe: recipe.error)
def test_a_motion_that_goes_too_far_raises_its_error(recipe):
    outcome = provoke(recipe)
    assert outcome.errors == (recipe.error,)
    assert (outcome.mode, outcome.refused, outcome.standing) == ("reflex", True, True)
    assert (outcome.recovery, outcome.recovered, outcome.moves) == ("success", True, not recipe.stays)
