"""The server of actions, without a wire: the lives that a goal may have."""

import threading
from types import SimpleNamespace

import pytest

from pliant.ros.bridge.actions import MAX_HISTORY, MAX_ID, MAX_QUEUE, ActionServer, GoalRefused, GoalState, Outcome
from pliant.ros.bridge.options import RosOptions
from pliant.ros.bridge.topics import RosTopics

MS = 1_000_000


class Count:
    """Counts the steps of a goal up to ``order``; an order below 0 is refused, 13 fails."""

    def __init__(self):
        self.told = []

    def check(self, request):
        if request["order"] < 0:
            raise GoalRefused(f"the order is {request['order']}; must be 0 or more", {"code": -1})
        return {"left": request["order"]}

    def begin(self, goal, stamp_ns):
        self.told.append(("begin", goal.id, stamp_ns))

    def advance(self, goal, stamp_ns):
        if goal.request["order"] == 13:
            return Outcome(state=GoalState.ABORTED, result={"code": -4}, text="unlucky")
        goal.plan["left"] -= 1
        return None if goal.plan["left"] > 0 else Outcome(state=GoalState.SUCCEEDED, result={"code": 0})

    def feedback(self, goal, stamp_ns):
        return {"left": goal.plan["left"]}

    def stopped(self, goal, text):
        self.told.append(("stopped", goal.id, text))
        return {"code": 7}


class Wire:
    """Writes down what it hears."""

    def __init__(self):
        self.lists, self.fed, self.ends = [], [], []

    def changed(self, goals, stamp_ns):
        self.lists.append([(g.id, g.state.value) for g in goals])

    def feedback(self, goal, values, stamp_ns):
        self.fed.append((goal.id, values["left"], stamp_ns))

    def ended(self, goal, stamp_ns):
        self.ends.append((goal.id, goal.state, dict(goal.result)))


@pytest.fixture
def server():
    server = ActionServer("/count", Count())
    server.wire = Wire()
    return server


def run(server, first, last):
    for step in range(first, last + 1):
        server.tick(step * MS)


def test_a_goal_is_begun_by_the_loop_and_succeeds(server):
    goal = server.submit("a", {"order": 3})
    assert goal.state is GoalState.PENDING
    assert server.handler.told == []
    run(server, 1, 2)
    assert server.handler.told == [("begin", "a", MS)]
    assert goal.state is GoalState.ACTIVE
    assert goal.begun
    run(server, 3, 3)
    assert goal.state is GoalState.SUCCEEDED
    assert goal.ended_ns == 3 * MS
    assert server.wire.ends == [("a", GoalState.SUCCEEDED, {"code": 0})]
    seen = [states[0][1] for states in server.wire.lists]
    assert seen == ["pending", "active", "succeeded"]


def test_a_goal_that_is_not_valid_is_rejected_with_its_reason_and_result(server):
    goal = server.submit("a", {"order": -2})
    assert goal.state is GoalState.REJECTED
    assert "-2" in goal.text
    run(server, 1, 3)
    assert server.wire.ends == [("a", GoalState.REJECTED, {"code": -1})]
    assert server.handler.told == []


def test_a_handler_may_abort(server):
    goal = server.submit("a", {"order": 13})
    run(server, 1, 1)
    assert goal.state is GoalState.ABORTED
    assert goal.text == "unlucky"
    assert goal.result == {"code": -4}


def test_an_active_goal_is_cancelled_in_the_next_step(server):
    goal = server.submit("a", {"order": 100})
    run(server, 1, 5)
    assert server.cancel("a") == [goal]
    assert goal.state is GoalState.CANCELING
    assert server.cancel("a") == []
    run(server, 6, 6)
    assert goal.state is GoalState.CANCELED
    assert server.wire.ends == [("a", GoalState.CANCELED, {"code": 7})]
    assert server.cancel("a") == []


def test_a_goal_that_has_not_begun_is_cancelled_at_once(server):
    goal = server.submit("a", {"order": 100})
    server.cancel()
    assert goal.state is GoalState.CANCELED
    assert not goal.begun
    run(server, 1, 5)
    assert [what for what, *_ in server.handler.told] == ["stopped"]


def test_goals_are_cancelled_by_their_time(server):
    old = server.submit("old", {"order": 100}, stamp_ns=5)
    new = server.submit("new", {"order": 100}, stamp_ns=9)
    assert server.cancel(before_ns=5) == [old]
    assert (old.state, new.state) == (GoalState.CANCELED, GoalState.PENDING)
    assert server.cancel("nobody") == []


def test_a_newer_goal_takes_the_place_of_the_active_one(server):
    first = server.submit("first", {"order": 100})
    run(server, 1, 5)
    second = server.submit("second", {"order": 2})
    run(server, 6, 7)
    assert first.state is GoalState.CANCELED
    assert "second" in first.text
    assert second.state is GoalState.SUCCEEDED


def test_what_moves_the_robot_otherwise_ends_the_goal(server):
    goal = server.submit("a", {"order": 100})
    run(server, 1, 2)
    server.preempt("a command came")
    server.preempt("another")
    assert (goal.state, goal.text) == (GoalState.CANCELED, "a command came")


def test_feedback_comes_at_its_rate_of_simulation_time(server):
    server.submit("a", {"order": 400})
    run(server, 1, 200)
    assert [stamp // MS for _, _, stamp in server.wire.fed] == [50, 100, 150, 200]


def test_the_list_is_told_again_and_again_and_forgets_what_has_long_ended(server):
    server.submit("a", {"order": 1})
    run(server, 1, 1)
    server.wire.lists.clear()
    run(server, 2, 1000)
    assert server.wire.lists == [[("a", "succeeded")]] * 5
    run(server, 1001, 5400)
    assert server.wire.lists[-1] == []
    assert server.goal("a") is None


def test_a_reset_ends_every_goal(server):
    active = server.submit("a", {"order": 1000})
    run(server, 1, 300)
    waiting = server.submit("b", {"order": 100})
    server.rewind()
    assert active.state is waiting.state is GoalState.ABORTED
    assert "reset" in waiting.text
    again = server.submit("c", {"order": 2})
    run(server, 1, 2)
    assert again.state is GoalState.SUCCEEDED


@pytest.mark.parametrize("name", ["", "x" * (MAX_ID + 1), "twin"])
def test_a_name_that_is_no_name_or_in_use_makes_no_goal(server, name):
    server.submit("twin", {"order": 5})
    with pytest.raises(GoalRefused, match="/count"):
        server.submit(name, {"order": 5})
    assert len(server.goals) == 1


def test_a_paused_loop_gathers_a_bounded_number_of_goals(server):
    goals = [server.submit(f"g{i}", {"order": 5}) for i in range(MAX_HISTORY + 50)]
    assert [g.state for g in goals[:MAX_QUEUE]] == [GoalState.PENDING] * MAX_QUEUE
    assert {g.state for g in goals[MAX_QUEUE:]} == {GoalState.REJECTED}
    assert "paused" in goals[-1].text
    assert len(server.goals) == MAX_HISTORY
    assert server.goals[:MAX_QUEUE] == goals[:MAX_QUEUE]


def test_a_goal_that_was_cancelled_before_it_came_is_told_as_cancelled(server):
    goal = server.recall("a", {"order": 5}, 0, "cancelled before")
    assert goal.state is GoalState.CANCELED
    assert not goal.begun
    assert server.wire.ends == [("a", GoalState.CANCELED, {})]
    run(server, 1, 3)
    assert server.handler.told == []


def test_goals_and_cancels_of_many_threads_all_end_once(server):
    def client(k):
        for i in range(50):
            server.submit(f"{k}-{i}", {"order": i % 7 - 1})
            if i % 3 == 0:
                server.cancel(f"{k}-{i}")

    threads = [threading.Thread(target=client, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    step = 0
    while any(thread.is_alive() for thread in threads) or any(not g.state.ended for g in server.goals):
        step += 1
        server.tick(step * MS)
    for thread in threads:
        thread.join()
    names = [name for name, *_ in server.wire.ends]
    assert len(names) == len(set(names)) == 200


def test_an_action_is_served_in_the_loop_of_a_bridge():
    told = []
    wire = SimpleNamespace(serve_action=lambda *a: told.append(a))
    topics = RosTopics(None, wire, RosOptions())
    server = topics.serve_action("/ns/count", "some_msgs/Count", Count())
    assert told == [("/ns/count", "some_msgs/Count", server)]
    goal = server.submit("a", {"order": 1})
    topics.ticks[0](MS)
    assert goal.state is GoalState.SUCCEEDED
    topics.rewinds[0]()
