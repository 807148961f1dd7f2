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


def test_elsewhere_a_long_compilation_says_after_10_30_and_90_s_how_far_it_is(capsys, monkeypatch):
    seconds = [5.0]
    monkeypatch.setattr("pliant.cli.progress.time.perf_counter", lambda: seconds[0])
    with Compiling(Console(file=io.StringIO())):
        for _ in range(2):  # the second compilation of a command as well
            with compilation("rods", 200):
                for _ in range(100):
                    seconds[0] += 1.0
                    with compilation("rods", 1):
                        pass
    first, *lines = capsys.readouterr().err.splitlines()
    assert first == "pliant: compiling rods (once; later runs load it)"
    once = [f"pliant: compiling rods: {n} of about 200 functions after {n} s" for n in (10, 30, 90)]
    assert lines == [*once, *once]


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


def test_outside_a_terminal_long_work_says_after_10_30_and_90_s_how_far_it_is(capsys, monkeypatch):
    seconds = [0.0]
    monkeypatch.setattr("pliant.cli.progress.time.perf_counter", lambda: seconds[0])
    with Bar(Console(file=io.StringIO()), "simulating 4,000,000 steps", "s") as bar:
        for second in range(1, 100):
            seconds[0] = float(second)
            bar(0.01 * second, 4.0, "0.01 x real time")
    first, *others = capsys.readouterr().err.splitlines()
    assert first == "pliant: simulating 4,000,000 steps: 0.1 of 4 s 0.01 x real time after 10 s; about 390 s more"
    assert [line.split(" after ")[1].split(";")[0] for line in others] == ["30 s", "90 s"]
    with Bar(Console(file=io.StringIO()), "serving", "s") as bar:  # a run without end
        seconds[0] = 1000.0
        bar(5.0, None)
    assert not capsys.readouterr().err
