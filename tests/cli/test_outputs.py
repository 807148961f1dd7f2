"""Files that wings make of a run or a recording: their options stand among those of the core."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
from cyclopts import App, Parameter

from pliant.base.wing import Wing, declare, withdraw
from pliant.cli import outputs, simulating
from pliant.films.options import Film


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Tape:
    """A tape."""

    tape: Path | None = None
    """Write the run on a tape."""
    tape_width: float = 6.3
    """Width [mm]."""

    @property
    def file(self):
        return self.tape


def parsed(kinds, words):
    """Return what a command with these files takes from a command line, and its options."""
    joined = outputs.join_options(kinds)
    none = joined()
    app = App(result_action="return_value")

    @dataclass(frozen=True, kw_only=True)
    class Plan:
        duration: float = 1.0
        made: joined = none  # type: ignore[valid-type]

    @app.default
    def run(*, plan: Annotated[Plan, Parameter(name="*")] = Plan()):
        return plan

    names = [name for argument in app.assemble_argument_collection() for name in argument.names if argument.parse]
    return app(words.split(), exit_on_error=False, print_error=False), names


def test_the_options_of_two_wings_stand_side_by_side():
    plan, names = parsed({"video": Film, "tape": Tape}, "--tape a.t --tape-width 3 --duration 2")
    assert (plan.duration, plan.made.video.file) == (2.0, None)
    assert plan.made.tape == Tape(tape=Path("a.t"), tape_width=3.0)
    assert {"--duration", "--video", "--video-size", "--tape", "--tape-width"} <= set(names)


def test_a_command_without_such_wings_has_its_own_options_only():
    plan, names = parsed({}, "--duration 2")
    assert plan.duration == 2.0
    assert sorted(names) == ["*", "--duration"]  # the plan itself is "*"


def test_only_files_that_are_named_are_asked_for():
    assert outputs.asked_files(outputs.NO_OUTPUTS) == {}
    film = Film(video=Path("a.gif"))
    assert outputs.asked_files(outputs.Outputs(video=film)) == {"video": film}


@pytest.fixture
def broken():
    """A wing whose options cannot be imported."""
    declare(Wing(name="torn", summary="a broken wing", outputs={"tape": "no_such_module:Tape"}))
    yield
    withdraw("torn")


def test_options_that_cannot_be_imported_are_left_out_with_a_warning(broken, capsys):
    assert [*outputs.load_entries("outputs")] == ["video", "plot"]
    said = " ".join(capsys.readouterr().err.split())
    assert "the wing 'torn': outputs 'tape' cannot be imported: No module named 'no_such_module'" in said


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("--video a.gif --video-size 96x64 --video-fps=3", ""),
        ("--record a.mcap --plot=b.png --overwrite --json", ""),
        ("--seed 3 --video=a.gif video record", "--seed 3 video record"),
    ],
)
def test_a_recording_keeps_the_command_line_without_the_options_of_files(monkeypatch, words, kept):
    monkeypatch.setattr("sys.argv", ["pliant", "run", "arm", *words.split()])
    assert simulating.command_line() == f"pliant run arm {kept}".strip()
