"""Runs of the command line: bridges, time-outs, Ctrl-C, recordings, options that go together."""

import contextlib
import gc
import json
import signal
import threading

import pytest
from guest_wings import guest_bridges
from wires import LONG

from pliant.base.errors import DeviceError, PliantError
from pliant.cli import simulating
from pliant.recording import read_recording
from pliant.simulation import realtime as room


@pytest.fixture(autouse=True)
def _wires():
    names = ("plain", "mute", "stuck", "own", "ctrl_c", "refusing", "failing", "chatty")
    handler, threshold = signal.getsignal(signal.SIGINT), gc.get_threshold()
    before = set(threading.enumerate())
    with guest_bridges(**{name: f"wires:{name}" for name in names}):
        yield
    assert signal.getsignal(signal.SIGINT) is handler
    assert gc.get_threshold() == threshold
    assert not [t.name for t in set(threading.enumerate()) - before if t.name.startswith("pliant")]


# -- time-outs -------------------------------------------------------------------------------------------------


def test_a_time_out_ends_the_run_with_an_error_unless_told_otherwise(call, robot_file):
    code, _, err = call("run", robot_file, "--bridge", "mute", "--sync-timeout", "0.01", "--duration", "0.1")
    assert code == 1
    assert "mute: no answer within 0.01 s" in err


def test_what_a_bridge_in_lock_step_waits_for_is_said(call, robot_file):
    code, out, err = call("run", robot_file, "--bridge", "mute:answers=1000", "--duration", "0.01")
    assert code == 0, err
    assert "mute: waits for the first message on /arm/reference_1 and /arm/reference_2, without a time limit" in out


def test_a_bridge_that_does_not_exist_is_refused_before_the_robot_is_loaded(call, tmp_path):
    code, _, err = call("run", tmp_path / "nowhere.urdf", "--bridge", "ros9:tf=false")
    assert code == 1
    assert "no bridge 'ros9'" in err


@pytest.mark.parametrize(
    ("bridge", "message"),
    [("fci:mode=fast", "must be one of lockstep, paced, wall"), ("mute:answer=1", "no option 'answer'")],
)
def test_a_wrong_option_of_a_bridge_is_refused_before_the_robot_is_loaded(call, tmp_path, bridge, message):
    code, _, err = call("run", tmp_path / "nowhere.urdf", "--bridge", bridge)
    assert code == 1
    assert message in err
    assert "nowhere" not in err


def test_a_reference_that_is_given_twice_is_refused(call, robot_file):
    code, _, err = call("run", robot_file, "-r", "elbow/reference_1=6.2", "-r", "elbow/reference_1=0.1")
    assert code == 1
    assert "--reference elbow/reference_1 is given twice" in err


def test_halt_keeps_the_results_and_says_why(call, robot_file, tmp_path):
    file = tmp_path / "run.mcap"
    common = ("run", robot_file, "--bridge", "mute", "--sync-timeout", "0.01", "--on-timeout", "halt", "--duration", 1)
    code, out, err = call(*common, "--record", file)
    assert code == 0, err
    assert "11 steps" in out
    assert "halted mute: no answer within 0.01 s" in " ".join(out.split())
    assert read_recording(file).complete
    code, out, _ = call(*common, "--json")
    assert code == 0
    found = json.loads(out)
    assert found["steps"] == 11
    assert found["halted"].startswith("mute: no answer")
    assert found["health"]["lockstep"]["mute"]["timeouts"] == 1


def test_hold_goes_on(call, robot_file):
    code, out, err = call(
        "run", robot_file, "--bridge", "mute:answers=90", "--sync-timeout", "0.01", "--on-timeout", "hold",
        "--duration", "0.1", "--json",
    )  # fmt: skip
    assert code == 0, err
    found = json.loads(out)
    assert found["steps"] == 100
    assert found["health"]["lockstep"]["mute"]["timeouts"] == 10
    assert found["halted"] == ""


# -- Ctrl-C ----------------------------------------------------------------------------------------------------


def test_ctrl_c_keeps_and_says_what_was_done(call, robot_file, tmp_path):
    record, plot = tmp_path / "run.mcap", tmp_path / "run.png"
    code, out, _ = call(
        "run", robot_file, "--bridge", "ctrl_c", "--rtf", "1000", "--duration", "100", "--record", record,
        "--plot", plot,
    )  # fmt: skip
    assert code == 130
    assert "50 steps, 0.05 s simulated" in out
    assert "interrupted at 0.05 of 100 s" in out
    assert "elbow" in out
    assert str(record) in out.replace("\n", "")
    assert read_recording(record).complete
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_ctrl_c_with_json_gives_the_results_as_well(call, robot_file):
    code, out, _ = call("run", robot_file, "--bridge", "ctrl_c", "--rtf", "1000", "--duration", "100", "--json")
    assert code == 130
    found = json.loads(out)
    assert (found["interrupted"], found["steps"]) == (True, 50)
    assert found["joints"]["elbow"]["stiffness"] > 0.0


def test_ctrl_c_is_the_ordinary_end_of_a_run_without_one(call, robot_file):
    code, out, _ = call("run", robot_file, "--bridge", "ctrl_c", "--rtf", "1000")
    assert code == 0
    assert "50 steps" in out
    assert "interrupted" not in out


def test_a_reset_sets_back_neither_the_duration_nor_the_summary(call, robot_file, tmp_path):
    events = tmp_path / "again.yaml"
    events.write_text("events:\n  - {event: reset, at: 0.03}\n  - {event: reset, at: 0.05}\n")
    options = (robot_file, "--scenario", events, "--duration", "0.08")
    code, out, err = call("run", *options)
    assert code == 0, err
    assert "0.08 s simulated" in out
    found = json.loads(call("run", *options, "--json")[1])
    assert found["time"] == pytest.approx(0.08)
    assert f"{found['steps']} steps" in out


def test_a_scenario_of_pliant_is_run_by_its_name(call):
    found = json.loads(call("run", "qbmove-1dof", "--scenario", "steps", "--duration", "1.4", "--json")[1])
    assert found["joints"]["joint"]["equilibrium"] == pytest.approx(0.5, abs=1e-3)
    found = json.loads(call("run", "qbmove-1dof", "--duration", "1.4", "--json")[1])
    assert found["joints"]["joint"]["equilibrium"] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("command", ["run", "view"])
def test_a_scenario_that_does_not_exist_is_refused_with_those_that_fit_the_robot(call, command):
    code, _, err = call(command, "qbmove-1dof", "--scenario", "stes")
    assert code == 1
    assert "did you mean 'steps'? must be one of push, steps (those that fit this robot)" in " ".join(err.split())


def test_an_interruption_after_a_reset_counts_all_that_was_simulated(call, robot_file, tmp_path):
    events = tmp_path / "again.yaml"
    events.write_text("events:\n  - {event: reset, at: 0.01}\n")
    code, out, _ = call(
        "run", robot_file, "--scenario", events, "--bridge", "ctrl_c", "--rtf", "1000", "--duration", "60"
    )
    assert code == 130
    assert "50 steps, 0.05 s simulated" in out
    assert "interrupted at 0.05 of 60 s" in out


def test_ctrl_c_ends_a_wait_for_a_client_that_never_came(call, robot_file, monkeypatch, tmp_path):
    monkeypatch.setattr(simulating, "GRACE", 0.05)
    record = tmp_path / "run.mcap"
    code, out, err = call("run", robot_file, "--bridge", "stuck", "--duration", "10", "--record", record)
    assert code == 130, err
    assert "20 steps" in out
    assert "interrupted" in out
    assert read_recording(record).complete


def test_a_second_ctrl_c_does_not_wait(monkeypatch):
    class Simulation:
        stopped = 0

        def stop(self):
            self.stopped += 1

    simulation = Simulation()
    with contextlib.suppress(KeyboardInterrupt), simulating._Interrupt(simulation) as interrupt:
        signal.raise_signal(signal.SIGINT)
        assert interrupt.pressed
        assert simulation.stopped == 1
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert simulation.stopped == 1


# -- recordings ------------------------------------------------------------------------------------------------


def test_a_run_that_never_began_leaves_the_old_recording_alone(call, robot_file, tmp_path):
    file = tmp_path / "run.mcap"
    assert call("run", robot_file, "--duration", "0.05", "--record", file)[0] == 0
    before = file.read_bytes()
    record = ("--record", file, "--overwrite")
    assert call("run", robot_file, "--bridge", "failing", *record)[0] == 1
    assert call("run", robot_file, "-r", "elbow/nothing=1", *record)[0] == 1
    assert call("run", robot_file, "--command", tmp_path / "none.csv", *record)[0] == 1
    assert call("run", robot_file, "--bridge", "nothing", *record)[0] == 1
    assert file.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir() if "mcap" in p.name] == ["run.mcap"]
    assert call("run", robot_file, "--duration", "0.1", *record)[0] == 0
    assert file.read_bytes() != before


def test_equal_runs_record_the_same_bytes_whatever_they_write_and_print(call, robot_file, tmp_path, monkeypatch):
    files = [tmp_path / "a.mcap", tmp_path / "b.mcap"]
    files[1].write_text("an old file")
    more = (("--record", files[0]), ("--record", files[1], "--overwrite", "--json"))
    for options in more:
        words = ["run", robot_file, "--duration", "0.02", *map(str, options)]
        monkeypatch.setattr("sys.argv", ["pliant", *words])
        assert call(*words)[0] == 0
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_simulation_that_cannot_be_made_leaves_no_recorder_behind(call, robot_file, tmp_path, monkeypatch):
    file = tmp_path / "run.mcap"
    assert call("run", robot_file, "--duration", "0.05", "--record", file)[0] == 0
    before = file.read_bytes()

    def attach(self, engine):
        raise DeviceError("this device fits no engine")

    monkeypatch.setattr("pliant.devices.base.DeviceBase.attach", attach)
    for options in (("--record", file, "--overwrite"), ("--plot", tmp_path / "a.png")):
        code, _, err = call("run", robot_file, *options)
        assert code == 1
        assert "fits no engine" in err
    assert file.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir() if "mcap" in p.name] == ["run.mcap"]


def test_a_figure_that_cannot_be_drawn_throws_no_result_away(call, robot_file, tmp_path, monkeypatch):
    def fail(*_):
        raise PliantError("the figure cannot be written")

    monkeypatch.setattr("pliant.plots.figure.plot_recording", fail)
    common = ("run", robot_file, "--duration", "0.05", "--plot", tmp_path / "a.png")
    code, out, err = call(*common)
    assert code == 1
    assert "50 steps" in out
    assert "plot:" not in out
    assert "the figure cannot be written" in err
    code, out, _ = call(*common, "--json")
    assert code == 1
    found = json.loads(out)
    assert found["plot"] is None
    assert "cannot be written" in found["fault"]


# -- what is said ----------------------------------------------------------------------------------------------


def test_what_a_bridge_refuses_is_shown(call, robot_file):
    code, _, err = call("run", robot_file, "--bridge", "refusing", "--rtf", "1000", "--duration", "0.05")
    assert code == 0
    assert "warning: wire: /elbow/reference_1: nan is not finite" in err


def test_what_a_library_prints_does_not_stand_in_the_json(call, robot_file):
    code, out, err = call("run", robot_file, "--bridge", "chatty", "--rtf", "1000", "--duration", "0.05", "--json")
    assert code == 0
    assert json.loads(out)["steps"] == 50
    assert "the page reloads" in err


@pytest.mark.parametrize("columns", ["60", "80", "200"])
def test_the_table_of_what_is_served_cuts_no_name(call, robot_file, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    code, out, _ = call("run", robot_file, "--bridge", "plain", "--rtf", "1000", "--duration", "0.05")
    assert code == 0
    (row,) = [line for line in out.splitlines() if LONG in line]
    for word in ("sensor_msgs/JointState", "out", "50", "/a_listener_with_a_name_of_its_own, /another_one"):
        assert word in row
    assert "\u2026" not in out
    assert "1 more topics without messages and peers" in out


# -- real time -------------------------------------------------------------------------------------------------


def test_realtime_is_asked_for_while_the_loop_runs(call, robot_file, monkeypatch):
    seen = []

    @contextlib.contextmanager
    def asked():
        seen.append("begin")
        yield
        seen.append("end")

    monkeypatch.setattr(room, "realtime", asked)
    assert call("run", robot_file, "--rtf", "1000", "--duration", "0.02", "--realtime")[0] == 0
    assert seen == ["begin", "end"]


def test_a_refusal_of_real_time_says_what_to_do(call, robot_file, monkeypatch):
    class System:
        SCHED_FIFO, SCHED_RESET_ON_FORK = 1, 0x40000000
        sched_getscheduler = sched_getparam = sched_param = staticmethod(lambda *_: 0)

        @staticmethod
        def sched_setscheduler(*_):
            raise PermissionError(1, "Operation not permitted")

    refused = room.realtime
    monkeypatch.setattr(room, "realtime", lambda: refused(system=System))
    code, _, err = call("run", robot_file, "--rtf", "1000", "--duration", "0.02", "--realtime")
    assert code == 1
    assert "SCHED_FIFO" in err
    assert "rtprio" in err


# -- options that do not go together ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--overwrite",), ("--overwrite has no effect without --record",)),
        (("--view-port", "8081"), ("--view-port has no effect without --view",)),
        (("--view", "--view-port", "70000"), ("70000", "65535")),
        (("--sync-timeout", "1"), ("--sync-timeout has no effect without a --bridge in lock-step",)),
        (("--on-timeout", "hold"), ("--on-timeout has no effect",)),
        (("--bridge", "plain", "--on-timeout", "hold"), ("--on-timeout has no effect",)),
        (("--bridge", "own", "--sync-timeout", "1"), ("own:patience=",)),
        (("--bridge", "mute", "--on-timeout", "hlt"), ("did you mean 'halt'",)),
        (("--bridge", "mute", "--sync-timeout", "0"), ("--sync-timeout is 0", "> 0")),
        (("--bridge", "mute", "--sync-timeout", "nan"), ("--sync-timeout is nan",)),
        (("--bridge", "mute", "--rtf", "1"), ("--rtf cannot be used with",)),
        (("--realtime",), ("--realtime has no effect without --rtf, --bridge or --view",)),
        (("--rtf", "0"), ("--rtf is 0",)),
        (("--rtf", "inf"), ("--rtf is inf",)),
        (("--duration", "-1"), ("--duration is -1",)),
        (("--duration", "nan"), ("--duration is nan",)),
        (("--duration", "1e300"), ("--duration is 1e+300", "1e+09 [s]")),
        (("--plot", "a.gif"), (".gif", ".png")),
        (("--plot", "no/such/folder/a.png"), ("does not exist", "no/such/folder")),
    ],
)
@pytest.mark.parametrize("source", ["bench", "2PR"])
def test_options_that_do_nothing_or_are_wrong_are_refused_before_anything_runs(
    call, robot_file, source, options, words
):
    code, _, err = call("run", robot_file if source == "bench" else source, *options)
    assert code == 1
    for word in words:
        assert word in err, err


# -- parallel robots -------------------------------------------------------------------------------------------

MODEL = ("run", "2PR", "--set", "robot.segments=4", "--set", "robot.damping=0.05")


def test_a_parallel_robot_is_served_recorded_and_drawn_as_any_other(call, tmp_path):
    record, plot = tmp_path / "run.mcap", tmp_path / "run.png"
    code, out, err = call(
        *MODEL, "--bridge", "plain", "--rtf", "100", "--duration", "0.1", "--record", record, "--plot", plot
    )
    assert code == 0, err
    assert LONG in out
    assert plot.read_bytes().startswith(b"\x89PNG")
    recording = read_recording(record)
    assert recording["cpr/joint_values"].shape == (100, 2)
    assert recording["cpr/pose"].shape == (100, 3)


def test_time_outs_hold_for_parallel_robots_too(call):
    code, out, err = call(
        *MODEL, "--bridge", "mute", "--sync-timeout", "0.01", "--on-timeout", "halt", "--duration", "1", "--json"
    )
    assert code == 0, err
    found = json.loads(out)
    assert found["steps"] == 11
    assert found["halted"].startswith("mute")
    assert found["source"] == "2PR"
