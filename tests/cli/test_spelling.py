"""The options of all commands: what means the same is spelled alike."""

import re
from collections import defaultdict

import pytest
from helps import shown_helps

from pliant.cli.application import COMMANDS

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def found():
    """Command, spelling and meaning of each option, as the help prints them."""
    rows = []
    for path, text in shown_helps():
        for line in text.splitlines():
            match = re.match(r"\W+(--[a-z-]+)(?:,? --?[a-z-]+)*(?: [A-Z]+)*\s{2,}(\S.*?)\s*(?:\[.*)?\W*$", line)
            if match:
                rows.append((" ".join(path), match[1], match[2].rstrip(".")))
    return rows


def test_what_has_one_meaning_has_one_spelling(found):
    spellings = defaultdict(lambda: defaultdict(set))
    for command, name, text in found:
        spellings[text][name].add(command)
    assert len({command.split()[0] for command, _, _ in found}) >= len(COMMANDS) - 1
    twice = {text: dict(names) for text, names in spellings.items() if len(names) > 1}
    assert not twice


@pytest.mark.parametrize(("name", "words"), [("--view-port", "port of the page"), ("--view-host", "serve the page on")])
def test_the_place_of_the_page_is_spelled_alike_in_every_command_that_has_a_page(found, name, words):
    spelled = {command: option for command, option, text in found if words in text.lower()}
    assert set(spelled.values()) == {name}
    assert {"view", "run", "replay"} <= set(spelled)


@pytest.mark.parametrize("words", [("help",), ("help", "run"), ("help", "cpr", "solve"), ("help", "yarp")])
def test_help_is_a_command_too(call, words):
    code, out, _ = call(*words)
    assert code == 0
    assert out == call(*words[1:], "--help")[1]
    assert "Usage: pliant" in out


def test_the_help_of_no_command_is_wrong_usage(call):
    code, _, err = call("help", "rnu")
    assert code == 2
    assert "did you mean 'run'?" in err


def test_a_help_names_optional_arguments_and_no_default_that_is_off(call):
    shown = {" ".join(path): call(*path, "--help")[1] for path, _ in shown_helps()}
    assert not [path for path, text in shown.items() if "[ARGS" in text]
    assert not [path for path, text in shown.items() if re.search(r"default:\s+(False|None|\"\"|\(\))", text)]
    assert shown["yarp read"].startswith("Usage: pliant yarp read [OPTIONS] NAME [SOURCE]\n")
    assert shown["reproduce"].startswith("Usage: pliant reproduce [OPTIONS] [EXPERIMENTS]...\n")
    assert "[default: 3]" in shown["yarp rpc"]
