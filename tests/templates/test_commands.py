"""`pliant new`: what it writes works as it stands, and its tests fail when what they test is broken."""

import json
import os
import subprocess
import sys

import pytest
from forks import forks

from pliant.base.wing import offers
from pliant.cli import main
from pliant.templates.commands import TEMPLATES

KINDS = [*TEMPLATES, *(offer.key for offer in offers("templates"))]
BREAKS = {
    "robot": ("my-thing.yaml", "law: qbmove, mode: 6", "law: sea, mode: 6"),
    "law": ("my_thing.py", "0.25 * c", "0.5 * c"),
    "bridge": ("my_thing.py", 'inbox.put(message["values"])', "inbox"),
    "experiment": ("my_thing.py", "torque / options.stiffness", "2.0 * torque / options.stiffness"),
}


def new(capsys, *words):
    with pytest.raises(SystemExit) as end:
        main(["new", *map(str, words)])
    return end.value.code, capsys.readouterr()


@pytest.fixture(scope="module")
def judged():
    """Return a function that runs the tests in a folder and returns pytest's exit code and what it prints.

    Each run is a fork of a process that has imported what the tests of every kind need, without the options and plugins
    of this run.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"

    def run(folder, *more):
        text = found.run(JUDGE, folder, "-q", "-p", "no:cacheprovider", *more, ".")
        return int(text.splitlines()[-1]), text

    with forks("pytest", "pliant.devices", "pliant.engine", "pliant.simulation", environment=environment) as found:
        yield run


JUDGE = "import pytest, sys\nprint(int(pytest.main(sys.argv[1:])))"


@pytest.mark.network
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_passes_its_test_until_it_is_broken(kind, judged, tmp_path, capsys):
    code, out = new(capsys, kind, "my-thing", "--folder", tmp_path / "made", "--json")
    assert code == 0
    written = json.loads(out.out)
    assert all((tmp_path / path).exists() for path in written["files"])
    code, text = judged(tmp_path / "made")
    assert code == 0, text

    file, right, wrong = BREAKS[kind]
    text = (tmp_path / "made" / file).read_text()
    assert right in text
    (tmp_path / "made" / file).write_text(text.replace(right, wrong))
    assert judged(tmp_path / "made", "-x")[0] == 1


def test_the_tests_that_are_written_pass_as_a_user_runs_them(tmp_path, capsys):
    new(capsys, "robot", "my-thing", "--folder", tmp_path)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("lw", "x"), "there is no template 'lw'; did you mean 'law'?"),
        (("law", "Sea"), "the name is 'Sea'; must be lower-case letters and digits"),
        (("law", "../x"), "must be lower-case"),
        (("law", "class"), "a word of Python"),
        (("law", "sea"), "pliant has a law 'sea'"),
        (("bridge", "ros1"), "pliant has a bridge 'ros1'"),
        (("robot", "fr3"), "pliant has a robot 'fr3'"),
        (("experiment", "box"), "pliant has an experiment 'box'"),
        (("robot",), "NAME is missing"),
    ],
)
def test_wrong_words_are_refused(words, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out = new(capsys, *words)

    assert code in (1, 2)
    assert message in out.err
    assert not list(tmp_path.iterdir())


def test_files_that_exist_are_kept(capsys, tmp_path):
    (tmp_path / "test_grip.py").write_text("mine")
    code, out = new(capsys, "law", "grip", "--folder", tmp_path)

    assert code == 1
    assert f"{tmp_path / 'test_grip.py'} exists" in out.err
    assert [path.name for path in tmp_path.iterdir()] == ["test_grip.py"]
    assert (tmp_path / "test_grip.py").read_text() == "mine"
