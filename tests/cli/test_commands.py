"""The command line, in this process."""

import contextlib
import json
import re
import subprocess
import sys

import numpy as np
import pytest
from arm import MODEL

from pliant.recording.mcap import McapWriter

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("kind", ["qbmove", "sea", "awas_ii"])
def test_the_urdfs_of_the_toolbox_run_unchanged(call, joint_file, kind):
    code, out, err = call("run", joint_file(kind), "--duration", "0.2", "--json")
    assert code == 0, err
    result = json.loads(out)
    assert result["steps"] == 200
    assert result["joints"]["joint"]["stiffness"] > 0.0


@pytest.mark.shared
def test_the_general_template_of_the_toolbox_runs_unchanged(call, data):
    code, out, err = call("run", data / "template.urdf", "--duration", "0.2", "--json")
    assert code == 0, err
    assert json.loads(out)["steps"] == 200


def test_a_urdf_that_writes_a_formula_is_refused_with_file_line_field_and_a_valid_value(call, joint_file, tmp_path):
    text = re.sub(r"<spring_a>[^<]*<", "<spring_a>1.21*10^-6<", joint_file("bavs").read_text())
    path = tmp_path / "bavs.urdf"
    path.write_text(text)
    line = 1 + text[: text.index("<spring_a>")].count("\n")
    code, _, err = call("run", path)
    assert code == 1
    assert f"bavs.urdf:{line}" in err
    assert "spring_a" in err
    assert "1.21e-06" in err
    assert "Traceback" not in err


def test_settings_and_references_reach_the_simulation(call, robot_file):
    code, out, err = call(
        "run", robot_file, "--set", "actuator.k1=0.01", "--set", "elbow.k2=0.01",
        "-r", "elbow/equilibrium_position=0.5",
        "-r", "elbow/stiffness_preset=0.4", "--duration", "3", "--json",
    )  # fmt: skip
    assert code == 0, err
    joint = json.loads(out)["joints"]["elbow"]
    assert joint["equilibrium"] == pytest.approx(0.5, abs=0.01)
    assert joint["position"] == pytest.approx(0.5, abs=0.1)


def test_the_energy_audit_closes(call, robot_file):
    code, out, _ = call("run", robot_file, "-r", "elbow/equilibrium_position=0.5", "--duration", "2", "--json")
    assert code == 0
    assert json.loads(out)["energy"]["relative"] < 1e-3


def test_a_run_is_recorded_plotted_replayed_exported_and_compared(call, robot_file, tmp_path):
    first, second = tmp_path / "a.mcap", tmp_path / "b.mcap"
    for path in (first, second):
        code, _, err = call(
            "run", robot_file, "-r", "elbow/equilibrium_position=0.3", "--duration", "0.3", "--record", path,
            "--plot", path.with_suffix(".png"),
        )  # fmt: skip
        assert code == 0, err
        assert path.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    code, out, _ = call("replay", first, "--export", tmp_path / "a.npz", "--json")
    assert code == 0
    assert json.loads(out)["complete"] is True
    with np.load(tmp_path / "a.npz") as file:
        assert any(name.startswith("elbow/position") for name in file.files)
    code, out, _ = call("replay", first, "--compare", second)
    assert code == 0, out
    assert "identical" in out
    third = tmp_path / "c.mcap"
    code, _, err = call(
        "run", robot_file, "-r", "elbow/equilibrium_position=0.2", "--duration", "0.3", "--record", third
    )
    assert code == 0, err
    code, out, _ = call("replay", first, "--compare", third)
    assert code == 3
    assert "largest difference" in out
    assert "Difference(" not in out
    row = next(line.split() for line in out.splitlines() if line.strip().startswith("elbow/reference_1 "))
    assert row[2:3] != ["-"]
    code, out, _ = call("replay", first, "--compare", third, "--json")
    assert {d["name"] for d in json.loads(out)["differences"]} >= {"elbow/position", "elbow/reference_1"}
    code, _, err = call("run", robot_file, "--duration", "0.1", "--record", first)
    assert code == 1
    assert "a.mcap" in err


def test_commands_come_from_a_file(call, robot_file, tmp_path):
    table = tmp_path / "commands.csv"
    table.write_text("time,elbow/equilibrium_position\n0,0\n0.1,0.4\n")
    code, out, err = call("run", robot_file, "--command", table, "--duration", "2", "--json")
    assert code == 0, err
    assert json.loads(out)["joints"]["elbow"]["equilibrium"] == pytest.approx(0.4, abs=0.01)
    table.write_text("time,elbow/equilibrium\n0,0\n")
    code, _, err = call("run", robot_file, "--command", table)
    assert code == 1
    assert "commands.csv" in err
    assert "equilibrium_position" in err


def test_a_time_step_beyond_the_bound_is_refused_and_can_be_forced(call, robot_file):
    stiff = ("--set", "actuator.law=qbmove", "--timestep", "0.05")
    code, _, err = call("run", robot_file, *stiff)
    assert code == 1
    assert "elbow" in err
    assert "--no-check" in err
    code, _, err = call("check", robot_file, "--timestep", "0.05", "--json")
    assert code == 3


def test_a_diverging_run_has_its_own_code_and_leaves_a_dump_that_replay_shows(call, tmp_path, monkeypatch):
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "arm.xml").write_text(MODEL.replace('damping="0.05"', ""))
    (tmp_path / "arm.yaml").write_text(
        "model: arm.xml\nactuators:\n  elbow: {law: sea, k: 1.0e+6, max_deflection: 1.0e+6, mode: 3}\n"
    )
    run = ("run", tmp_path / "arm.yaml", "--no-check", "-r", "elbow/equilibrium_position=0.5", "--duration", "5")
    code, _, err = call(*run)
    assert code == 4
    assert "'elbow'" in err
    dumps = list((tmp_path / "state" / "pliant").glob("pliant_diverged_*.npz"))
    assert len(dumps) == 1
    assert str(dumps[0]) in err.replace("\n", "")
    assert not list((tmp_path / "work").iterdir())
    code, out, _ = call("replay", dumps[0])
    assert code == 0
    assert "elbow velocity" in out
    (tmp_path / "runs").mkdir()
    code, _, err = call(*run, "--record", tmp_path / "runs" / "arm.mcap")
    assert code == 4
    assert len(list((tmp_path / "runs").glob("pliant_diverged_*.npz"))) == 1


def test_a_sweep_writes_its_table(call, robot_file, tmp_path):
    code, out, err = call(
        "sweep", robot_file, "--vary", "actuator.k1=0.001:0.003:4", "-r", "elbow/equilibrium_position=0.5",
        "--duration", "0.2", "--output", tmp_path / "sweep", "--json",
    )  # fmt: skip
    assert code == 0, err
    assert len(json.loads(out)["rows"]) == 4
    assert (tmp_path / "sweep" / "results.csv").exists()


def test_list_names_robots_laws_and_experiments(call):
    code, out, _ = call("list", "--json")
    assert code == 0
    found = json.loads(out)
    assert {"sea", "qbmove", "bavs", "awas_ii"} <= set(found["laws"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "no-such-robot"), "no-such-robot"),
        (("run", "no/such/file.urdf"), "no/such/file.urdf"),
        (("reproduce", "viactor-step"), "viactors-step"),
        (("replay", "nothing.mcap"), "nothing.mcap"),
        (("sweep", "nothing.yaml", "--vary", "k"), "'='"),
    ],
)
def test_wrong_input_gives_one_message_without_a_traceback(call, arguments, message):
    code, _, err = call(*arguments)
    assert code == 1
    assert message in err
    assert "Traceback" not in err


def test_wrong_settings_name_the_nearest(call, robot_file):
    for item, message in (("elbow.k11=1", "k1"), ("elbo.k1=1", "elbow"), ("elbow.k1", "PATH=VALUE"),
                          ("elbow.k1=abc", "abc")):  # fmt: skip
        code, _, err = call("run", robot_file, "--set", item)
        assert code == 1, item
        assert message in err, err


def test_an_unknown_bridge_is_named(call, robot_file):
    code, _, err = call("run", robot_file, "--bridge", "smoke")
    assert code == 1
    assert "smoke" in err


def test_a_folder_that_cannot_be_written_is_named(call, robot_file, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    code, _, err = call("sweep", robot_file, "--vary", "actuator.k1=0.001", "--output", blocked / "out")
    assert code == 1
    assert "cannot be written" in err
    code, _, err = call("run", robot_file, "--record", blocked / "run.mcap")
    assert code == 1


@pytest.mark.parametrize(
    ("rate", "words"),
    [("300", ("300 Hz", "250 or 333.333 Hz")), ("3000", ("nearest: 1000 Hz",)), ("0", ("> 0 Hz",)),
     ("nan", ("> 0 Hz",)), ("-5", ("> 0 Hz",))],
)  # fmt: skip
def test_a_joint_rate_that_is_no_part_of_the_steps_names_the_nearest(call, robot_file, rate, words):
    code, _, err = call("run", robot_file, "--joint-rate", rate)
    assert code == 1
    for word in words:
        assert word in err


def test_a_joint_rate_near_enough_to_a_whole_number_of_steps_is_taken(call, robot_file, tmp_path):
    from pliant.recording import read_recording

    for rate, count in (("333.3333", 100), ("1000", 300)):
        file = tmp_path / f"{rate}.mcap"
        assert call("run", robot_file, "--joint-rate", rate, "--duration", "0.3", "--record", file)[0] == 0
        assert len(read_recording(file)["elbow/time"]) == count


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-r", "elbow"), "--reference JOINT/COMMAND=VALUE"),
        (("--package-path", "no/such/folder"), "no/such/folder: --package-path: the folder does not exist"),
        (("--import", "no_such_file.py"), "no_such_file.py"),
    ],
)
def test_options_without_a_meaning_are_named(call, robot_file, arguments, message):
    code, _, err = call("run", robot_file, *arguments)
    assert code == 1
    assert message in err


def test_a_run_of_no_length_says_nothing_of_its_speed(call, robot_file):
    code, out, _ = call("run", robot_file, "--duration", "0")
    assert code == 0
    assert "0 steps, 0 s simulated" in out
    assert "nan" not in out


@pytest.mark.parametrize("name", ["fci", "qbmove-2dof", "awas_ii", "6PFR"])
def test_the_options_of_a_robot_a_bridge_or_a_law_are_listed_from_their_declaration(call, name):
    code, out, err = call("list", name, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["options"]
    assert all(option["meaning"] for option in found["options"])
    code, out, err = call("list", name)
    assert code == 0, err
    assert found["options"][0]["name"] in out


def test_a_robot_is_listed_with_the_scenarios_of_pliant_that_fit_it(call):
    found = json.loads(call("list", "qbmove-2dof", "--json")[1])["scenarios"]
    assert set(found) == {"soft-then-stiff", "swing"}
    code, out, _ = call("list", "qbmove-2dof")
    assert code == 0
    assert "swing" in out
    assert "both joints swing from side to side" in out
    assert json.loads(call("list", "fci", "--json")[1])["scenarios"] == {}


def test_listing_what_does_not_exist_names_the_nearest(call):
    code, _, err = call("list", "fcj")
    assert code == 1
    assert "did you mean 'fci'" in err


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_computed(call, robot_file, tmp_path):
    run = tmp_path / "run.mcap"
    assert call("run", robot_file, "--duration", "0.1", "--record", run)[0] == 0
    nowhere, page = tmp_path / "nowhere", tmp_path / "page.html"
    page.mkdir()
    for words, message in (
        (("replay", run, "--plot", "run.doc"), "--plot run.doc: the suffix is '.doc'; must be one of .pdf, .png, .svg"),
        (("identify", run, "--figure", "fit.doc"), "--figure fit.doc: the suffix is '.doc'; must be one of .pdf"),
        (("identify", run, "--datasheet", tmp_path), "--datasheet: this is a folder; name a file in it"),
        (("replay", run, "--html", page), "--html: this is a folder; name a file in it"),
        (("identify", run, "--datasheet", nowhere / "a.json"), f"the folder {nowhere} does not exist"),
        (("cpr", "solve", "3RR", "--figure", "a.doc"), "--figure a.doc: the suffix is '.doc'"),
        (("cpr", "solve", "3RR", "--output", nowhere / "a.csv"), f"the folder {nowhere} does not exist"),
        (("cpr", "workspace", "3RR", "--axis", "x=0", "--figure", "a.doc"), "--figure a.doc: the suffix is '.doc'"),
    ):
        code, out, err = call(*words)
        assert code == 1
        assert not out
        assert message in err


def test_a_robot_is_not_a_recording_and_a_recording_is_not_a_robot(call, robot_file, tmp_path):
    run = tmp_path / "run.mcap"
    assert call("run", robot_file, "--duration", "0.01", "--record", run)[0] == 0
    code, _, err = call("run", run)
    assert code == 1
    assert "run.mcap: this is a recording and not a robot; `pliant replay` shows it" in err
    code, _, err = call("replay", robot_file)
    assert code == 1
    assert "this is the file of a robot and not a recording; `pliant run` simulates it" in err
    code, _, err = call("replay", tmp_path / "rum.mcap")
    assert code == 1
    assert "there is no such recording; did you mean 'run.mcap'?" in err


def test_a_model_without_compliant_actuators_says_how_to_add_one(call, tmp_path):
    model = tmp_path / "plain.xml"
    model.write_text(MODEL)
    hint = "a YAML file adds one: model: FILE, actuators: {elbow: {law: qbmove}}"
    code, out, _ = call("run", model, "--duration", "0.01")
    assert code == 0
    assert f"it takes no commands; {hint}" in out
    for words in (
        ("-r", "elbow/equilibrium_position=0.1"),
        ("--set", "elbow.law=sea"),
        ("--record", tmp_path / "run.mcap"),
        ("--plot", tmp_path / "run.png"),
    ):
        code, _, err = call("run", model, "--duration", "0.01", *words)
        assert code == 1
        assert hint in err
    assert not {p.name for p in tmp_path.iterdir()} & {"run.mcap", "run.png"}
    (tmp_path / "soft.yaml").write_text("model: plain.xml\nactuators: {elbow: {law: qbmove}}\n")  # as it says
    code, out, _ = call("run", tmp_path / "soft.yaml", "--duration", "0.01", "-r", "elbow/equilibrium_position=0.1")
    assert code == 0
    assert "QbMove" in out


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("-r", "elbow/equilibrium_position=45"), "Likely cause: degrees"),
        (("--set", "actuator.law=qbmove", "--timestep", "0.05", "--no-check"), "--no-check ignores"),
    ],
)
def test_a_warning_of_a_run_begins_with_its_word_and_is_no_part_of_the_tables(call, robot_file, options, word):
    code, out, err = call("run", robot_file, "--duration", "0.05", *options)
    assert code == 0, err
    warned = [line for line in err.splitlines() if word in line]
    assert warned
    assert all(line.startswith("warning: ") for line in warned)
    assert word not in out
    assert "warning" not in out


def test_one_table_of_the_list_is_shown_alone(call):
    code, out, _ = call("list", "bridges", "--json")
    assert code == 0
    assert list(json.loads(out)) == ["bridges"]
    assert "fci" in json.loads(out)["bridges"]


def test_the_list_imports_no_compiler():
    script = (
        "import sys\nfrom pliant.cli import main\ntry:\n    main(['list', '--json'])\nexcept SystemExit:\n    pass\n"
    )
    script += "print([m for m in ('numba', 'scipy', 'matplotlib') if m in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert done.stderr.strip() == "[]"


def test_a_recording_that_another_run_writes_is_not_overwritten(call, tmp_path):
    with contextlib.closing(McapWriter(tmp_path / "run.mcap")):
        code, _, err = call("run", "sea-1dof", "--duration", "0.01", "--record", tmp_path / "run.mcap", "--overwrite")
    assert code == 1
    assert "another run is writing this file" in err
    code, _, _ = call("run", "sea-1dof", "--duration", "0.01", "--record", tmp_path / "run.mcap", "--overwrite")
    assert code == 0
