"""`pliant run` drives a model whose actuators are MuJoCo's own: constants, tables, recordings, sweeps."""

import json

import mujoco
import numpy as np
import pytest
from native_actuators import continuum_robot

from pliant.recording import read_recording


@pytest.fixture(params=["motor", "position"])
def tdcr(request, tmp_path):
    """The file of a continuum robot, and the control of its first cable that pulls."""
    file = tmp_path / "tdcr.xml"
    file.write_text(continuum_robot(request.param))
    return file, {"motor": -5.0, "position": 0.155}[request.param]


def plain_run(file, steps, control):
    """Return the data of MuJoCo alone after some steps."""
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    for k in range(steps):
        data.ctrl[:] = control(k)
        mujoco.mj_step(model, data)
    return data


def test_check_run_and_record_with_constants(call, tdcr, tmp_path):
    file, pull = tdcr
    assert call("check", file)[0] == 0
    record = tmp_path / "run.mcap"
    code, out, err = call(
        "run", file, "-r", f"pull_0/control={pull}", "--duration", "0.2", "--record", record, "--json"
    )
    assert code == 0, err
    assert json.loads(out)["devices"]["pull_0"]["control"] == pull
    recording = read_recording(record)
    assert {f"pull_0/{field}" for field in ("control", "force", "length", "velocity")} <= set(recording)
    assert set(np.unique(recording["pull_0/control"])) == {pull}
    assert np.ptp(recording["pull_0/length"]) > 1e-4
    assert recording.unit("pull_0/length") == "m"


def test_a_table_of_commands_equals_mujoco_with_the_same_controls(call, tdcr, tmp_path):
    file, pull = tdcr
    table = tmp_path / "pull.csv"
    table.write_text(f"time,pull_0/control,pull_2/control\n0,{pull},{pull}\n0.05,{0.9 * pull},{pull}\n")
    record = tmp_path / "run.mcap"
    code, _, err = call("run", file, "--command", table, "--duration", "0.2", "--record", record)
    assert code == 0, err
    data = plain_run(file, 200, lambda k: [pull if k < 50 else 0.9 * pull, 0.0, pull, 0.0])
    found = read_recording(record)
    assert found["pull_0/length"][-1] == data.actuator_length[0]
    assert found["pull_0/force"][-1] == data.actuator_force[0]
    assert abs(data.actuator_length[0] - 0.16) > 1e-4


def test_a_wrong_name_and_a_wrong_value_are_refused(call, tdcr):
    file, _ = tdcr
    code, _, err = call("run", file, "-r", "pull_0/contrl=1")
    assert code == 1
    assert "no such command; did you mean 'pull_0/control'" in err
    code, _, err = call("run", file, "-r", "pull_0/control=50")
    assert code == 1
    assert "must be a finite number" in err


def test_a_sweep_drives_it_and_reports_its_actuators(call, tdcr, tmp_path):
    file, pull = tdcr
    table = tmp_path / "sweep.csv"
    code, _, err = call(
        "sweep", file, "--vary", "bend_x_0.stiffness=1,3", "-r", f"pull_1/control={pull}", "--duration", "0.05",
        "--output", table,
    )  # fmt: skip
    assert code == 0, err
    head, *rows = [line.split(",") for line in table.read_text().splitlines() if not line.startswith("#")]
    assert [float(row[head.index("pull_1/control/final")]) for row in rows] == [pull, pull]
    first, second = (float(row[head.index("pull_1/length/final")]) for row in rows)
    assert first != second
