"""The processes of a session share the runs of quick versions."""

import os

import mutations
import pytest


@pytest.fixture(scope="session", autouse=True)
def shared_runs(tmp_path_factory):
    """Keep the results of `mutations.quick` where every worker of the session finds them."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # each worker has a folder of its own in that of the session
    mutations.SHARED = folder / "experiments"
    mutations.SHARED.mkdir(exist_ok=True)
