"""A run that is killed at any instant leaves a recording that opens. By hand: tests/helpers/killed_runs.py 200."""

import pytest
from killed_runs import main


@pytest.mark.slow
def test_runs_that_are_killed_at_random_instants_leave_recordings_that_pliant_and_mcap_open(tmp_path):
    pytest.importorskip("mcap")
    found = main(3, tmp_path, seed=11, grown=300_000)
    assert found[-1].messages > 100
