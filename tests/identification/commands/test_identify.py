"""`pliant identify`: parameters from a log, from the command line."""

import json

import numpy as np
import pytest

from pliant.base.errors import PliantError

pytestmark = pytest.mark.quick


def test_springs_are_identified_from_a_file(call, tmp_path):
    from pliant.laws import QbMove

    law = QbMove(k1=0.0104, a1=6.2, k2=0.0104, a2=6.2)
    deflection = np.tile(np.linspace(-0.4, 0.4, 60), 3)
    preset = np.repeat([0.0, 0.2, 0.35], 60)
    torque = law.evaluate(deflection, preset, -preset).torque
    path = tmp_path / "pull.csv"
    rows = "\n".join(f"{d:.17g},0,{p:.17g},{t:.17g}" for d, p, t in zip(deflection, preset, torque, strict=True))
    path.write_text("deflection,equilibrium,preset,torque\n" + rows + "\n")
    code, out, err = call(
        "identify", path, "--symmetric", "--figure", tmp_path / "fit.png", "--datasheet", tmp_path / "sheet.json",
        "--json",
    )  # fmt: skip
    assert code == 0, err
    assert json.loads(out)["identified"] is True
    values = {e["name"]: e["value"] for e in json.loads(out)["estimates"]}
    assert next(v for n, v in values.items() if n.endswith("a1")) == pytest.approx(6.2, rel=1e-4)
    assert (tmp_path / "fit.png").read_bytes().startswith(b"\x89PNG")
    assert "stiffness_range" in json.loads((tmp_path / "sheet.json").read_text())
    code, _, err = call("identify", path, "--kind", "spring", "--law", "qbmov")
    assert code == 1
    assert "qbmove" in err


def test_identify_names_the_faults_of_a_log_uses_what_is_left_and_writes_a_report(call, tmp_path):
    time = 0.01 * np.arange(400)
    q = 0.3 * np.sin(3.0 * time)
    rows = [f"{t:.4f},{x:.12g},0,{-5.0 * x:.12g}" for t, x in zip(time, q, strict=True)]
    log, report = tmp_path / "log.csv", tmp_path / "report.html"
    log.write_text("time,q,theta_1,torque\n" + "\n".join(rows[:150] + rows[250:]) + "\n")
    code, out, err = call("identify", log, "--law", "sea", "--folds", "2", "--intervals", "--report", report, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["faults"][0]["name"] == "gap"
    assert found["faults"][0]["rows"] == [150, 151]
    assert [r["samples"] for r in found["residuals"]] == [150, 150]
    assert found["held_out"][0]["parts"] == "logs"
    assert report.read_text().startswith("<!doctype html>")
    milli = [f"{r.rpartition(',')[0]},{1e3 * float(r.rpartition(',')[2]):g}" for r in rows]
    log.write_text("time,q,theta_1,torque\n" + "\n".join(milli) + "\n")
    code, _, err = call("identify", log, "--law", "sea")
    assert code == 1
    assert "unit: torque is in mN m" in err
    assert '--unit "torque=mN m"' in err
    code, out, _ = call("identify", log, "--law", "sea", "--unit", "torque=mN m", "--json")
    assert json.loads(out)["estimates"][0]["value"] == pytest.approx(5.0, rel=1e-4)
    code, _, err = call("identify", log, "--report", tmp_path / "report.pdf")
    assert code == 1
    assert "must be .html" in err


@pytest.mark.parametrize("suffix", ["mcap", "csv", "npz"])
def test_identify_reads_what_run_and_replay_write_without_a_device(call, tmp_path, suffix):
    (tmp_path / "steps.csv").write_text(
        "time,joint/equilibrium_position,joint/stiffness_preset\n0,0,0.2\n0.3,0.3,0.2\n0.6,-0.3,0.3\n0.9,0.2,0.4\n"
    )
    file = tmp_path / "run.mcap"
    code, _, err = call(
        "run", "qbmove-1dof", "--command", tmp_path / "steps.csv", "--duration", "1.2", "--record", file
    )
    assert code == 0, err
    if suffix != "mcap":
        file = tmp_path / f"run.{suffix}"
        assert call("replay", tmp_path / "run.mcap", "--export", file)[0] == 0
    code, out, err = call("identify", file, "--symmetric", "--json")
    assert code == 0, err
    found = {e["name"]: e["value"] for e in json.loads(out)["estimates"]}
    assert found["law.k1"] == pytest.approx(0.0019, rel=1e-3)
    assert found["law.a1"] == pytest.approx(8.9992, rel=1e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--mode", "5"), "--mode has no effect without --kind servo"),
        (("--dt", "0.002"), "--dt has no effect without --kind servo"),
        (("--kind", "servo", "--mode", "3"), "mode is 3"),
        (("--kind", "servo", "--dt", "0"), "dt is 0"),
    ],
)
def test_identify_takes_mode_and_step_of_a_servo_only(call, tmp_path, options, message):
    code, _, err = call("identify", tmp_path / "servo.csv", *options)
    assert code == 1
    assert message in err


def test_identify_gives_mode_and_step_to_the_fit(call, tmp_path, monkeypatch):
    path = tmp_path / "servo.csv"
    path.write_text("time,position,reference_1,reference_2,motor_1_position\n" + "".join(
        f"{0.01 * k},0,0.1,0.1,0.05\n" for k in range(20)
    ))  # fmt: skip
    seen = []

    def fit(actuator, data, **options):
        seen.append((int(actuator.mode), options["dt"]))
        raise PliantError("enough")

    monkeypatch.setattr("pliant.identification.fit_servo", fit)
    code, _, err = call("identify", path, "--kind", "servo", "--mode", "5", "--dt", "0.002")
    assert (code, seen) == (1, [(5, 0.002)]), err


@pytest.mark.parametrize("law", ["sea", "qbmove", "awas_ii"])
def test_identify_sets_the_motors_by_the_same_names_as_it_frees_them(call, tmp_path, monkeypatch, law):
    path = tmp_path / "servo.csv"
    path.write_text("time,position,reference_1,reference_2,motor_1_position\n" + "".join(
        f"{0.01 * k},0,0.1,0.01,0.05\n" for k in range(20)
    ))  # fmt: skip
    seen = []

    def fit(actuator, data, **options):
        seen.append(actuator)
        raise PliantError("enough")

    monkeypatch.setattr("pliant.identification.fit_servo", fit)
    settings = ("--set", "motor.friction.stribeck_velocity=0.2", "--set", "pid.kp=60")
    code, _, err = call("identify", path, "--kind", "servo", "--law", law, *settings)
    if law == "awas_ii":  # its second motor is a lever's, with other units
        assert (code, seen) == (1, [])
        assert "motor_1" in err
        return
    motors = [m for m in (seen[0].motor_1, seen[0].motor_2) if m is not None]
    assert [m.friction.stribeck_velocity for m in motors] == [0.2] * seen[0].law.motors
    assert [p.kp for p in (seen[0].pid_1, seen[0].pid_2) if p is not None] == [60.0] * seen[0].law.motors


def test_identify_says_by_its_exit_code_that_nothing_was_identified(call, tmp_path):
    path = tmp_path / "rest.csv"
    rows = "\n".join(f"0,0,0.2,{0.01 * (-1) ** k}" for k in range(60))  # nothing moves, so no spring is determined
    path.write_text("deflection,equilibrium,preset,torque\n" + rows + "\n")
    code, out, err = call("identify", path, "--symmetric", "--json")
    found = json.loads(out)
    assert [e["standard_error"] for e in found["estimates"]] == [None, None], err
    assert found["identified"] is False
    assert code == 3
    code, out, _ = call("identify", path, "--symmetric")
    assert code == 3
    assert "+- inf" in out
