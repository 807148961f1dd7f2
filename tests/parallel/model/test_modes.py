"""Natural oscillations of the simulated robots against those of the linearised statics."""

import json

import pytest
from daily import robots_by_day

from pliant.parallel.model import build_parallel
from pliant.parallel.model.modes import check_modes
from pliant.rods import catalogue

HEAVY = {"Stewart_Gough_6EFR": 1.02, "Stewart_Gough_6FFR_Till": 1.03}
"""Robots whose plate is heavier than all rods: their rods hardly swing by themselves."""


@pytest.mark.parametrize("name", robots_by_day(catalogue()))
def test_the_lowest_frequency_is_just_below_that_of_the_linearised_statics(name):
    *modes, statics = check_modes(build_parallel(name, segments=10 if name in HEAVY else 5))
    frequencies = [mode.value for mode in modes]
    assert len(frequencies) == 6
    assert frequencies == sorted(frequencies)
    # Rayleigh's bound is from above; the differences of 1e-4 are those of five links.
    assert 1.0 - 1e-3 < statics.value / frequencies[0] < HEAVY.get(name, 1.11)


def test_check_prints_the_first_six_frequencies_with_their_damping_ratios(call):
    code, out, _ = call("check", "2PR", "--json")
    assert code == 0
    found = [p for p in json.loads(out)["problems"] if "oscillation" in p["subject"]]
    assert [p["subject"] for p in found] == [*(f"oscillation {k}" for k in range(1, 7)), "lowest oscillation"]
    assert found[0]["unit"] == "Hz"
    assert found[0]["value"] == pytest.approx(3.08, abs=0.01)
    assert found[0]["message"].startswith("3.082 Hz, damping ratio 0.0096")


def test_a_robot_without_rods_has_none(call):
    code, out, _ = call("check", "sea-1dof", "--json")
    assert code == 0
    assert "oscillation" not in out


def test_a_model_too_large_for_its_oscillations_names_the_segments_that_are_not(monkeypatch):
    monkeypatch.setattr("pliant.parallel.model.modes.MAX_FREEDOMS", 16)
    large = build_parallel("2PR", segments=6)
    (note,) = check_modes(large)
    assert note.subject == "oscillations"
    assert f"{large.compile().nv} degrees of freedom" in note.message
    segments = int(note.hint.rsplit(" ", 1)[1])
    assert 3 <= segments < 6
    assert len(check_modes(build_parallel("2PR", segments=segments))) == 7
