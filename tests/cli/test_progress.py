"""Bars on a terminal: one at a time, none where nobody looks."""

import io

import pytest
from rich.console import Console

from pliant.base.compiling import compilation
from pliant.cli.progress import Bar, Compiling


@pytest.fixture
def terminal():
    return Console(file=io.StringIO(), force_terminal=True, width=120)


def printed(console):
    return console.file.getvalue()


def test_a_terminal_shows_what_is_compiled_as_a_bar_that_goes(terminal):
    with Compiling(terminal):
        with compilation("franka", 40):
            pass
        shown = printed(terminal)
        assert "compiling franka (once; later runs load it)" in shown
        assert "/40 functions" in shown.replace("\x1b", "").replace("[32m", "") or "0/40" in shown
        with compilation("rods", 12):
            pass
    assert "compiling rods" in printed(terminal)


def test_elsewhere_each_compilation_is_one_line(capsys):
    with Compiling(Console(file=io.StringIO())):
        for _ in range(2):
            with compilation("franka", 40):
                pass
    assert capsys.readouterr().err == "pliant: compiling franka (once; later runs load it)\n"


def test_nothing_is_shown_after_the_command(terminal):
    with Compiling(terminal):
        pass
    with compilation("franka", 40):
        pass
    assert printed(terminal) == ""


def test_two_bars_do_not_overwrite_each_other(terminal, monkeypatch):
    monkeypatch.setattr("pliant.cli.progress.time.perf_counter", iter(range(100)).__next__)
    other = Console(file=io.StringIO(), force_terminal=True, width=120)
    with Compiling(other), Bar(terminal, "simulating", "s") as bar:
        bar(1.0, 2.0)
        with compilation("franka", 40):
            pass
    assert "simulating" in printed(terminal)
    assert printed(other) == ""
    with Compiling(other), compilation("franka", 40), Bar(terminal, "experiments", "runs") as bar:
        bar(1.0, 2.0)
        assert "experiments" not in printed(terminal)
    assert "franka" in printed(other)
