"""Measured traces out of bags and recordings."""

import bag_files as bags
import numpy as np
import pytest
from fake_engine import SpringJoint, SpringMassEngine

from pliant.bags import read_traces
from pliant.base.errors import RecordingError
from pliant.recording import Recorder
from pliant.simulation import Simulation

F64, STATE, CLOCK = "std_msgs/msg/Float64", "viactors_plugins/msg/StateInfo", "rosgraph_msgs/msg/Clock"
JOINT_STATE = "sensor_msgs/msg/JointState"
MS = 1_000_000


def toolbox(store):
    """What the toolbox publishes of one joint: states without stamps, each topic at moments of its own."""
    for k in range(50):
        at = k * 20 * MS
        t = k * 0.02
        yield "/clock", CLOCK, at, bags.clock(store, 7_000 * MS + k * 10 * MS)  # half of real time
        yield "/arm/elbow/link_state", STATE, at, bags.state(store, t, 1.0, 0.5, 0.1, -2 * t, 3.0)
        yield (
            "/arm/elbow/motor_1_state",
            JOINT_STATE,
            at + 5 * MS,
            bags.joint_state(store, 0, [], [2 * (t + 0.005)], [0], [0]),
        )
        yield "/arm/wrist/link_state", STATE, at, bags.state(store, -t, 1.0, 0.5, 0.1, 2 * t, 3.0)
    yield "/arm/elbow/external_torque", F64, 505 * MS, bags.number(store, 0.75)
    yield "/chatter", "std_msgs/msg/String", 505 * MS, store.types["std_msgs/msg/String"](data="hello")


@pytest.mark.parametrize("kind", ["bag", "mcap", "db3"])
def test_a_joint_of_the_toolbox_becomes_columns_at_the_times_of_its_state(kind, tmp_path):
    traces = read_traces(bags.write_any(tmp_path, toolbox, kind), "elbow")
    columns = traces.columns
    assert traces.joint == "elbow"
    # The motor's topic began 5 ms later (10 ms of log time a simulated 5 ms): the first row has none.
    assert columns["time"] == pytest.approx(np.arange(49) * 0.01, abs=1e-9)
    t = np.arange(1, 50) * 0.02
    assert columns["link_position"] == pytest.approx(t, abs=1e-6)
    assert columns["torque"] == pytest.approx(-2 * t, abs=1e-6)
    assert columns["motor_1_position"] == pytest.approx(2 * t, abs=1e-6)
    assert columns["reference_1"] == pytest.approx(np.full(49, 0.5))
    assert columns["external_torque"] == pytest.approx(np.where(t > 0.505, 0.75, 0.0))
    assert traces.topics["link_position"] == "/arm/elbow/link_state"
    assert traces.topics["motor_1_position"] == "/arm/elbow/motor_1_state"
    assert traces.unused == (
        "/arm/wrist/link_state (viactors_plugins/" + ("state_info" if kind == "bag" else "StateInfo") + ")",
        "/chatter (std_msgs/String)",
    )


def test_stamps_in_headers_are_the_time_whatever_the_log_says(tmp_path):
    def rows(store):
        rng = np.random.default_rng(1)
        for k in range(1, 40):
            late = int(rng.integers(0, 9)) * MS
            q = [0.1 * k, -0.1 * k]
            names = ["wrist", "elbow"] if k % 2 else ["elbow", "wrist"]
            yield (
                "/joint_states",
                JOINT_STATE,
                k * 10 * MS + late,
                bags.joint_state(
                    store, 5_000 * MS + k * 10 * MS, names, q if k % 2 else q[::-1], [0, 0], [1, 2] if k % 2 else [2, 1]
                ),
            )

    path = bags.write_any(tmp_path, rows, "bag")
    traces = read_traces(path, "wrist")
    assert traces.columns["time"] == pytest.approx(np.arange(39) * 0.01, abs=1e-9)
    assert traces.columns["link_position"] == pytest.approx(0.1 * np.arange(1, 40))
    assert set(traces.columns["torque"]) == {1.0}
    assert "motor_1_position" not in traces.columns


def test_the_names_of_the_qb_move_packages_are_understood(tmp_path):
    names = ["cube_motor_1_joint", "cube_motor_2_joint", "cube_shaft_joint", "cube_stiffness_preset_virtual_joint"]

    def rows(store):
        for k in range(1, 20):
            yield (
                "/cube/joint_states",
                JOINT_STATE,
                k * 10 * MS,
                bags.joint_state(
                    store, k * 10 * MS, names, [0.3, -0.2, 0.01 * k, 0.5], [0, 0, 1.0, 0], [0, 0, 0.25, 0]
                ),
            )

    traces = read_traces(bags.write_any(tmp_path, rows, "mcap"))
    assert traces.joint == "cube"
    assert traces.columns["link_position"] == pytest.approx(0.01 * np.arange(1, 20))
    assert set(traces.columns["motor_1_position"]) == {0.3}
    assert set(traces.columns["motor_2_position"]) == {-0.2}
    assert set(traces.columns["torque"]) == {0.25}


def test_values_that_are_not_finite_are_left_out(tmp_path):
    def rows(store):
        for k in range(1, 10):
            q = np.nan if k == 4 else 0.1 * k
            yield "/arm/elbow/link_state", STATE, k * 10 * MS, bags.state(store, q, 0, 0.5, np.nan, 0.25, np.nan)

    columns = read_traces(bags.write_any(tmp_path, rows, "bag")).columns
    assert len(columns["time"]) == 8
    assert "reference_2" not in columns


def test_what_gives_no_traces_is_refused_with_what_is_there(tmp_path):
    def wrong(store):
        yield "/chatter", "std_msgs/msg/String", 0, store.types["std_msgs/msg/String"](data="hello")

    def short(store):
        for k in range(3):
            yield "/arm/elbow/link_state", STATE, k * MS, bags.state(store, 0, 0, 0, 0, 0, 0)
            yield "/arm/elbow/motor_1_state", JOINT_STATE, (k + 10) * MS, bags.joint_state(store, 0, [], [0.0])

    for name, rows, joint, message in (
        ("a", toolbox, None, r"the bag has 2 joints; name one \(--device JOINT\): elbow, wrist"),
        ("b", toolbox, "elbo", "the bag has no joint 'elbo'; did you mean 'elbow'"),
        ("c", wrong, None, r"no state of a joint; .* Its topics: /chatter \(std_msgs/String\)"),
        (
            "d",
            short,
            None,
            "fewer than two times in common: /arm/elbow/link_state from 0 to 0.002 s, /arm/",
        ),
    ):
        path = bags.write_1(tmp_path / f"{name}.bag", rows)
        with pytest.raises(RecordingError, match=message):
            read_traces(path, joint)


def test_a_recording_of_pliant_gives_its_fields(tmp_path):
    path = tmp_path / "run.mcap"
    with Simulation(
        SpringMassEngine(2), [SpringJoint(0, "elbow"), SpringJoint(1, "wrist")], recorder=Recorder(path)
    ) as run:
        run.run(0.05)
    traces = read_traces(path, "wrist")
    assert traces.columns["time"] == pytest.approx(np.arange(1, 51) * 1e-3)
    assert len(traces.columns["position"]) == 50
    assert traces.unused == ("elbow",)
    with pytest.raises(RecordingError, match=r"several devices; must be one of elbow, wrist \(--device NAME\)"):
        read_traces(path)
    with pytest.raises(RecordingError, match="no device 'wirst' with a position; did you mean 'wrist'"):
        read_traces(path, "wirst")
