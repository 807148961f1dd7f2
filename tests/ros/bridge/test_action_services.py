"""The goals of an action as a client of ROS 2 sees them; no wire."""

import pytest

from pliant.ros.bridge.action_services import MAX_MEMORY, ActionServices
from pliant.ros.bridge.actions import ActionServer, GoalRefused, GoalState, Outcome
from pliant.ros.wire import Codec
from pliant.ros.wire.definitions_node import action_parts

MS = 1_000_000
FIBONACCI = "test_msgs/Fibonacci"
BASE = "test_msgs/action/Fibonacci"


class Count:
    """Counts the steps of a goal up to ``order``; an order below 0 is refused, 13 fails."""

    def check(self, request):
        if request["order"] < 0:
            raise GoalRefused(f"the order is {request['order']}; must be 0 or more")
        return {"left": request["order"]}

    def begin(self, goal, stamp_ns):
        self.begun = goal.id

    def advance(self, goal, stamp_ns):
        if goal.request["order"] == 13:
            return Outcome(state=GoalState.ABORTED, result={"sequence": [13]}, text="unlucky")
        goal.plan["left"] -= 1
        return None if goal.plan["left"] > 0 else Outcome(state=GoalState.SUCCEEDED, result={"sequence": [0, 1]})

    def feedback(self, goal, stamp_ns):
        return {"partial_sequence": [goal.plan["left"]]}

    def stopped(self, goal, text):
        return {"sequence": [7]}


class Topic:
    active = True

    def __init__(self, codec, kind):
        self.codec, self.type, self.sent = codec, kind, []

    def send(self, data):
        self.sent.append(self.codec.decode(self.type, data))


class Wire:
    """Encodes and decodes what is served, as a wire would."""

    def __init__(self):
        self.codec = Codec(2)
        messages, services = action_parts(
            FIBONACCI, "int32 order\n", "int32[] sequence\n", "int32[] partial_sequence\n"
        )
        self.codec.types.add(messages)
        self.codec.types.add_services(services)
        self.topics, self.topics, self.later, self.faults = {}, {}, {}, []

    def advertise(self, topic, type_name, *, latch=False):
        assert latch is topic.endswith("/status")
        return self.topics.setdefault(topic, Topic(self.codec, type_name))

    def serve(self, name, type_name, callback):
        self.topics[name] = self.codec.types.service(type_name), callback

    def serve_later(self, name, type_name, callback):
        self.later[name] = self.codec.types.service(type_name), callback

    def complain(self, text):
        self.faults.append(text)

    def call(self, name, **request):
        kind, callback = self.topics[f"/count/_action/{name}"]
        asked = self.codec.decode(kind.request, self.codec.encode(kind.request, request))
        return self.codec.decode(kind.response, self.codec.encode(kind.response, callback(asked)))

    def result(self, uuid):
        kind, callback = self.later["/count/_action/get_result"]
        replies = []

        def respond(reply):
            replies.append(self.codec.decode(kind.response, self.codec.encode(kind.response, reply)))

        asked = self.codec.decode(kind.request, self.codec.encode(kind.request, {"goal_id": {"uuid": uuid}}))
        callback(asked, respond)
        return replies


class World:
    def __init__(self):
        self.wire = Wire()
        self.server = ActionServer("/count", Count())
        self.services = ActionServices(self.wire, "/count", FIBONACCI, self.server)
        self.now = 0

    def step(self, count=1):
        for _ in range(count):
            self.now += MS
            self.server.tick(self.now)

    def send(self, uuid, order):
        return self.wire.call("send_goal", goal_id={"uuid": uuid}, goal={"order": order})

    def cancel(self, uuid=bytes(16), stamp=0):
        reply = self.wire.call("cancel_goal", goal_info={"goal_id": {"uuid": uuid}, "stamp": stamp})
        return reply["return_code"], [info["goal_id"]["uuid"] for info in reply["goals_canceling"]]

    @property
    def states(self):
        lists = self.wire.topics["/count/_action/status"].sent
        return [[(g["goal_info"]["goal_id"]["uuid"][0], g["status"]) for g in m["status_list"]] for m in lists]


@pytest.fixture
def world():
    return World()


A, B, C = (bytes([k]) * 16 for k in (1, 2, 3))


def test_a_goal_is_taken_moved_on_and_ends(world):
    world.step(3)
    assert world.send(A, 60) == {"accepted": True, "stamp": 3 * MS}
    early = world.wire.result(A)
    world.step(200)
    for (reply,) in (early, world.wire.result(A)):
        assert reply["status"] == 4
        assert list(reply["result"]["sequence"]) == [0, 1]
    assert world.states == [[], [(1, 1)], [(1, 2)], [(1, 4)]]
    fed = world.wire.topics["/count/_action/feedback"].sent
    assert fed
    assert {m["goal_id"]["uuid"] for m in fed} == {A}
    assert not world.wire.faults


def test_a_fault_aborts_and_says_so(world):
    world.send(A, 13)
    world.step()
    (reply,) = world.wire.result(A)
    assert (reply["status"], list(reply["result"]["sequence"])) == (6, [13])


def test_a_newer_goal_takes_the_place_of_an_older_one(world):
    world.send(A, 1000)
    world.step()
    waiting = world.wire.result(A)
    assert waiting == []
    world.send(B, 2)
    world.step()
    assert [(r["status"], list(r["result"]["sequence"])) for r in waiting] == [(5, [7])]


def test_refused_goals_are_complained_about_and_never_listed(world):
    assert not world.send(A, -1)["accepted"]
    assert world.send(B, 5)["accepted"]
    assert not world.send(B, 5)["accepted"]
    assert not world.send(bytes(16), -3)["accepted"]
    assert "the order is -1; must be 0 or more" in world.wire.faults[0]
    assert "there is a goal" in world.wire.faults[1]
    assert world.states == [[], [(2, 1)]]
    assert [r["status"] for r in world.wire.result(A)] == [0]


def test_goals_are_cancelled_one_by_one_by_time_or_all(world):
    world.send(A, 1000)
    world.step(2)
    assert world.cancel(A) == (0, [A])
    world.step()
    assert [r["status"] for r in world.wire.result(A)] == [5]
    assert world.cancel(A) == (3, [])
    assert world.cancel(C) == (2, [])
    world.send(B, 1000)
    assert world.cancel(stamp=world.now - 1) == (0, [])
    assert world.cancel(stamp=world.now) == (0, [B])
    assert [r["status"] for r in world.wire.result(B)] == [5]
    world.send(C, 1000)
    world.step()
    assert world.cancel() == (0, [C])
    assert world.cancel() == (0, [])


def test_results_are_kept_for_who_asks_late_and_bounded(world):
    for k in range(MAX_MEMORY + 3):
        world.send(bytes([k, 1]) * 8, 1)
        world.step()
    world.step(6000)
    assert [r["status"] for r in world.wire.result(bytes([0, 1]) * 8)] == [0]
    assert [r["status"] for r in world.wire.result(bytes([MAX_MEMORY, 1]) * 8)] == [4]
    assert not world.server.goals


def test_who_waits_too_many_is_told(world, monkeypatch):
    monkeypatch.setattr("pliant.ros.bridge.action_services.MAX_WAITING", 3)
    world.send(A, 50)
    replies = [world.wire.result(A) for _ in range(4)]
    assert [len(r) for r in replies] == [0, 0, 0, 1]
    assert "3 clients wait for results already" in world.wire.faults[0]
    world.step(60)
    assert [r[0]["status"] for r in replies] == [4, 4, 4, 0]
