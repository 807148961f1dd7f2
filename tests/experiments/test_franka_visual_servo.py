"""Visual servoing of a Franka arm before an AprilTag."""

import pytest
from mutations import quick

from pliant.experiments._servo import missing_for_pictures


@pytest.mark.network
@pytest.mark.slow
def test_the_quick_version_judges_every_statement_and_passes_its_checks():
    result = quick("franka-visual-servo")
    assert not result.error
    assert [target.name for target in result.failures] == []
    assert [statement.what for statement in result.not_reproduced] == []
    assert {figure.name for figure in result.figures} == {"corners", "paths", "velocities", "convergence"}
    reason = missing_for_pictures()
    assert any("rendered images: " in note for note in result.notes) == bool(reason)
