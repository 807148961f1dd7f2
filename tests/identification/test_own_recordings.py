"""What pliant has simulated and recorded is identified: references, motors and samples each at their own time."""

import contextlib
import json

import numpy as np
import pytest

from pliant.cli import main

HEAD = "time,joint/equilibrium_position,joint/stiffness_preset\n"


def command(*words):
    with contextlib.suppress(SystemExit):
        main([str(word) for word in words])


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Return a recording of 200 Hz, in which the references change with the samples."""
    folder = tmp_path_factory.mktemp("own")
    times = np.arange(200) * 0.005
    rows = [f"{t:.3f},{0.15 * np.sin(9.0 * t) + 0.05 * np.sin(41.0 * t):.9f},0.2\n" for t in times.tolist()]
    (folder / "motion.csv").write_text(HEAD + "".join(rows))
    command(
        "run", "qbmove-1dof", "--set", "joint.mode=6", "--timestep", 5e-5, "--command", folder / "motion.csv",
        "--duration", 1, "--joint-rate", 200, "--record", folder / "run.mcap",
    )  # fmt: skip
    command("replay", folder / "run.mcap", "--export", folder / "run.csv")
    return folder


@pytest.mark.parametrize("name", ["run.mcap", "run.csv"])
def test_a_recording_and_its_export_give_the_motor_that_was_simulated(recording, name, capsys):
    command(
        "identify", recording / name, "--kind", "servo", "--free", "motor.inertia", "--free", "motor.damping", "--json"
    )
    found = capsys.readouterr()
    values = {row["name"]: row["value"] for row in json.loads(found.out)["estimates"]}
    assert values["motor.inertia"] == pytest.approx(0.0233, rel=0.02)  # the step of the simulation is worth 1 %
    assert values["motor.damping"] == pytest.approx(0.2698, rel=0.02)
