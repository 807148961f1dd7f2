"""The garbage collector between the steps."""

import gc
import math
import threading
import time

import pytest
from fake_engine import SpringJoint, SpringMassEngine

from pliant.simulation import BridgeBase, Simulation, paced
from pliant.simulation import collector as room
from pliant.simulation.collector import OVERDUE, PER_GENERATION, SAFETY, YOUNG, Collector

MS = 1_000_000


class Garbage:
    """Stands for the module gc: counts objects when told, and takes as long as it is told."""

    def __init__(self, clock, cost=(50_000, 200_000, 5 * MS)):
        self.clock, self.cost = clock, list(cost)
        self.objects = 0
        self.done = []

    def get_count(self):
        return (self.objects, 0, 0)

    def collect(self, generation):
        self.clock.now += self.cost[generation]
        self.objects = 0
        self.done.append(generation)


class Clock:
    now = 0

    def __call__(self):
        return self.now


class Deaf(BridgeBase):
    """A bridge to nowhere."""


@pytest.fixture
def parts():
    clock = Clock()
    garbage = Garbage(clock)
    return clock, garbage, Collector(clock=clock, collector=garbage)


@pytest.fixture(scope="module", autouse=True)
def _nothing_is_frozen():
    """Let runs freeze what is there, as in a program: `conftest.py` has frozen all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room._SWITCH, "_others_froze", False)
        gc.unfreeze()
        yield
        gc.freeze()


@pytest.fixture(autouse=True)
def _collector_is_left_as_it_was():
    before = gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()
    yield
    assert (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()) == before


def steps(parts, n, objects, slack):
    _, garbage, collector = parts
    for _ in range(n):
        garbage.objects += objects
        collector.between(slack)


def test_few_new_objects_are_left_alone(parts):
    steps(parts, 10, YOUNG // 20, math.inf)
    assert parts[1].done == []


def test_with_slack_the_young_are_collected_as_soon_as_there_are_enough(parts):
    steps(parts, 4, YOUNG, MS)
    assert parts[1].done == [0, 0, 0, 0]
    assert parts[2].health()["overdue"] == 0


def test_the_next_generation_comes_with_every_eleventh_collection(parts):
    steps(parts, 2 * (PER_GENERATION + 1), YOUNG, MS)
    assert parts[1].done == ([0] * PER_GENERATION + [1]) * 2


def test_without_slack_nothing_is_collected_until_it_is_overdue(parts):
    steps(parts, OVERDUE // 100 - 1, 100, 0)
    assert parts[1].done == []
    steps(parts, 2, 100, 0)
    assert parts[1].done == [0]
    assert parts[2].health()["overdue"] == 1


def test_a_slack_shorter_than_the_measured_collection_is_not_used(parts):
    _, garbage, collector = parts
    garbage.cost[0] = 2 * MS
    steps(parts, 1, YOUNG, MS)  # nothing was measured before
    assert garbage.done == [0]
    steps(parts, 3, YOUNG, MS)
    assert garbage.done == [0]
    steps(parts, 1, 1, 5 * MS)
    assert garbage.done == [0, 0]
    assert collector.health()["worst"] == pytest.approx(2e-3)


def test_one_collection_that_was_long_by_accident_is_forgotten(parts):
    _, garbage, _ = parts
    garbage.cost[0] = 40 * MS
    steps(parts, 1, YOUNG, MS)
    garbage.cost[0] = 50_000
    steps(parts, 10_000, 1, MS)
    assert garbage.done[1:2] == [0]


def test_a_full_collection_is_rare_and_waits_for_a_long_slack(parts):
    clock, garbage, collector = parts
    collector.start()
    try:
        rounds = PER_GENERATION * (PER_GENERATION + 1)
        steps(parts, 2 * rounds, YOUNG, MS)  # within the first ten seconds
        assert 2 not in garbage.done
        clock.now += 11_000 * MS
        steps(parts, 2 * rounds, YOUNG, MS)  # a millisecond is too short for it
        assert 2 not in garbage.done
        steps(parts, PER_GENERATION + 1, YOUNG, 100 * MS)
        assert garbage.done.count(2) == 1
    finally:
        collector.stop()


def test_the_automatic_collection_is_held_off_while_a_paced_run_lasts_and_back_after_it():
    seen, before = [], gc.get_threshold()
    simulation = Simulation(SpringMassEngine(), [SpringJoint(0)], pacer=paced(1000.0))
    simulation.at(0.01, lambda s: seen.append(gc.get_threshold()[0]))
    with simulation:
        simulation.run(0.02)
        assert seen == [SAFETY]
        assert gc.get_threshold() == before
        assert simulation.health()["collector"]["collections"] == [0, 0, 0]


def test_it_is_back_after_an_error_too():
    before = gc.get_threshold()

    def fail(_):
        raise ValueError("wrong")

    with Simulation(SpringMassEngine(), [SpringJoint(0)], pacer=paced(1000.0)) as simulation:
        simulation.at(0.01, fail)
        with pytest.raises(ValueError, match="wrong"):
            simulation.run(0.02)
    assert gc.get_threshold() == before


def test_a_run_that_nobody_waits_for_leaves_the_collector_alone():
    seen = []
    with Simulation(SpringMassEngine(), [SpringJoint(0)], pacer="free") as simulation:
        simulation.at(0.01, lambda s: seen.append(gc.get_threshold()[0]))
        simulation.run(0.02)
        assert simulation.health()["collector"] is None
    assert seen == [gc.get_threshold()[0]]


def test_who_switched_the_collector_off_finds_it_off():
    seen, before = [], gc.get_threshold()
    gc.disable()
    gc.set_threshold(0)
    try:
        with Simulation(SpringMassEngine(), [SpringJoint(0)], pacer=paced(1000.0)) as simulation:
            simulation.at(0.005, lambda s: seen.append(gc.get_threshold()[0]))
            simulation.run(0.01)
        assert seen == [0]
        assert not gc.isenabled()
        assert gc.get_threshold()[0] == 0
    finally:
        gc.enable()
        gc.set_threshold(*before)


def test_a_pause_does_not_keep_the_collector_away():
    simulation = Simulation(SpringMassEngine(), [SpringJoint(0)], [Deaf()], pacer="sync")

    def make_garbage():
        for _ in range(2 * YOUNG):
            circle = []
            circle.append(circle)

    def meanwhile():
        simulation.submit(make_garbage).result(30.0)
        deadline = time.monotonic() + 30.0
        while not sum(simulation.health()["collector"]["collections"]) and time.monotonic() < deadline:
            time.sleep(0.005)
        found.append(sum(simulation.health()["collector"]["collections"]))
        simulation.stop()

    found = []
    with simulation:
        simulation.pause()
        helper = threading.Thread(target=meanwhile)
        helper.start()
        simulation.run()
        helper.join()
    assert found[0] >= 1


def test_two_runs_at_once_keep_it_off_until_the_second_ends():
    first, second = Collector(), Collector()
    first.start()
    second.start()
    first.stop()
    first.stop()
    assert gc.get_threshold()[0] == SAFETY
    second.stop()
    assert gc.get_threshold()[0] < SAFETY


def test_garbage_in_circles_does_not_pile_up():
    class Node:
        pass

    alive = []

    def circle(_):
        for _ in range(YOUNG):
            a, b = Node(), Node()
            a.other, b.other = b, a

    # With a bridge and no pace the steps end when they end: every slack is long enough.
    with Simulation(SpringMassEngine(), [SpringJoint(0)], [Deaf()], pacer="sync") as simulation:
        for k in range(40):
            simulation.at(k * 0.001, circle)
        simulation.at(0.045, lambda s: alive.append(sum(type(o) is Node for o in gc.get_objects())))
        simulation.run(0.05)
        done = simulation.health()["collector"]["collections"]
    assert sum(done) >= 38
    assert alive[0] <= 4 * YOUNG


def test_the_switch_counts_its_users_from_any_thread():
    collectors = [Collector() for _ in range(8)]

    def use(collector):
        for _ in range(50):
            collector.start()
            collector.stop()

    threads = [threading.Thread(target=use, args=(c,)) for c in collectors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gc.get_threshold()[0] < SAFETY
    assert room._SWITCH._users == 0


def test_objects_that_others_froze_stay_frozen_and_are_counted_once(monkeypatch):
    class Frozen:
        """Stands for the module gc of a program that froze its objects, which take long to count."""

        counted, done = 0, []

        def get_threshold(self):
            return 700, 10, 10

        def set_threshold(self, *threshold):
            self.done.append(threshold[0])

        def get_freeze_count(self):
            self.counted += 1
            return 10**7

    monkeypatch.setattr(room, "gc", Frozen())
    switch = room._Switch()
    for _ in range(5):
        switch.off()
        switch.restore()
    assert room.gc.counted == 1
    assert room.gc.done == [SAFETY, 700] * 5
