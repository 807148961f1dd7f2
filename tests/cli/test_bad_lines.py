"""Hundreds of wrong command lines: each ends in one line that names the thing, and the nearest valid one."""

import re
import shlex

import pytest
from helps import shown_helps

pytestmark = pytest.mark.quick

TYPED = {
    "run qbmove-1dfo": "did you mean 'qbmove-1dof'",
    "run nofile.urdf": "nofile.urdf",
    "run qbmove-1dof --duration x": "--duration is 'x'; must be a number",
    "run qbmove-1dof --duration -1": "duration is -1",
    "run qbmove-1dof --set joint.k1": "PATH=VALUE",
    "run qbmove-1dof --set joint.kk1=0.1": "did you mean 'k",
    "run qbmove-1dof --set jiont.k1=0.1": "did you mean 'joint'",
    "run qbmove-1dof --set joint.k1=abc": "'abc'",
    "run qbmove-1dof --bridge rosx": "did you mean 'ros",
    "run fr3 --bridge fci:prot=1": "did you mean 'port'",
    "run qbmove-1dof -r joint/equilibrum_position=1": "joint/equilibrium_position",
    "run qbmove-1dof -r jiont/equilibrium_position=1": "joint/equilibrium_position",
    "run qbmove-1dof --scenario nope": "must be one of push, steps",
    "run qbmove-1dof --scenario missing.yaml": "missing.yaml",
    "run qbmove-1dof --command none.csv": "none.csv: there is no such file",
    "run qbmove-1dof --record nofolder/a.mcap --duration 0.1": "make it first",
    "run qbmove-1dof --record a.txt --duration 0.1": "must end in .mcap",
    "run qbmove-1dof --plot a.xyz --duration 0.1": "must be one of .pdf, .png, .svg",
    "run qbmove-1dof --video a.avi --duration 0.1": "must be one of .mp4, .gif",
    "run qbmove-1dof --video-fps 10 --duration 0.1": "without --video",
    "run qbmove-1dof --seed x": "must be a whole number",
    "run qbmove-1dof --seed 1.5": "--seed is '1.5'; must be a whole number",
    "run qbmove-1dof --duration 0.1 --timestep 1": "--no-check runs the robot anyway",
    "run qbmove-1dof --set joint=1": "a path is joint.PARAMETER; PARAMETER must be one of",
    "record qbmove-1dof": "did you mean 'pliant run'?",
    "run qbmove-1dof extra": "unexpected argument 'extra'",
    "run qbmove-1dof --package-path nowhere": "nowhere",
    "run qbmove-1dof --import no.such.module": "no.such.module",
    "rnu qbmove-1dof": "did you mean 'run'",
    "vew qbmove-1dof": "did you mean 'view'",
    "--hlep": "did you mean '--help'",
    "view qbmove-1dof --view-port 99999": "must be from 0 to 65535",
    "view qbmove-1dof --report nowhere": "no report in this folder",
    "view fr3 --tour": "qbmove-5dof",
    "list bridge": "'bridge'",
    "check nothing": "`pliant list` shows all",
    "doctor extra": "unexpected argument 'extra'",
    "--version extra": "unexpected argument 'extra'. See pliant --help",
    "--version --verbose": "unexpected argument '--verbose'",
    "export mjcff qbmove-1dof": "did you mean 'mjcf'",
    "export": "FORMAT is missing",
    "replay nofile.mcap": "there is no such recording",
    "replay": "RECORDING is missing",
    "compare a.mcap": "SECOND is missing",
    "compare a.mcap b.mcap": "a.mcap: the recording does not exist",
    "sweep qbmove-1dof": "--vary is missing",
    "sweep qbmove-1dof --vary joint.k1": "low:high:count",
    "sweep qbmove-1dof --vary joint.k1=a:b:3": "'a' is not a number",
    "identify": "FILE is missing",
    "identify nofile.csv": "there is no such file",
    "new": "KIND is missing",
    "new robt finger": "did you mean 'robot'",
    "new robot": "NAME is missing",
    "new robot finger --folder /dev/null": "--folder must be a folder",
    "new robot 1finger": "such as my-finger",
    "completion bassh": "did you mean 'bash'",
    "cpr solv 6PFR": "did you mean 'solve'",
    "cpr solve 6PFRR": "did you mean '6PFR'",
    "cpr solve 6PFR --pose 1": "must be 3 or 6",
    "shadow": "SOURCE is missing",
    "simulate qbmove-1dof": "did you mean 'pliant run'?",
    "film qbmove-1dof": "did you mean 'pliant run'?",
    "export csv run.mcap out.csv": "`pliant replay FILE --export` writes a table",
    "run qbmove-1dof --output a.mcap": "did you mean '--record'?",
    "run qbmove-1dof --save a.mcap": "did you mean '--record'?",
    "sweep qbmove-1dof --vary joint.k1=0.001 --out a": "did you mean '--output'?",
    "--list": "did you mean 'pliant list'?",
    "yarpserver --port 10000": "did you mean '--socket'?",
    "list robbots": "did you mean 'robots'?",
    "run qbmove-1dof --time 5": "did you mean '--duration'?",
    "run qbmove-1dof --set k1=0.002": "such as joint.k1",
    "run fr3 -r fr3/position=1": "franka takes no constant commands: a bridge, a scenario or requests",
    "run franka-dual -r left/position=1": "left and right take no constant commands: bridges, scenarios or requests",
    "compare fr3 fr3 -r fr3/position=1": "franka takes no constant commands",
    "run sea-1dof --set joint.mode=5 -r joint/positions=1": "reference_2, joint/external_torque, joint/reference_1",
}
"""Line -> what its message must contain."""


def generated():
    """Yield wrong lines of every option of every command, what is wrong in each, and the option."""
    row = re.compile(r"^\W+(?:--?\w+ +)*(--[a-z][a-z0-9-]+)(?: +-\w)?(?: +([A-Z]+)(?:\.\.\.)?)?(?= |$)", re.MULTILINE)
    for path, text in shown_helps():
        for option, kind in row.findall(text):
            if option in ("--help", "--version"):
                continue
            if len(option) > 7:
                shorter = option[:4] + option[5:]
                yield (*path, shorter), shorter, option
            if kind in ("INT", "FLOAT"):
                yield (*path, option, "abc"), "'abc'", option
            if kind == "INT":
                yield (*path, option, "1.5"), "'1.5'", option
            yield (*path, option if kind else f"{option}=maybe"), option, option


def test_every_typed_line_ends_in_one_line_that_names_the_thing_and_the_remedy(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wrong = []
    for line, wanted in TYPED.items():
        code, _, err = call(*shlex.split(line))
        shown = [one for one in err.splitlines() if one and not one.startswith(("warning:", "note"))]
        told = len(shown) == 1 and shown[0].startswith("pliant: ") and wanted in shown[0]
        if code not in (1, 2) or not told:
            wrong.append((line, code, err))
    assert not wrong


@pytest.mark.parametrize("stride", [4, pytest.param(1, marks=[pytest.mark.nightly, pytest.mark.slow])])
def test_every_wrong_option_or_value_is_named_with_the_right_one(call, tmp_path, monkeypatch, stride):
    monkeypatch.chdir(tmp_path)
    lines = list(generated())
    assert len(lines) + len(TYPED) >= 300
    of_commands = {line[0][0]: line for line in lines}  # one of each, whatever is skipped
    for words, wrong, option in [*lines[::stride], *of_commands.values()]:
        code, _, err = call(*words)
        assert code == 2, (words, err)
        assert err.startswith("pliant: "), (words, err)
        assert len(err.strip().splitlines()) == 1, (words, err)
        assert wrong in err or "is missing" in err, (words, err)
        assert option in err or "Did you mean" in err or "is missing" in err, (words, option, err)


def test_no_help_of_a_command_takes_a_word_more(call):
    paths = [path for path, _ in shown_helps()]
    assert ["cpr", "solve"] in [list(path) for path in paths]
    for path in paths:
        code, out, err = call("help", *path, "extra")
        assert (code, out) == (2, ""), (path, out)
        assert err.count("\n") == 1, (path, err)
        assert "'extra'" in err, (path, err)


def test_a_path_at_home_is_found_behind_an_option_too(monkeypatch, tmp_path, capsys):
    """A shell replaces ~ at the beginning of a word alone."""
    from pliant.cli.application import at_home, main

    monkeypatch.setenv("HOME", str(tmp_path))
    assert [at_home(word) for word in ("a~/b", "--set=x=~/b", "~other/a")] == ["a~/b", "--set=x=~/b", "~other/a"]
    with pytest.raises(SystemExit) as end:
        main(["run", "qbmove-1dof", "--duration", "0.02", "--record=~/run.mcap"])
    assert end.value.code == 0, capsys.readouterr().err
    assert (tmp_path / "run.mcap").is_file()
