"""The endpoints of other nodes, from tokens alone: no zenoh takes part."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.ros_zenoh.graph import Graph
from pliant.ros_zenoh.wire.rmw_zenoh import Endpoint


def endpoint(
    kind="MP", name="/x", *, session="aa", entity=1, node="talker", dds_type="std_msgs::msg::dds_::Bool_", h="H1"
):
    return Endpoint(
        domain=0, session=session, node_id=0, entity_id=entity, kind=kind, node=node, name=name, dds_type=dds_type,
        type_hash=h,
    )  # fmt: skip


@pytest.fixture
def said():
    return []


@pytest.fixture
def graph(said):
    return Graph("own", said.append)


def test_endpoints_come_and_go(graph, said):
    first, second = endpoint(), endpoint(entity=2, node="other")
    assert graph.appeared(first.token()) == first
    assert graph.appeared(first.token()) is None  # known already
    assert graph.appeared(second.token()) == second
    assert graph.endpoints("MP", "/x") == [first, second]
    graph.vanished(first.token())
    graph.vanished(first.token())
    assert graph.endpoints("MP", "/x") == [second]
    graph.vanished(second.token())
    assert len(graph) == 0
    assert graph.endpoints("MP", "/x") == []
    assert not said


def test_the_own_session_is_no_other(graph):
    assert graph.appeared(endpoint(session="own").token()) is None
    assert len(graph) == 0


@pytest.mark.parametrize("own_first", [True, False])
@pytest.mark.parametrize(
    ("own", "other", "says"),
    [
        (
            "MP",
            {"kind": "MS", "dds_type": "a::msg::dds_::B_"},
            "subscription of /talker .* a/msg/B, here it is std_msgs",
        ),
        ("MS", {"kind": "MP", "h": "H2"}, "publisher of /talker .* is H2, here it is H1"),
        ("SS", {"kind": "SC", "h": "H2"}, "client of /talker"),
    ],
)
def test_endpoints_that_never_meet_are_told_whoever_comes_first(graph, said, own_first, own, other, says):
    steps = [
        lambda: graph.add_own(endpoint(own, session="own")),
        lambda: graph.appeared(endpoint(**other).token()),
    ]
    for step in steps if own_first else steps[::-1]:
        step()
    assert len(said) == 1
    with pytest.raises(AssertionError, match=says):
        raise AssertionError(said[0])


@pytest.mark.parametrize("other", [{"kind": "MS"}, {"kind": "MP", "h": "H2"}, {"kind": "MS", "name": "/y", "h": "H2"}])
def test_endpoints_that_meet_or_have_nothing_to_do_with_each_other_are_not_told(graph, said, other):
    graph.add_own(endpoint("MP", session="own"))
    graph.appeared(endpoint(**other).token())
    assert not said


def test_what_is_no_more_ours_is_not_compared(graph, said):
    graph.add_own(endpoint("MS", session="own"))
    graph.remove_own("MS", "/x")
    graph.appeared(endpoint("MP", h="H2").token())
    assert not said


def test_the_number_of_endpoints_is_bounded_and_told_once(said):
    graph = Graph("own", said.append, limit=3)
    for k in range(10):
        graph.appeared(endpoint(entity=k).token())
    assert len(graph) == 3
    assert len(said) == 1
    assert "more than 3 endpoints" in said[0]
    graph.vanished(endpoint(entity=0).token())
    assert graph.appeared(endpoint(entity=20).token()) is not None
    assert len(graph) == 3


TOKENS = st.text("@ros2_lv/%:,NMPSC019a", max_size=60) | st.builds(
    lambda kind, entity, hash_: endpoint(kind, entity=entity, h=hash_).token(),
    st.sampled_from(["MP", "MS", "SS", "SC", "NN"]),
    st.integers(0, 5),
    st.sampled_from(["H1", "H2"]),
)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.booleans(), TOKENS), max_size=40))
def test_any_sequence_of_tokens_leaves_the_books_in_order(steps):
    said = []
    graph = Graph("own", said.append, limit=8)
    graph.add_own(endpoint("MP", session="own"))
    for appears, token in steps:
        (graph.appeared if appears else graph.vanished)(token)
    assert len(graph) <= 8
    found = [graph.endpoints(kind, name) for kind in ("MP", "MS", "SS", "SC", "NN") for name in ("/x", "")]
    assert sum(map(len, found)) == len(graph)
    assert all(isinstance(text, str) for text in said)
