"""What is said beside the results."""

import json
import logging
import os
import subprocess
import sys
import threading
import warnings

import pytest

from pliant.base.errors import DivergedError, ModelError, PliantError
from pliant.cli import main, messages
from pliant.cli.messages import BURST, Messages, as_dict

pytestmark = pytest.mark.quick


def lines(capsys):
    return [line for line in capsys.readouterr().err.splitlines() if line]


def test_warnings_of_the_library_are_shown_with_their_source(capsys):
    with Messages():
        logging.getLogger("pliant.ros1").warning("/robot/joint/reference_1: %s", "nan is not finite")
        logging.getLogger("pliant.ros1").info("nobody wants to hear this")
        logging.getLogger("pliant").warning("of pliant itself")
    assert lines(capsys) == ["warning: ros1: /robot/joint/reference_1: nan is not finite", "warning: of pliant itself"]


def test_after_the_command_nothing_is_shown_and_no_thread_is_left(capsys):
    before = set(threading.enumerate())
    with Messages():
        logging.getLogger("pliant.ros2").warning("inside")
    assert set(threading.enumerate()) <= before  # one of an earlier test may have ended meanwhile
    logger = logging.getLogger("pliant")
    assert not [h for h in logger.handlers if isinstance(h, Messages)]
    assert lines(capsys) == ["warning: ros2: inside"]


def test_a_flood_is_counted_instead_of_shown(capsys, monkeypatch):
    monkeypatch.setattr(messages, "RATE", 1e-9)
    with Messages():
        for k in range(10 * BURST):
            logging.getLogger("pliant.ros1").warning("wrong %d", k)
    shown = lines(capsys)
    assert len(shown) == BURST + 1
    assert shown[-1] == f"warning: {9 * BURST} more messages were suppressed"


def test_the_next_message_says_how_many_were_held_back(capsys):
    now = [0.0]
    with Messages() as told:
        told._limit = messages.RateLimit(burst=1, rate=1.0, clock=lambda: now[0])
        for k in range(4):
            logging.getLogger("pliant.ros1").warning("wrong %d", k)
        now[0] = 1.0
        logging.getLogger("pliant.ros1").warning("wrong again")
    assert lines(capsys)[-1] == "warning: ros1: wrong again (3 messages before it were suppressed)"


def test_text_from_a_network_neither_floods_nor_steers_the_terminal(capsys):
    with Messages():
        logging.getLogger("pliant.ros1").warning("%s", "\x1b[2J" + "x" * 100_000)
    (line,) = lines(capsys)
    assert "\x1b" not in line
    assert "\\x1b[2J" in line
    assert len(line) < 2200, len(line)
    assert line.endswith("(100010 characters)")  # the source counts


def test_the_reason_of_an_exception_is_shown_without_its_traceback(capsys):
    with Messages():
        try:
            raise ValueError("seven")
        except ValueError:
            logging.getLogger("pliant.ros1").exception("service %s failed", "/reset")
    assert lines(capsys) == ["pliant: ros1: service /reset failed: ValueError: seven"]


def test_a_message_that_does_not_fit_its_values_is_shown_as_it_stands(capsys):
    with Messages() as told:
        told.emit(logging.LogRecord("pliant.ros1", logging.WARNING, __file__, 1, "%d of %d", (1,), None))
    assert lines(capsys) == ["warning: ros1: %d of %d"]


def test_python_warnings_are_one_line_too(capsys):
    before = warnings.showwarning
    with Messages(), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("the recording was cut off", stacklevel=1)
        warnings.warn("overflow encountered in dot", RuntimeWarning, stacklevel=1)
    assert lines(capsys) == ["warning: the recording was cut off"]
    assert warnings.showwarning is before


def test_an_error_is_one_object_with_its_parts():
    error = as_dict(ModelError("wrong", file="arm.urdf", line=3, field="k1"), 1)["error"]
    assert error == {
        "type": "ModelError", "message": "wrong", "code": 1, "file": "arm.urdf", "line": 3, "field": "k1",
    }  # fmt: skip
    diverged = as_dict(DivergedError("away", joint="elbow", time=0.5, dump="x.npz"), 4)["error"]
    assert (diverged["joint"], diverged["time"], diverged["dump"], diverged["code"]) == ("elbow", 0.5, "x.npz", 4)


@pytest.mark.parametrize(
    ("arguments", "code", "kind", "message"),
    [
        (("run", "no-such-robot", "--json"), 1, "ModelError", "no-such-robot"),
        (("run", "--json"), 2, "WrongUsage", "SOURCE is missing"),
        (("rnu", "--json"), 2, "WrongUsage", "did you mean 'run'?"),
        (("run", "x", "--duraton", "1", "--json"), 2, "WrongUsage", "Did you mean --duration? See pliant run --help"),
        (("cpr", "solve", "2RQ", "--json"), 1, "ModelError", "2RR"),
        (("replay", "nothing.mcap", "--json"), 1, "RecordingError", "there is no such recording"),
    ],
)
def test_with_json_errors_are_json_on_standard_output_with_the_same_code(capsys, arguments, code, kind, message):
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    out, err = capsys.readouterr()
    assert end.value.code == code
    error = json.loads(out)["error"]
    assert (error["type"], error["code"]) == (kind, code)
    assert message in error["message"] + str(error.get("file"))
    assert "Traceback" not in err
    plain = [a for a in arguments if a != "--json"]
    with pytest.raises(SystemExit) as end:
        main(plain)
    assert end.value.code == code
    assert capsys.readouterr().out == ""


def test_with_debug_the_traceback_is_shown(capsys):
    with pytest.raises(SystemExit) as end:
        main(["run", "no-such-robot", "--debug"])
    assert end.value.code == 1
    assert "Traceback" in capsys.readouterr().err


def test_ctrl_c_before_there_is_a_result_has_its_own_code(capsys, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("pliant.robots.list_robots", interrupt)
    with pytest.raises(SystemExit) as end:
        main(["list"])
    assert end.value.code == 130
    assert capsys.readouterr().err == "pliant: interrupted\n"
    with pytest.raises(SystemExit) as end:
        main(["list", "--json"])
    assert end.value.code == 130
    assert json.loads(capsys.readouterr().out)["error"]["type"] == "Interrupted"


@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"]])
def test_a_reader_that_goes_away_is_no_error(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pliant", *arguments],
            stdin=subprocess.DEVNULL, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=120,
        )  # fmt: skip
    finally:
        os.close(writing)
    assert done.returncode == 0
    assert done.stderr == ""


def test_an_error_of_the_disk_that_no_command_explains_is_one_line(capsys, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", "figure.png")

    monkeypatch.setattr("pliant.cli.application.app", full)
    with pytest.raises(SystemExit) as ended:
        main(["list"])
    assert ended.value.code == 1
    assert capsys.readouterr().err == "pliant: figure.png: No space left on device\n"


def test_an_error_quotes_neither_control_characters_nor_whole_files():
    text = str(PliantError("column '\x1b[2J\x07' is " + 5000 * "9" + "; must be a number", file="a\x07.csv", line=2))
    assert text.startswith("a\\x07.csv:2: column '\\x1b[2J\\x07' is 999")
    assert text.endswith("; must be a number")
    assert " characters) ... 999" in text
    assert len(text) < 2100
