"""Devices: mailbox, requests, delay lines, noise, watchdog, period."""

import math
import threading

import numpy as np
import pytest
from fake_engine import Board, SpringJoint, SpringMassEngine
from hypothesis import given
from hypothesis import strategies as st

from pliant.base.errors import DeviceError
from pliant.devices import Device, DeviceBase, FieldInfo, Mailbox, Noise
from pliant.devices.base import step_ns, to_ns

pytestmark = pytest.mark.quick

MS = 1_000_000
FINITE = st.floats(min_value=-10.0, max_value=10.0)


def attached(device, engine=None, seed=0):
    engine = engine or SpringMassEngine(3)
    device.attach(engine)
    device.reset(np.random.default_rng(seed))
    return engine


def mailbox():
    shared = FieldInfo((), "N m")
    return Mailbox(
        "elbow",
        {
            "position": {"reference": FieldInfo((), "rad", low=-1.0, high=1.0), "external_torque": shared},
            "array": {"references": FieldInfo((3,), "rad"), "external_torque": shared},
        },
    )


# ---------------------------------------------------------------------------- mailbox
def test_the_newest_command_wins_and_is_taken_once():
    box = mailbox()
    for value in (0.1, 0.2, 0.3):
        box.put({"reference": value}, mode="position")
    command = box.take()
    assert command.values["reference"] == 0.3
    assert command.seq == 2
    assert box.take() is None
    assert box.peek() is command


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 2, 2)])
def test_a_wrong_number_is_named_by_its_place_in_arrays_of_any_dimension(shape):
    box = Mailbox("hand", {"all": {"tensions": FieldInfo(shape, "N", low=0.0)}})
    for wrong in (math.nan, -1.0):
        values = np.ones(shape)
        values[(1, *(1,) * (len(shape) - 1))] = wrong
        place = ", ".join("1" for _ in shape)
        with pytest.raises(DeviceError, match=rf"'tensions' has {wrong} at index {place}; must be an array"):
            box.put({"tensions": values})


def test_two_clients_that_send_one_field_each_do_not_erase_each_other():
    box = mailbox()
    box.put({"reference": 0.4}, mode="position")
    box.put({"external_torque": 2.0}, mode="position")
    assert dict(box.take().values) == {"reference": 0.4, "external_torque": 2.0}


def test_a_field_that_two_modes_share_keeps_its_value_through_the_switch():
    box = mailbox()
    box.put({"external_torque": 2.0}, mode="position")
    assert box.put({"references": [0, 0, 0]}, mode="array").values["external_torque"] == 2.0
    box.put({"external_torque": 0.0}, mode="array")
    assert box.put({"reference": 0.1}, mode="position").values["external_torque"] == 0.0


def test_a_command_cannot_be_changed_after_it_was_put():
    box = mailbox()
    mine = np.ones(3)
    command = box.put({"references": mine}, mode="array")
    mine[:] = 7.0
    assert command.values["references"].tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="read-only"):
        command.values["references"][0] = 2.0
    with pytest.raises(TypeError):
        command.values["references"] = mine
    with pytest.raises(AttributeError):
        command.seq = 4


@pytest.mark.parametrize(
    ("values", "mode", "message", "field"),
    [
        ({"reference": math.nan}, "position", r"elbow: field 'reference' is nan; must be a finite number \[rad\]", 0),
        ({"reference": math.inf}, "position", "field 'reference' is inf", 0),
        ({"reference": 1.5}, "position", "1.5; must be .* from -1 to 1", 0),
        ({"reference": "0.3"}, "position", "'0.3'; must be a finite number", 0),
        ({"reference": True}, "position", "True; must be a finite number", 0),
        ({"reference": None}, "position", "None; must be a finite number", 0),
        ({"reference": [1, 2]}, "position", "must be a finite number", 0),
        ({"references": [1.0, 2.0]}, "array", r"shape \(2,\); must be an array of 3 finite numbers \[rad\]", 0),
        ({"references": 1.0}, "array", r"shape \(\); must be an array of 3", 0),
        ({"references": [1.0, math.nan, 2.0]}, "array", "has nan at index 1", 0),
        ({"references": ["a", "b", "c"]}, "array", "must be an array of 3", 0),
        ({"refrence": 1.0}, "position", "has no command field 'refrence'; did you mean 'reference'", "refrence"),
        ({"reference": 1.0}, "positions", "no command mode 'positions'; did you mean 'position'", "mode"),
        ({"reference": 1.0}, None, "takes several command modes", "mode"),
    ],
)
def test_a_wrong_command_is_refused_with_field_and_what_is_valid(values, mode, message, field):
    box = mailbox()
    with pytest.raises(DeviceError, match=message) as caught:
        box.put(values, mode=mode)
    assert caught.value.field == (field or next(iter(values)))
    assert box.take() is None


def test_a_wrong_field_leaves_the_others_of_the_same_put_out():
    box = mailbox()
    with pytest.raises(DeviceError):
        box.put({"external_torque": 1.0, "reference": math.nan}, mode="position")
    assert "external_torque" not in box.put({"reference": 0.5}, mode="position").values


def test_a_command_of_a_mode_that_is_not_active_is_refused():
    box = mailbox()
    box.accept(["position"])
    assert box.put({"reference": 0.5}).mode == "position"
    with pytest.raises(DeviceError, match="mode 'array' came while the device takes 'position'"):
        box.put({"references": [1, 2, 3]}, mode="array")
    with pytest.raises(DeviceError, match="no command mode 'arrays'; did you mean 'array'"):
        box.accept(["arrays"])
    with pytest.raises(DeviceError, match="takes no commands"):
        Mailbox("imu", {}).put({})


def test_a_waiter_wakes_when_the_answer_to_its_sample_comes():
    box = mailbox()
    assert not box.wait_for(3, timeout=0.0)
    results = []
    waiter = threading.Thread(target=lambda: results.append(box.wait_for(3, timeout=10.0)), name="waiter")
    waiter.start()
    box.put({"reference": 0.1}, mode="position", seq=2)
    box.put({"reference": 0.2}, mode="position", seq=3)
    waiter.join(10.0)
    assert results == [True]
    box.clear()
    assert not box.wait_for(0, timeout=0.0)


def test_puts_from_many_threads_lose_no_field():
    fields = {f"f{i}": FieldInfo() for i in range(8)}
    box = Mailbox("hand", {"all": fields})

    def put(name):
        for value in range(200):
            box.put({name: float(value)})

    threads = [threading.Thread(target=put, args=(name,), name=name) for name in fields]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert dict(box.take().values) == dict.fromkeys(fields, 199.0)


@given(st.lists(st.tuples(st.sampled_from(["reference", "external_torque"]), st.floats(-1, 1)), max_size=20))
def test_the_mailbox_holds_the_last_value_of_every_field(puts):
    box = mailbox()
    expected = {}
    for name, value in puts:
        box.put({name: value}, mode="position")
        expected[name] = value
    command = box.take()
    assert (dict(command.values) if command else {}) == expected


# ---------------------------------------------------------------------------- period and time
def test_a_device_without_a_period_runs_every_step():
    device = SpringJoint()
    attached(device)
    assert device.period_ns == MS
    assert isinstance(device, Device)


def test_a_period_that_is_no_multiple_of_the_step_names_both_and_the_nearest():
    with pytest.raises(
        DeviceError, match=r"0\.0025 s, no whole multiple .* 0\.001 s; nearest valid: 0\.002 s or 0\.003"
    ):
        SpringJoint(period=0.0025).attach(SpringMassEngine())
    with pytest.raises(DeviceError, match=r"nearest valid: 0\.001 s"):
        SpringJoint(period=0.0005).attach(SpringMassEngine())


@pytest.mark.parametrize("dt", [0.0, -0.001, math.nan, 1e-3 / 3])
def test_a_step_that_is_no_whole_number_of_nanoseconds_is_refused(dt):
    engine = SpringMassEngine()
    engine.dt = dt
    with pytest.raises(DeviceError, match="whole number of nanoseconds"):
        step_ns(engine)


@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf, "1", None])
def test_a_duration_must_be_a_finite_number(value):
    with pytest.raises(DeviceError, match="elbow: latency is"):
        to_ns(value, "elbow: latency")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"period": 0.0}, "period is 0.0 s"),
        ({"latency": -0.1}, "latency is -0.1"),
        ({"stamp": "arival"}, "did you mean 'arrival'"),
        ({"noise": {"postion": Noise(std=1.0)}}, "noise is given for 'postion'.* did you mean 'position'"),
        ({"name": 3}, "the name of a device is 3"),
    ],
)
def test_a_wrong_option_is_refused_at_construction(options, message):
    with pytest.raises(DeviceError, match=message):
        SpringJoint(**options)


@pytest.mark.parametrize("values", [{"std": -1.0}, {"bias": math.nan}, {"resolution": "1"}])
def test_noise_must_be_finite_and_not_negative(values):
    with pytest.raises(DeviceError, match="must be a finite number >= 0"):
        Noise(**values)


# ---------------------------------------------------------------------------- samples
def test_a_sample_has_the_declared_fields_and_cannot_be_changed():
    device = Board(3)
    engine = attached(device)
    sample = device.read(0)
    assert list(sample.values) == list(device.samples)
    assert (sample.device, sample.seq, sample.stamp_ns) == ("board", 0, 0)
    engine._values["position"][:] = 5.0
    assert sample.values["position"].tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="read-only"):
        sample.values["position"][0] = 1.0
    with pytest.raises(TypeError):
        sample.values["position"] = 1.0
    assert device.read(MS).seq == 1


def test_a_device_that_measures_other_fields_than_it_declares_is_caught():
    class Liar(DeviceBase):
        def __init__(self, values):
            super().__init__("liar", samples={"a": FieldInfo(), "b": FieldInfo((2,))})
            self.values = values

        def _measure(self):
            return self.values

    for values, message in (
        ({"a": 1.0}, r"gave the fields \['a'\]; declared are \['a', 'b'\]"),
        ({"a": 1.0, "b": np.zeros(3)}, r"'b' with shape \(3,\); declared is \(2,\)"),
    ):
        device = Liar(values)
        attached(device)
        with pytest.raises(DeviceError, match=message):
            device.read(0)


def ramp(device, engine, steps):
    """Run the device while the joint moves by 1 rad a step; return its samples."""
    samples = []
    for step in range(steps):
        engine.port("joint_0/position")[0] = float(step)
        samples.append(device.read(step * MS))
    return samples


def test_latency_delays_the_values_and_gives_the_first_until_it_has_aged():
    device = SpringJoint(latency=0.003)
    samples = ramp(device, attached(device), 8)
    assert [s.values["position"] for s in samples] == [0, 0, 0, 0, 1, 2, 3, 4]
    assert [s.stamp_ns for s in samples] == [i * MS for i in range(8)]
    assert [s.seq for s in samples] == list(range(8))


def test_the_stamp_may_be_that_of_the_measurement():
    device = SpringJoint(latency=0.003, stamp="measurement")
    samples = ramp(device, attached(device), 8)
    assert [s.stamp_ns // MS for s in samples] == [s.values["position"] for s in samples]


def test_a_latency_between_two_periods_gives_the_newest_sample_that_is_old_enough():
    device = SpringJoint(latency=0.0015)
    samples = ramp(device, attached(device), 6)
    assert [s.values["position"] for s in samples] == [0, 0, 0, 1, 2, 3]


def test_the_delay_line_does_not_grow():
    device = SpringJoint(latency=0.005)
    ramp(device, attached(device), 100)
    assert len(device._line) <= 6


def test_noise_has_the_stated_moments_and_repeats_with_the_seed():
    noise = {"position": Noise(std=0.1, bias=1.0), "velocity": Noise(resolution=0.25)}
    device = SpringJoint(noise=noise)
    engine = attached(device, seed=5)
    engine.port("joint_0/velocity")[0] = 0.4
    first = np.array([device.read(i).values["position"] for i in range(4000)])
    bias = np.random.default_rng(5).normal(0.0, 1.0)
    assert first.mean() == pytest.approx(bias, abs=5 * 0.1 / math.sqrt(4000))
    assert first.std() == pytest.approx(0.1, rel=0.06)
    assert device.read(0).values["velocity"] == 0.5
    assert device.read(0).values["reference"] == 0.0
    device.reset(np.random.default_rng(5))
    assert [device.read(i).values["position"] for i in range(4000)] == first.tolist()


def test_noise_on_an_array_is_drawn_for_each_element():
    device = Board(3, noise={"position": Noise(std=0.1, bias=0.5)})
    attached(device)
    values = device.read(0).values["position"]
    assert len(set(values.tolist())) == 3
    assert not values.flags.writeable


def test_noise_may_differ_between_the_elements_of_an_array():
    noise = Noise(mean=(1.0, 0.0, 0.0), std=(0.0, 0.5, 0.0), resolution=(0.0, 0.0, 0.25))
    device = Board(3, noise={"position": noise})
    engine = attached(device)
    for joint in range(3):
        engine.port(f"joint_{joint}/position")[0] = 0.4
    values = np.array([device.read(i).values["position"] for i in range(400)])
    np.testing.assert_array_equal(values[:, 0], 1.4)
    assert 0.4 < values[:, 1].std() < 0.6
    np.testing.assert_array_equal(values[:, 2], 0.5)
    with pytest.raises(DeviceError, match=r"noise std has 2 numbers; must be a number, or 3 of them"):
        Board(3, noise={"position": Noise(std=(0.1, 0.2))})


# ---------------------------------------------------------------------------- commands
def test_the_firmware_latches_the_mailbox():
    device = SpringJoint()
    engine = attached(device)
    device.inbox.put({"reference": 0.5})
    assert engine.port("joint_0/reference")[0] == 0.0
    device.write()
    assert engine.port("joint_0/reference")[0] == 0.5


def test_a_command_reaches_the_firmware_after_the_command_latency():
    device = SpringJoint(command_latency=0.002)
    engine = attached(device)
    seen = []
    for step in range(6):
        if step in (0, 1):
            device.inbox.put({"reference": 0.1 * (step + 1)})
        device.write()
        seen.append(engine.port("joint_0/reference").item())
        engine.step()
    assert seen == [0.0, 0.0, 0.1, 0.2, 0.2, 0.2]


def test_a_command_of_a_mode_that_was_left_meanwhile_is_dropped_and_counted():
    device = SpringJoint()
    engine = attached(device)
    device.inbox.put({"reference": 0.5})
    device.request("set_mode", mode="torque")
    device.serve()
    device.write()
    assert engine.port("joint_0/reference")[0] == 0.0
    assert device.health()["stale_commands"] == 1


def test_the_watchdog_trips_once_after_the_silence_and_a_command_ends_it():
    device = SpringJoint(watchdog=0.003)
    engine = attached(device)
    tripped = []
    for step in range(20):
        if step in (2, 12):
            device.inbox.put({"reference": 0.5})
        device.write()
        tripped.append(device.health()["watchdog_tripped"])
        engine.step()
    assert tripped.index(True) == 6  # the command came at 2 ms; 3 ms of silence are allowed
    assert tripped[12:16] == [False] * 4
    assert tripped[16]
    assert device.trips == device.health()["watchdog_trips"] == 2


def test_a_reset_forgets_commands_delays_and_counts():
    device = SpringJoint(latency=0.002, watchdog=0.001)
    engine = attached(device)
    device.inbox.put({"reference": 0.5})
    device.write()
    ramp(device, engine, 5)
    engine.reset()
    device.reset(np.random.default_rng(0))
    device.write()
    assert engine.port("joint_0/reference")[0] == 0.0
    sample = device.read(0)
    assert (sample.seq, sample.values["position"]) == (0, 0.0)
    assert device.health()["commands"] == 0


# ---------------------------------------------------------------------------- requests
def test_a_request_runs_in_the_loop_and_its_result_comes_back():
    device = SpringJoint()
    attached(device)
    future = device.request("set_gains", k=50.0)
    assert not future.done()
    device.serve()
    assert future.done()
    assert device.k == 50.0


def test_a_request_that_fails_gives_its_error_to_the_asker_and_is_counted():
    device = SpringJoint()
    attached(device)
    future = device.request("set_gains", k=-1.0)
    device.serve()
    with pytest.raises(ValueError, match="above 0"):
        future.result(0)
    assert device.health()["failed_requests"] == 1
    assert "above 0" in device.health()["last_error"]


def test_an_unknown_request_or_argument_is_refused_at_once():
    device = SpringJoint()
    with pytest.raises(DeviceError, match="no request 'set_mod'; did you mean 'set_mode'"):
        device.request("set_mod")
    with pytest.raises(DeviceError, match=r"unexpected keyword argument 'gain'; call it as set_gains\(k: 'float'\)"):
        device.request("set_gains", k=1.0, gain=1.0)
    assert set(device.requests) == {"set_gains", "set_mode"}


def test_a_cancelled_request_does_not_run():
    device = SpringJoint()
    attached(device)
    before = device.k
    device.request("set_gains", k=1.0).cancel()
    device.serve()
    assert device.k == before


@pytest.mark.parametrize(("unit", "message"), [("deg", "must be SI and radians: 'rad'"), ("N·m", "is not known")])
@pytest.mark.parametrize("where", ["samples", "commands"])
def test_a_field_with_a_wrong_unit_is_refused_when_the_device_is_made(where, unit, message):
    fields = {"angle": FieldInfo(unit=unit)}
    kinds = {"samples": {"samples": fields}, "commands": {"samples": {}, "commands": {"angles": fields}}}
    with pytest.raises(DeviceError, match=f"dial: the unit of the field 'angle' is '{unit}'.*{message}"):
        DeviceBase("dial", **kinds[where])
