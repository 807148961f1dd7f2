"""The measured columns of a run."""

import numpy as np
import pytest

from pliant.base.errors import PliantError
from pliant.engine import MujocoEngine
from pliant.experiments.runs import drive
from pliant.experiments.trace import Recorder, Trace, Traced
from pliant.robots import build_robot


@pytest.fixture
def trace():
    recorder = Recorder(time="s", q=("rad", 2), state="")
    q = np.zeros(2)
    for k in range(4):
        q += (1.0, -1.0)
        recorder.add(0.1 * k, q, state=float(k))
    return recorder.trace()


def test_columns_are_items_and_attributes_with_units_and_shapes(trace):
    assert list(trace) == ["time", "q", "state"]
    assert trace.rows == 4
    assert trace.columns["q"].unit == "rad"
    assert trace.columns["q"].shape == (2,)
    np.testing.assert_array_equal(trace.q, trace["q"])
    np.testing.assert_array_equal(trace.q[:, 0], [1.0, 2.0, 3.0, 4.0])  # rows are copies


def test_rows_are_chosen_by_slices_and_masks(trace):
    assert trace[1:3].q[:, 1].tolist() == [-2.0, -3.0]
    assert trace[trace.time > 0.15].rows == 2
    assert trace[-2:].columns == trace.columns


def test_a_column_that_does_not_exist_is_named_with_the_nearest(trace):
    with pytest.raises(PliantError, match=r"no column 'tim'.*time"):
        trace["tim"]
    with pytest.raises(AttributeError, match="no column 'qq'"):
        _ = trace.qq


def test_columns_must_have_equally_many_rows():
    with pytest.raises(PliantError, match="different numbers of rows"):
        Trace({"time": [0.0, 1.0], "q": [0.0]})


def test_a_recorder_without_rows_gives_columns_of_its_shapes():
    trace = Recorder(time="s", X=("", (4, 4))).trace()
    assert trace.time.shape == (0,)
    assert trace.X.shape == (0, 4, 4)


def test_a_row_with_too_few_values_is_refused():
    with pytest.raises(ValueError, match="zip"):
        Recorder(time="s", q="rad").add(0.0)


def test_arrays_have_units_in_their_names(trace):
    assert list(trace.arrays(prefix="soft_")) == ["soft_time_s", "soft_q_rad", "soft_state"]
    assert list(trace.arrays("q")) == ["q_rad"]


def test_a_trace_is_extended_by_columns(trace):
    longer = trace.extended({"speed": "rad/s"}, speed=np.gradient(trace.q[:, 0], trace.time))
    assert longer.columns["speed"].unit == "rad/s"
    assert longer.columns["time"].unit == "s"
    np.testing.assert_allclose(longer.speed, 10.0)


def test_a_run_has_the_columns_of_its_trace(trace):
    class Run(Traced):
        def __init__(self):
            self.trace = trace

    run = Run()
    np.testing.assert_array_equal(run.q, trace.q)
    with pytest.raises(AttributeError):
        _ = run.force


def test_a_driven_engine_gives_units_of_its_ports_and_values_of_functions():
    engine = MujocoEngine(build_robot("sea-1dof", {"mode": 0}))
    record = {"angle": "joint/position", "both": lambda: np.array([engine.data.time, 1.0])}
    trace = drive(engine, {"joint/reference_1": 0.0}, record, 4, every=2)
    assert trace.columns["angle"].unit == "rad"
    assert trace.columns["both"].shape == (2,)
    np.testing.assert_allclose(trace.both[:, 0], trace.time)
