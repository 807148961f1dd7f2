"""Every command has examples in its help, and they are valid command lines; `--quiet` leaves only what matters."""

import json
import shlex

import pytest

from pliant.cli import main
from pliant.cli.application import COMMANDS, OF_WINGS, app, examples_of, load_commands


def commands():
    load_commands()

    def walk(group, path):
        for name in group:
            if name.startswith("-"):
                continue
            command = group[name]
            if command.default_command is None:
                yield from walk(command, [*path, name])
            else:
                yield " ".join([*path, name]), command

    return dict(walk(app, []))


ALL = commands()


@pytest.mark.parametrize("name", ALL)
def test_the_examples_of_a_command_are_valid_command_lines(name):
    lines = "\n".join(examples_of(ALL[name].default_command)).replace("\\\n", " ").splitlines()

    assert lines
    for line in lines:
        words = shlex.split(line.partition(" > ")[0])
        assert words[0] == "pliant"
        assert " ".join(words[1:]).startswith(name)
        function, _, _ = app.parse_args(words[1:], exit_on_error=False, print_error=False)
        assert function is ALL[name].default_command


@pytest.mark.parametrize("words", [["compare", "--help"], ["help", "compare"], ["cpr", "solve", "-h"]])
def test_the_help_ends_with_the_examples_line_by_line(words, capsys):
    with pytest.raises(SystemExit) as end:
        main(words)
    text = capsys.readouterr().out
    name = " ".join(w for w in words if w not in ("--help", "-h", "help"))

    assert end.value.code == 0
    shown = [line.strip() for line in text.partition("Examples:")[2].splitlines() if line.strip()]
    assert shown == [line.strip() for line in examples_of(ALL[name].default_command)]
    assert max(map(len, text.splitlines())) <= 80


def test_every_command_is_in_this_sweep():
    assert {name.split()[0] for name in ALL} == {*COMMANDS, *OF_WINGS, "completion"}


def run(capsys, *words):
    with pytest.raises(SystemExit) as end:
        main([*words])
    return end.value.code, capsys.readouterr()


def test_a_quiet_command_prints_nothing_and_keeps_its_exit_code(capsys):
    assert run(capsys, "run", "sea-1dof", "--duration", "0.01", "--quiet") == (0, ("", ""))
    code, out = run(capsys, "check", "qbmove-1dof", "--timestep", "0.05", "--quiet")
    assert (code, out.out) == (3, "")
    assert run(capsys, "list", "--quiet") == (0, ("", ""))


def test_a_quiet_command_prints_its_json_object_and_its_errors(capsys):
    _, out = run(capsys, "run", "sea-1dof", "--duration", "0.01", "--quiet", "--json")
    assert json.loads(out.out)["steps"] == 20
    code, out = run(capsys, "run", "sea-2dof", "--quiet")
    assert code == 1
    assert out.err.startswith("pliant: the catalogue has no robot 'sea-2dof'")


def test_words_behind_two_dashes_are_not_options(capsys):
    code, out = run(capsys, "check", "--", "--quiet")
    assert code == 1
    assert "'--quiet'" in out.err
