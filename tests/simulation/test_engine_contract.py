"""What every engine must do; every engine that `register_engine` knows is under this contract."""

import math

import engine_cases
import numpy as np
import pytest

from pliant.base.errors import DivergedError, PliantError, PortError
from pliant.engine import ENGINES, MujocoEngine, register_engine
from pliant.engine.base import Engine, PortInfo


@pytest.fixture(params=engine_cases.names())
def case(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where the guard writes
    return engine_cases.make(request.param)


def test_it_has_the_members_of_an_engine(case):
    assert isinstance(case.engine, Engine)


def test_the_clock_counts_whole_nanoseconds_from_zero(case):
    engine = case.engine
    dt_ns = round(engine.dt * 1e9)
    assert type(engine.time_ns) is int
    assert engine.time_ns == 0
    engine.step()
    assert engine.time_ns == dt_ns
    engine.step(9)
    assert engine.time_ns == 10 * dt_ns
    engine.reset()
    assert engine.time_ns == 0


def test_ports_are_live_float_arrays_of_the_declared_shape(case):
    engine = case.engine
    ports = engine.ports()
    assert {case.position, case.velocity, case.external_torque} <= set(ports)
    for name, info in ports.items():
        assert isinstance(info, PortInfo)
        view = engine.port(name)
        assert view.dtype == np.float64
        assert view.shape == info.shape
        assert isinstance(info.unit, str)
    assert ports[case.external_torque].writable


def test_a_view_stays_live_through_steps_resets_and_loads(case):
    engine = case.engine
    position = engine.port(case.position)
    torque = engine.port(case.external_torque)
    state = engine.save()
    torque[0] = 0.1
    engine.step(5)
    assert position[0] != case.start
    assert position[0] == engine.port(case.position)[0]
    engine.load(state)
    assert position[0] == pytest.approx(case.start, abs=1e-15)
    engine.reset()
    assert position[0] == pytest.approx(case.start, abs=1e-15)
    assert torque[0] == 0.0


def test_an_unknown_port_names_the_nearest(case):
    with pytest.raises(PortError, match=f"did you mean '{case.position}'"):
        case.engine.port(case.position[:-1])


def test_a_loaded_state_continues_bit_by_bit(case):
    engine = case.engine
    engine.port(case.external_torque)[0] = 0.05
    engine.step(20)
    state = engine.save()
    first = [(engine.step(), engine.time_ns, engine.port(case.position).copy()) for _ in range(20)]
    engine.load(state)
    second = [(engine.step(), engine.time_ns, engine.port(case.position).copy()) for _ in range(20)]
    for a, b in zip(first, second, strict=True):
        assert a[1] == b[1]
        assert np.array_equal(a[2], b[2])


def test_n_steps_at_once_are_n_single_steps(case):
    engine = case.engine
    engine.port(case.external_torque)[0] = 0.05
    engine.step(25)
    at_once = engine.port(case.position).copy()
    engine.reset()
    engine.port(case.external_torque)[0] = 0.05
    for _ in range(25):
        engine.step()
    assert np.array_equal(engine.port(case.position), at_once)


def test_a_mass_on_a_spring_swings_at_its_analytic_frequency(case):
    """Undamped small swing under a constant torque t: q - start = t/k (1 - cos(w time)), w = sqrt(k / inertia)."""
    engine = case.engine
    omega = math.sqrt(case.stiffness / case.inertia)
    torque = 1e-3 * case.stiffness
    engine.port(case.external_torque)[0] = torque
    steps = round(2.0 * math.pi / omega / engine.dt)
    times, positions = [], []
    for _ in range(2 * steps):
        engine.step()
        times.append(engine.time_ns * 1e-9)
        positions.append(engine.port(case.position)[0] - case.start)
    expected = torque / case.stiffness * (1.0 - np.cos(omega * np.array(times)))
    # The scheme's own error is of first order in w dt.
    assert np.abs(positions - expected).max() < torque / case.stiffness * 2.0 * omega * engine.dt


def test_a_state_that_is_not_finite_stops_the_engine_and_names_the_joint(case):
    engine = case.engine
    engine.port(case.external_torque)[0] = math.nan
    with pytest.raises(DivergedError) as caught:
        engine.step(10)
    assert caught.value.joint == case.joint
    assert caught.value.time == pytest.approx(engine.dt)


def test_an_engine_is_registered_once_by_name_and_is_then_under_this_contract():
    @register_engine("engine_of_a_test")
    def made(model):
        return MujocoEngine(model)

    try:
        assert "engine_of_a_test" in engine_cases.names()
        with pytest.raises(PliantError, match=r"'engine_of_a_test' is registered twice, at .*test_engine_contract"):
            register_engine("engine_of_a_test")(MujocoEngine)
    finally:
        del ENGINES._things["engine_of_a_test"]
