"""The option of ``pliant run`` that gives a robot spare objects."""

import json

import pytest

from pliant.cli import main


def run(capsys, *words):
    with pytest.raises(SystemExit) as end:
        main(["run", *words])
    return end.value.code, capsys.readouterr()


def test_a_scenario_makes_objects_in_a_run_that_has_room_for_them(capsys, tmp_path):
    from pliant.recording import read_recording

    ball, file = {"radius": 0.1, "position": [1.0, 1.0, 2.0], "name": "ball"}, tmp_path / "run.mcap"
    event = {"event": "request", "at": 0.01, "device": "world", "request": "make_sphere", "args": ball}
    scenario = tmp_path / "ball.yaml"
    scenario.write_text(json.dumps({"events": [event]}))
    words = ["qbmove-1dof", "--duration", "0.05", "--scenario", str(scenario), "--record", str(file)]
    code, _ = run(capsys, *words, "--objects", "2")
    assert code == 0
    recording = read_recording(file)
    assert recording["world/shape"].shape[1] == 2
    assert recording["world/count"][-1] == 1.0
    code, said = run(capsys, *words, "--overwrite")
    assert code == 1
    assert "there is no device 'world'" in " ".join(said.err.split())


def test_a_number_of_objects_that_cannot_be_is_refused(capsys):
    code, said = run(capsys, "qbmove-1dof", "--objects", "1001")
    assert code == 1
    assert "objects is 1001; must be a whole number from 0 to 1000" in " ".join(said.err.split())
