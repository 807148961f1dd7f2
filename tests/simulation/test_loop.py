"""The loop: order of a step, due devices, lock-step, requests, events, reset, ends."""

import contextlib
import itertools
import math
import threading

import numpy as np
import pytest
from fake_bridge import Recall
from fake_engine import Board, SpringJoint, SpringMassEngine

from pliant.base.errors import BridgeError, DeadThreadError, DeviceError, DivergedError, PliantError
from pliant.devices import FieldInfo, Noise
from pliant.devices.base import DeviceBase
from pliant.recording import read_recording
from pliant.simulation import Bridge, LockstepBridge, Simulation, paced
from pliant.simulation.loop import seeded

pytestmark = pytest.mark.quick

MS = 1_000_000


class Client(Recall):
    """A lock-step bridge whose client thread answers every sample of one device with a proportional command."""

    lockstep = True

    def __init__(self, device, answer=True, gain=0.5):
        super().__init__("client")
        self.device = device
        self.answer = answer
        self.gain = gain
        self.inbound = []
        self.signal = threading.Condition()
        self.ended = False
        self.open = None

    def start(self, devices):
        super().start(devices)
        self.target = devices[self.device]
        self.thread = threading.Thread(target=self._serve, name="client")
        self.thread.start()

    def publish(self, sample):
        super().publish(sample)
        if sample.device == self.device:
            self.open = sample.seq
            with self.signal:
                self.inbound.append(sample)
                self.signal.notify()

    def _serve(self):
        while True:
            with self.signal:
                self.signal.wait_for(lambda: self.inbound or self.ended)
                if self.ended:
                    return
                sample = self.inbound.pop(0)
            if self.answer:
                reference = 0.2 - self.gain * sample.values["position"]
                self.target.inbox.put({"reference": reference}, seq=sample.seq)

    def wait(self, timeout):
        return self.open is None or self.target.inbox.wait_for(self.open, timeout)

    def stop(self):
        super().stop()
        with self.signal:
            self.ended = True
            self.signal.notify()
        self.thread.join(60.0)


class Spy(DeviceBase):
    """A device that notes when it runs."""

    def __init__(self, name, log, **options):
        super().__init__(name, samples={"x": FieldInfo()}, **options)
        self.log = log

    def serve(self):
        self.log.append((self.name, "serve"))
        super().serve()

    def _connect(self, engine):
        self.engine = engine

    def _firmware(self):
        self.log.append((self.name, "write", self.engine.time_ns // MS))

    def _measure(self):
        self.log.append((self.name, "read", self.engine.time_ns // MS))
        return {"x": 1.0}


class LoggedEngine(SpringMassEngine):
    log = None

    def step(self, n=1):
        if self.log is not None:
            self.log.append(("engine", "step"))
        super().step(n)


def positions(simulation, steps, device="joint_0"):
    result = []
    for _ in range(steps):
        simulation.step()
        result.append(simulation.sample(device).values["position"])
    return result


# ---------------------------------------------------------------------------- one step
def test_one_step_keeps_its_order():
    log = []
    engine = LoggedEngine()
    bridge = Recall()
    bridge.calls = log
    simulation = Simulation(engine, [Spy("a", log), Spy("b", log)], [bridge])
    simulation.start()
    simulation.at(0.0, lambda _: log.append(("event",)))
    future = simulation.submit(lambda: log.append(("submitted",)))
    log.clear()
    engine.log = log
    simulation.step()
    assert future.done()
    order = [entry[:2] if entry[0] in ("a", "b", "engine") else entry[0] for entry in log]
    assert order == [
        "submitted",
        "event",
        ("a", "serve"),
        ("b", "serve"),
        ("a", "write"),
        ("b", "write"),
        ("engine", "step"),
        ("a", "read"),
        ("b", "read"),
        "tick",
        "publish",
        "publish",
    ]
    simulation.close()


def test_a_device_writes_and_reads_at_multiples_of_its_period():
    log = []
    simulation = Simulation(SpringMassEngine(), [Spy("slow", log, period=0.004)])
    simulation.step(9)
    times = [entry[1:] for entry in log if entry[1] != "serve"]
    assert times == [("write", 0), ("read", 4), ("write", 4), ("read", 8), ("write", 8)]


def test_what_has_nothing_to_do_is_not_called_and_no_command_or_request_is_missed(monkeypatch):
    def run():
        engine, log, rng = SpringMassEngine(3), [], np.random.default_rng(7)
        joints = [
            SpringJoint(0),
            SpringJoint(1, command_latency=0.003, period=0.002),
            SpringJoint(2, watchdog=0.005),
        ]
        devices = [Board(3), *joints, Spy("spy", log)]
        calls = dict.fromkeys((device.name for device in devices), 0)
        for device in devices:
            inner = device._delayed  # what `write` calls first

            def counted(*args, inner=inner, name=device.name):
                calls[name] += 1
                return inner(*args)

            monkeypatch.setattr(device, "_delayed", counted)
        seen = []
        with Simulation(engine, devices) as simulation:
            for _ in range(300):
                for device in devices[:4]:
                    if rng.random() < 0.1:
                        size = 3 if device is devices[0] else ()
                        field = "references" if size else "reference"
                        device.inbox.put({field: rng.uniform(-0.2, 0.2, size)}, mode="position")
                if rng.random() < 0.05:
                    joints[0].request("set_gains", k=rng.uniform(20.0, 80.0))
                simulation.step()
                seen.append(
                    np.concatenate([simulation.sample("board").values[name] for name in ("position", "effort")])
                )
            counts = {device.name: dict(device.health()) for device in devices}
        return np.array(seen).tobytes(), counts, calls, log

    lazy = run()
    monkeypatch.setattr(DeviceBase, "fed", None)
    monkeypatch.setattr(DeviceBase, "queued", None)
    eager = run()
    assert lazy[0] == eager[0]
    assert lazy[1] == eager[1]
    assert [entry for entry in lazy[3] if entry[1] != "serve"] == [e for e in eager[3] if e[1] != "serve"]
    assert lazy[1]["board"]["commands"] == lazy[2]["board"] < 60  # called for its commands only
    assert eager[2]["board"] == 300
    assert lazy[2]["joint_1"] == 150  # has commands on their way
    assert lazy[2]["joint_2"] == 300  # its watchdog looks at the time
    assert lazy[1]["joint_2"]["watchdog_trips"] > 0


def test_a_device_may_read_more_slowly_than_it_writes():
    log = []
    simulation = Simulation(SpringMassEngine(), [Spy("slow", log, period=0.002, sample_period=0.004)])
    simulation.step(6)
    times = [entry[1:] for entry in log if entry[1] != "serve"]
    assert times == [("write", 0), ("write", 2), ("read", 4), ("write", 4)]


def test_everyone_gets_the_very_same_sample(tmp_path):
    first, second = Recall("first"), Recall("second")
    joint = SpringJoint(noise={"position": Noise(std=0.1)})
    with Simulation(SpringMassEngine(), [joint], [first, second], recorder=tmp_path / "run.mcap") as simulation:
        simulation.step(3)
        latest = simulation.sample("joint_0")
    published = [[call[1] for call in bridge.calls if call[0] == "publish"] for bridge in (first, second)]
    assert all(a is b for a, b in zip(*published, strict=True))
    assert published[0][-1] is latest
    recording = read_recording(tmp_path / "run.mcap")
    assert recording["joint_0/position"].tolist() == [s.values["position"] for s in published[0]]


def test_ticks_carry_the_integer_time():
    bridge = Recall()
    with Simulation(SpringMassEngine(dt=0.0025), [], [bridge]) as simulation:
        simulation.step(3)
        assert simulation.time_ns == 7_500_000
    assert [call[1] for call in bridge.calls if call[0] == "tick"] == [2_500_000, 5_000_000, 7_500_000]


def test_the_joint_follows_its_reference_as_the_equation_says():
    """m q'' = k (r - q) from rest: q = r (1 - cos(w t)); the scheme's error is of first order in w dt."""
    simulation = Simulation(SpringMassEngine(mass=0.5, k=200.0), [SpringJoint()], pacer="free")
    simulation.at(0.0, lambda s: s.devices["joint_0"].inbox.put({"reference": 0.3}) and None)
    found = positions(simulation, 400)
    times = 1e-3 * np.arange(1, 401)
    assert np.abs(found - 0.3 * (1.0 - np.cos(20.0 * times))).max() < 0.3 * 20.0 * 1e-3


# ---------------------------------------------------------------------------- lock-step
def run_with_client(pacer):
    joint = SpringJoint(noise={"position": Noise(std=0.01)})
    client = Client("joint_0")
    with Simulation(SpringMassEngine(damping=1.0), [joint], [client], pacer=pacer, seed=4) as simulation:
        found = positions(simulation, 300)
        health = simulation.health()
    return found, client, health


def test_a_lockstep_run_is_bit_reproducible_whatever_the_client_thread_does():
    first, client, health = run_with_client("sync")
    second, _, _ = run_with_client("sync")
    assert first == second
    assert health["lockstep"]["client"]["timeouts"] == 0
    assert health["devices"]["joint_0"]["commands"] == 299  # the last answer was not latched any more
    assert not client.thread.is_alive()
    assert isinstance(client, LockstepBridge)
    assert isinstance(client, Bridge)


def test_the_answer_to_a_sample_is_latched_in_the_very_next_step():
    """Each command is 0.2 - 0.5 q of the sample before it: the reference trails the position by one step."""
    joint = SpringJoint()
    with Simulation(SpringMassEngine(damping=1.0), [joint], [Client("joint_0")]) as simulation:
        samples = []
        for _ in range(50):
            simulation.step()
            samples.append(simulation.sample("joint_0").values)
    for before, after in itertools.pairwise(samples):
        assert after["reference"] == 0.2 - 0.5 * before["position"]


def test_a_free_pacer_waits_for_nobody():
    client = Client("joint_0", answer=False)
    with Simulation(SpringMassEngine(), [SpringJoint()], [client], pacer="free", sync_timeout=60.0) as simulation:
        assert simulation.run(0.05).steps == 50
        assert simulation.health()["lockstep"]["client"]["timeouts"] == 0


class Scripted(Recall):
    """A lock-step bridge whose other side answers as it is told."""

    lockstep = True

    def __init__(self, answers):
        super().__init__("client")
        self.answers = list(answers)
        self.asked = []

    def wait(self, timeout):
        self.asked.append(timeout)
        return self.answers.pop(0)


def scripted(policy, answers):
    client = Scripted(answers)
    options = {"sync_timeout": 0.001, "on_timeout": policy}
    return client, Simulation(SpringMassEngine(), [SpringJoint()], [client], **options)


def test_hold_goes_on_with_the_last_command_and_counts():
    client, simulation = scripted("hold", [False, True, False, True, False])
    with simulation:
        assert simulation.run(0.005).halted == ""
        assert simulation.health()["lockstep"]["client"]["timeouts"] == 3
    assert client.asked == [0.001] * 5


def test_halt_ends_the_run_and_leaves_it_open():
    client, simulation = scripted("halt", [True, False, True, True])
    with simulation:
        report = simulation.run(0.005)
        assert report.steps == 2
        assert "client: no answer within 0.001 s" in report.halted
        assert simulation.halted == report.halted
        assert simulation.run(0.002).steps == 2
        assert simulation.halted == ""
        assert "stop" not in client.names()


def test_error_raises_and_closes_everything():
    client = Client("joint_0", answer=False)
    simulation = Simulation(SpringMassEngine(), [SpringJoint()], [client], sync_timeout=0.001, on_timeout="error")
    with pytest.raises(BridgeError, match=r"no answer within 0\.001 s to the samples of simulation time 0\.001 s"):
        simulation.run(0.005)
    assert client.names()[-1] == "stop"
    assert not client.thread.is_alive()
    with pytest.raises(PliantError, match="closed"):
        simulation.step()


def test_a_lockstep_bridge_without_wait_is_refused():
    bridge = Recall()
    bridge.lockstep = True
    with pytest.raises(BridgeError, match=r"no method wait\(timeout\)"):
        Simulation(SpringMassEngine(), [], [bridge])


# ---------------------------------------------------------------------------- threads of bridges that die
class Mortal(Recall):
    """A bridge with a thread that lives until it is told to die, or is stopped."""

    def __init__(self):
        super().__init__("mortal")
        self.die = threading.Event()

    def start(self, devices):
        super().start(devices)
        self.thread = self.threads.start("reader", self._read)

    def _read(self):
        self.die.wait(60.0)
        if not self.threads.closing:
            raise ZeroDivisionError("a fault of ours")

    def perish(self):
        self.die.set()
        self.thread.join(60.0)

    def stop(self):
        super().stop()
        self.perish()


class MortalLockstep(Mortal):
    """One whose client answers nothing more once the thread is dead, and whose wait has no limit."""

    lockstep = True

    def __init__(self):
        super().__init__()
        self.released = threading.Event()

    def wait(self, timeout):
        self.die.set()
        assert self.released.wait(60.0)
        return False

    def release(self):
        self.released.set()


def test_a_thread_of_a_bridge_that_dies_ends_the_run_closes_everything_and_is_named(tmp_path):
    bridge = Mortal()
    simulation = Simulation(SpringMassEngine(), [SpringJoint()], [bridge], recorder=tmp_path / "run.mcap")
    simulation.step(5)
    bridge.perish()
    with pytest.raises(DeadThreadError, match=r"mortal: the thread reader died .ZeroDivisionError: a fault") as e:
        simulation.run(1.0)
    assert (e.value.bridge, e.value.thread, e.value.why) == ("mortal", "reader", "ZeroDivisionError: a fault of ours")
    assert bridge.names()[-1] == "stop"
    assert simulation.health()["dead_threads"] == {"mortal: reader": "ZeroDivisionError: a fault of ours"}
    assert len(read_recording(tmp_path / "run.mcap")["joint_0/position"]) == 6  # also of the step in which it was seen


def test_a_dead_thread_ends_a_step_that_waits_for_it_without_limit():
    bridge = MortalLockstep()
    with (
        Simulation(SpringMassEngine(), [SpringJoint()], [bridge]) as simulation,
        pytest.raises(DeadThreadError, match="the thread reader died"),
    ):
        simulation.step()


def test_a_dead_thread_ends_a_pause():
    bridge = Mortal()
    with Simulation(SpringMassEngine(), [SpringJoint()], [bridge]) as simulation:
        simulation.start()
        simulation.pause()
        bridge.perish()
        with pytest.raises(DeadThreadError, match="the thread reader died"):
            simulation.run(1.0)


def test_by_request_the_run_goes_on_without_the_thread_and_health_names_it():
    bridge = Mortal()
    with Simulation(SpringMassEngine(), [SpringJoint()], [bridge], on_dead_thread="hold") as simulation:
        simulation.step()
        bridge.perish()
        assert simulation.run(0.01).steps == 10
        assert set(simulation.health()["dead_threads"]) == {"mortal: reader"}


def test_threads_that_end_when_the_simulation_closes_are_not_dead():
    bridge = Mortal()
    with Simulation(SpringMassEngine(), [SpringJoint()], [bridge]) as simulation:
        simulation.step()
    assert bridge.threads.dead == {}


# ---------------------------------------------------------------------------- seeds and reset
def noisy(name, seed, others=()):
    joint = SpringJoint(name=name, noise={"position": Noise(std=1.0)})
    return positions(Simulation(SpringMassEngine(2), [*others, joint], seed=seed), 20, name)


def test_noise_depends_on_the_seed_and_the_name_alone():
    assert noisy("elbow", 1) == noisy("elbow", 1)
    assert noisy("elbow", 1) != noisy("elbow", 2)
    assert noisy("elbow", 1) != noisy("wrist", 1)
    assert noisy("elbow", 1) == noisy("elbow", 1, [SpringJoint(1, noise={"position": Noise(std=1.0)})])
    assert seeded(3, "a").random() == seeded(3, "a").random()


def test_a_reset_repeats_the_run_and_a_new_seed_changes_it():
    joint = SpringJoint(noise={"position": Noise(std=0.1)}, latency=0.002)
    simulation = Simulation(SpringMassEngine(start=0.1), [joint], seed=3)
    simulation.at(0.01, lambda s: joint.inbox.put({"reference": 0.2}) and None)
    first = positions(simulation, 50)
    simulation.reset()
    assert simulation.time_ns == 0
    assert positions(simulation, 50) == first
    simulation.reset(seed=9)
    assert simulation.seed == 9
    assert positions(simulation, 50) != first


def test_a_reset_inside_a_scenario_does_not_repeat_the_scenario():
    simulation = Simulation(SpringMassEngine(), [SpringJoint()])
    seen = []
    simulation.at(0.005, lambda s: s.reset(rewind=False))
    simulation.at(0.008, lambda s: seen.append((s.time_ns, s.elapsed)))
    simulation.step(20)
    assert seen == [(3 * MS, pytest.approx(0.008))]
    assert simulation.time_ns == 15 * MS
    assert simulation.elapsed == pytest.approx(0.02)


@pytest.mark.parametrize("seed", [-1, 1.5, "x", True])
def test_a_seed_must_be_a_whole_number(seed):
    with pytest.raises(PliantError, match="must be a whole number >= 0"):
        Simulation(SpringMassEngine(), seed=seed)


# ---------------------------------------------------------------------------- events and requests
def test_events_of_one_time_run_in_the_order_given_at_the_first_step_not_before_it():
    simulation = Simulation(SpringMassEngine(), [])
    seen = []
    for name, when in (("late", 0.004), ("a", 0.0025), ("b", 0.0025), ("first", 0.0)):
        simulation.at(when, lambda s, name=name: seen.append((name, s.time_ns // MS)))
    simulation.step(10)
    assert seen == [("first", 0), ("a", 3), ("b", 3), ("late", 4)]


def test_an_event_in_the_past_is_refused():
    simulation = Simulation(SpringMassEngine(), [])
    simulation.step(5)
    with pytest.raises(PliantError, match=r"scheduled for 0\.001 s, but the run is at 0\.005 s"):
        simulation.at(0.001, lambda s: None)


def test_an_error_of_an_event_or_of_the_request_it_makes_ends_the_run():
    bridge = Recall()
    simulation = Simulation(SpringMassEngine(), [SpringJoint()], [bridge])
    simulation.at(0.002, lambda s: s.request("joint_0", "set_gains", k=-1.0))
    with pytest.raises(ValueError, match="above 0"):
        simulation.run(0.1)
    assert simulation.time_ns == 2 * MS
    assert bridge.names()[-1] == "stop"


def test_a_request_of_a_client_that_fails_does_not_end_the_run():
    simulation = Simulation(SpringMassEngine(), [SpringJoint()])
    future = simulation.request("joint_0", "set_gains", k=-1.0)
    bad = simulation.submit(lambda: 1 / 0)
    simulation.step()
    with pytest.raises(ValueError, match="above 0"):
        future.result(0)
    with pytest.raises(ZeroDivisionError):
        bad.result(0)


def test_requests_reach_devices_and_the_simulation_by_name():
    simulation = Simulation(SpringMassEngine(), [SpringJoint()])
    simulation.step(4)
    mode = simulation.request("joint_0", "set_mode", mode="torque")
    reset = simulation.request("simulation", "reset", seed=8)
    simulation.step()
    assert mode.result(0) == "torque"
    assert reset.result(0) is None
    assert (simulation.seed, simulation.time_ns) == (8, MS)
    with pytest.raises(PliantError, match="no device 'joint_1'; did you mean 'joint_0'"):
        simulation.request("joint_1", "set_mode", mode="torque")
    with pytest.raises(PliantError, match=r"no request 'restart'; .*reset"):
        simulation.request("simulation", "restart")
    with pytest.raises(PliantError, match="unexpected keyword argument 'sede'"):
        simulation.request("simulation", "reset", sede=1)


def test_pause_holds_the_run_serves_requests_and_resume_goes_on():
    joint = SpringJoint()
    simulation = Simulation(SpringMassEngine(), [joint])
    simulation.at(0.005, lambda s: s.pause())
    reports = []
    runner = threading.Thread(target=lambda: reports.append(simulation.run(0.01)), name="runner")
    runner.start()
    assert joint.request("set_gains", k=7.0).result(60.0) is None
    state = simulation.request("simulation", "health")
    while not simulation.paused:  # the event comes within six steps
        pass
    assert state.result(60.0)["closed"] is False
    assert simulation.submit(lambda: simulation.time_ns).result(60.0) == 6 * MS
    assert runner.is_alive()
    simulation.resume()
    runner.join(60.0)
    assert reports[0].steps == 10


def test_only_one_thread_at_a_time_owns_the_engine():
    simulation = Simulation(SpringMassEngine(), [])
    simulation.pause()
    runner = threading.Thread(target=simulation.run, args=(0.01,), name="runner")
    runner.start()
    simulation.submit(lambda: None).result(60.0)
    with pytest.raises(PliantError, match="another thread runs this simulation"):
        simulation.step()
    simulation.stop()
    runner.join(60.0)
    assert not runner.is_alive()
    simulation.step()


def paused_run(simulation):
    """Start a run that waits in a pause; return its thread and its faults."""
    faults = []

    def work():
        try:
            simulation.run()
        except BaseException as error:
            faults.append(error)

    simulation.pause()
    thread = threading.Thread(target=work, name="loop")
    thread.start()
    return thread, faults


def test_an_action_that_steps_and_others_beside_it_are_all_done():
    simulation = Simulation(SpringMassEngine(), [])
    held, go_on = threading.Event(), threading.Event()
    thread, faults = paused_run(simulation)
    try:
        # Both wait when the loop comes to them, so that the step runs the one behind it.
        simulation.submit(lambda: (held.set(), go_on.wait(60.0)))
        assert held.wait(60.0)
        stepped, other = simulation.submit(lambda: simulation.step(3)), simulation.submit(lambda: "done")
        go_on.set()
        assert stepped.result(60.0) is None
        assert other.result(60.0) == "done"
        assert simulation.submit(lambda: simulation.time_ns).result(60.0) == 3 * MS
    finally:
        go_on.set()
        simulation.stop()
        thread.join(60.0)
    assert faults == []


def test_stop_ends_steps_that_were_asked_for():
    simulation = Simulation(SpringMassEngine(), [])
    thread, faults = paused_run(simulation)
    simulation.at(0.005, lambda s: s.stop())
    stepped = simulation.submit(lambda: simulation.step(1_000_000))
    stepped.result(30.0)
    thread.join(60.0)
    assert not thread.is_alive()
    assert (simulation.time_ns, faults) == (6 * MS, [])


def test_stop_ends_an_endless_run():
    simulation = Simulation(SpringMassEngine(), [], pacer="free")
    simulation.at(0.25, lambda s: s.stop())
    report = simulation.run()
    assert report.steps == 251
    assert report.halted == "stopped"


def test_a_stop_while_the_bridges_start_is_not_lost():
    class Hasty(Recall):
        """Its client asks to stop before the loop runs, as somebody who chooses another robot on the page."""

        def bind(self, simulation):
            self.simulation = simulation

        def start(self, devices):
            super().start(devices)
            self.simulation.stop()

    simulation = Simulation(SpringMassEngine(), [], [Hasty()], pacer="free")
    report = simulation.run(1.0)
    assert (report.steps, report.halted) == (0, "stopped")
    assert simulation.run(0.01).steps == 10
    explicit = Simulation(SpringMassEngine(), [], [Recall()], pacer="free")
    explicit.start()
    explicit.stop()
    assert explicit.run(1.0).steps == 0
    assert explicit.run(0.01).steps == 10


def test_what_is_submitted_while_it_closes_is_refused_or_cancelled():
    for _ in range(20):
        simulation = Simulation(SpringMassEngine(), [])
        futures, begun = [], threading.Event()

        def ask(simulation=simulation, futures=futures, begun=begun):
            with contextlib.suppress(PliantError):
                while True:
                    futures.append(simulation.submit(int))
                    begun.set()

        asking = threading.Thread(target=ask, name="asking")
        asking.start()
        assert begun.wait(30.0)
        simulation.close()
        asking.join(30.0)
        assert not asking.is_alive()
        assert all(future.cancelled() for future in futures)


def test_a_step_may_not_be_asked_for_from_inside_a_step():
    simulation = Simulation(SpringMassEngine(), [])
    simulation.at(0.0, lambda s: s.step())
    with pytest.raises(PliantError, match="from inside a step"):
        simulation.run(0.01)


# ---------------------------------------------------------------------------- running and ending
def test_a_run_takes_whole_steps_and_reports():
    simulation = Simulation(SpringMassEngine(), [SpringJoint()])
    seen = []
    report = simulation.run(0.0105, progress=seen.append)
    assert report.steps == 11
    assert report.time == pytest.approx(0.011)
    assert report.achieved_rtf > 0
    assert seen[-1].done == pytest.approx(0.011)
    assert simulation.run(0.0).steps == 0
    for wrong in (-1.0, math.nan, "1"):
        with pytest.raises(DeviceError, match="duration is"):
            simulation.run(wrong)


def test_what_bridges_submit_while_the_pacer_waits_is_done_before_the_next_step():
    simulation = Simulation(SpringMassEngine(), [SpringJoint()], [Recall("a")], pacer=paced(1e-5))  # 100 s a step
    thread = threading.Thread(target=lambda: simulation.run(1.0), name="run")
    simulation.start()
    thread.start()
    try:
        while simulation.submit(lambda: simulation.time_ns).result(30.0) == 0:  # before the first step
            pass
        times = [simulation.submit(lambda: simulation.time_ns).result(30.0) for _ in range(5)]
        assert times == [MS] * 5  # the second step is due in a minute
    finally:
        simulation.stop()  # does not wait for it either
        thread.join(30.0)
        assert not thread.is_alive()
        simulation.close()


def test_a_paced_run_sleeps_by_the_clock_it_is_given():
    now = [0]

    def sleep(seconds):
        now[0] += round(seconds * 1e9)

    simulation = Simulation(SpringMassEngine(), [SpringJoint()], pacer=paced(2.0, clock=lambda: now[0], sleep=sleep))
    simulation.run(1.0)
    assert now[0] == pytest.approx(500 * MS, abs=1000)
    assert simulation.health()["pacer"].achieved_rtf == pytest.approx(2.0)


def test_divergence_closes_recorder_and_bridges_and_passes_on(tmp_path):
    bridge = Recall()
    engine = SpringMassEngine()
    simulation = Simulation(engine, [SpringJoint()], [bridge], recorder=tmp_path / "run.mcap")
    simulation.run(0.05)

    def poison(_):
        engine._values["velocity"][0] = math.inf

    simulation.at(0.08, poison)
    with pytest.raises(DivergedError) as caught:
        simulation.run(1.0)
    assert caught.value.joint == "joint_0"
    assert bridge.names()[-1] == "stop"
    recording = read_recording(tmp_path / "run.mcap")
    assert recording.complete
    assert len(recording["joint_0/time"]) == 80


@pytest.mark.parametrize("fault", [BridgeError("lost"), KeyboardInterrupt(), SystemExit(3)])
def test_every_way_out_stops_the_bridges_and_closes_the_recording(fault, tmp_path):
    bridges = [Recall("a"), Recall("b", fail="stop"), Recall("c")]
    simulation = Simulation(SpringMassEngine(), [SpringJoint()], bridges, recorder=tmp_path / "run.mcap")

    def fail(_):
        raise fault

    simulation.at(0.01, fail)
    with pytest.raises(type(fault)) as caught:
        simulation.run(1.0)
    assert caught.value is fault
    assert "while closing: b: stop failed" in fault.__notes__
    assert all(bridge.names()[-1] == "stop" for bridge in bridges)
    assert len(read_recording(tmp_path / "run.mcap")["joint_0/time"]) == 10


@pytest.mark.parametrize("where", ["start", "tick", "publish"])
def test_a_fault_of_a_bridge_ends_the_run_and_stops_the_others(where):
    good, bad, never = Recall("good"), Recall("bad", fail=where), Recall("never")
    simulation = Simulation(SpringMassEngine(), [SpringJoint()], [good, bad, never])
    with pytest.raises(BridgeError, match=f"bad: {where} failed"):
        simulation.run(1.0)
    assert good.names()[-1] == bad.names()[-1] == "stop"
    assert never.names() == ([] if where == "start" else [*never.names()[:-1], "stop"])


def test_close_stops_all_and_then_raises_the_first_fault():
    bridges = [Recall("a", fail="stop"), Recall("b")]
    simulation = Simulation(SpringMassEngine(), [], bridges)
    simulation.step()
    with pytest.raises(BridgeError, match="a: stop failed"):
        simulation.close()
    assert bridges[1].names()[-1] == "stop"
    simulation.close()
    for call in (simulation.step, simulation.reset, lambda: simulation.submit(print)):
        with pytest.raises(PliantError, match="closed"):
            call()


def test_bridges_of_one_kind_get_names_that_differ():
    bridges = [Recall(), Recall(), Recall()]
    simulation = Simulation(SpringMassEngine(), [], bridges)
    assert list(simulation.bridges) == ["recall", "recall_2", "recall_3"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_timeout": "wait"}, "on_timeout is 'wait'; .*must be one of error, halt, hold"),
        ({"sync_timeout": 0.0}, "sync_timeout is 0.0"),
        ({"sync_timeout": math.nan}, "sync_timeout is nan"),
        ({"sync_timeout": None}, "sync_timeout is None"),
        ({"devices": [SpringJoint(), SpringJoint()]}, "two devices have the name 'joint_0'"),
        ({"devices": [SpringJoint(period=0.0015)]}, "no whole multiple"),
    ],
)
def test_a_wrong_option_is_refused(options, message):
    with pytest.raises(PliantError, match=message):
        Simulation(SpringMassEngine(), **options)


@pytest.mark.parametrize("n", [2.5, -1, "3"])
def test_a_wrong_number_of_steps_is_refused_and_the_simulation_continues(n):
    simulation = Simulation(SpringMassEngine(), [SpringJoint()])
    with pytest.raises(PliantError, match=r"step: n is .*; must be a whole number >= 0"):
        simulation.step(n)
    simulation.step(2)
    assert simulation.steps == 2


def test_a_sample_that_is_not_there_yet_says_why():
    simulation = Simulation(SpringMassEngine(), [SpringJoint(period=0.01)])
    simulation.step(5)
    with pytest.raises(PliantError, match=r"joint_0 has not measured yet: .* 0\.005 s, its period 0\.01 s"):
        simulation.sample("joint_0")
    with pytest.raises(PliantError, match="did you mean 'joint_0'"):
        simulation.sample("joint_O")


def test_health_tells_of_everything(tmp_path):
    simulation = Simulation(
        SpringMassEngine(3), [SpringJoint(), Board(3)], [Recall()], recorder=tmp_path / "run.mcap", seed=2
    )
    with simulation:
        simulation.step(7)
        health = simulation.health()
    assert health["steps"] == 7
    assert health["time"] == pytest.approx(0.007)
    assert health["devices"]["board"]["samples"] == 7
    assert health["bridges"]["recall"]["calls"] == 22
    assert health["recorder"]["messages"] == 28
    assert health["seed"] == 2
