"""The report of an identification: one file with all that was found, which refers to nothing outside itself."""

import dataclasses
import re

import numpy as np
import pytest
from identification_cases import pull

from pliant.base.errors import PliantError
from pliant.identification import Fault, Fitting, Measurement, fit_friction, fit_law, predict_law, with_held_out
from pliant.identification.report import render_identification, write_identification
from pliant.laws import SEA, PreslidingFriction, QbMove


@pytest.fixture(scope="module")
def found():
    data = [Measurement.of(t, source=f"log <{i}>") for i, t in enumerate(pull(QbMove(), (0.0, 0.3), noise=5e-3, n=120))]
    fitting = Fitting(
        lambda data: fit_law("qbmove", data, symmetric=True, starts=1, profile=True),
        lambda found, data: predict_law(found.law, data, found.values),
    )
    fault = Fault(name="gap", columns=("time",), rows=(3, 4), text="2 s <b>", remedy="use the rest", source="log")
    return dataclasses.replace(with_held_out(fitting, data, 2), faults=(fault,))


def test_a_report_has_every_parameter_error_fold_fault_and_warning(found):
    text = render_identification(found, "pliant identify a.csv")
    for e in found.estimates:
        assert f">{e.name}<" in text
        assert f"{e.value:.5g}" in text
        assert f"{e.profile.high:.5g}" in text
    assert f"{found.held_out[0].rms:.5g}" in text
    assert "gap: 2 s &lt;b&gt;; use the rest" in text
    assert "pliant identify a.csv" in text
    # two logs, residuals, profiles, correlation
    assert text.count("<figure>") == 5
    assert text.count("<svg") == 5


def test_a_report_refers_to_nothing_outside_itself_and_escapes_names(found):
    text = render_identification(found)
    assert not re.findall(r"(?:src|href)=\"(?!data:|#)[^\"]*\"", text)
    assert "log <0>" not in text
    assert "log &lt;0&gt;" in text


def test_a_report_of_a_moving_joint_without_folds_says_how_to_get_them(tmp_path):
    q = 0.3 * np.sin(np.linspace(0.0, 12.0, 300))
    log = {"time": 0.01 * np.arange(300), "q": q, "theta_eq": 0.0, "torque": -5.0 * q + 0.1 * np.sign(np.gradient(q))}
    found = fit_friction(SEA(k=4.0), log, ["law.k", "link_friction.torque"], starts=1)
    write_identification(found, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "--folds 5" in text
    assert PreslidingFriction().torque != found["link_friction.torque"].value
    with pytest.raises(PliantError, match="the report cannot be written"):
        write_identification(found, tmp_path / "nowhere" / "report.html")
