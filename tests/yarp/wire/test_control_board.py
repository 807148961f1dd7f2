"""The control board's remote calls: every method of the table, against recorded calls and round trips."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_files import shared_file
from yarp_replies import decode_protocol_version, decode_reply, encode_request

from pliant.base.errors import WireError
from pliant.yarp.wire import board_calls
from pliant.yarp.wire import control_board as board
from pliant.yarp.wire.binary import decode_bottle, encode_bottle, read_bottle
from pliant.yarp.wire.connection import ACKNOWLEDGEMENT, Framer, Hello
from pliant.yarp.wire.records import PROTOCOL_VERSION, Argument, Method, Pid, decode_fields, parse_method
from pliant.yarp.wire.values import FAIL, OK, Bottle, Int16, Vocab, bottle


def recorded_calls():
    """Return (typed by hand, request, reply) of every recorded call in dialect 4 that has a Bottle as reply."""
    calls = []
    for stream in json.loads(shared_file("data/yarp_golden.json").read_text())["v4_04_controlboard"]:
        sent, answered = (bytes.fromhex(stream[k]) for k in ("client_to_server", "server_to_client"))
        if not sent.startswith(b"YA") or not stream["stream"].endswith("to10019"):
            continue
        hello, end = Hello.read(sent)
        at = 8
        for message in Framer().feed(sent[end:]):
            if message.command.wants_reply and not answered.startswith(ACKNOWLEDGEMENT, at):
                if b"getRemoteProtocolVersion" in message.payload:
                    assert decode_protocol_version(answered[at : at + 16]) == (0, 4, 0, 0)
                    assert answered[at : at + 16] == PROTOCOL_VERSION
                    at += 16
                else:
                    _, end = read_bottle(answered, 4, at)
                    calls.append((hello.sender == "anon_rpc", message.payload, answered[at:end]))
                    at = end
            at += 8
        assert at == len(answered)
    return calls


@pytest.mark.shared
def test_recorded_calls_are_understood_and_written_again_from_their_values():
    methods = set()
    for typed, sent, answered in recorded_calls():
        request, reply = decode_bottle(sent, 4), decode_bottle(answered, 4)
        if request[0] in (Vocab.of("help"), "help") or reply == board.REFUSED:
            continue
        name, values = board.decode_request(request)
        if not typed:  # a call that is typed by hand is an ordinary Bottle with int32 for every integer
            assert encode_bottle(encode_request(board.METHODS[name], *values), 4) == sent
        status, results = decode_reply(name, reply)
        assert encode_bottle(board.encode_reply(name, *results, status=status), 4) == answered
        methods.add(name)
    assert len(methods) > 80


def test_the_answer_to_axes_has_the_published_bytes():
    request = bytes.fromhex("00010000 01000000 04000000 0a000000") + b"getAxesRPC"
    reply = bytes.fromhex("00010000 02000000 00010000 01000000 09000000 6f6b0000 01000000 03000000")
    assert encode_bottle(encode_request(board.METHODS["getAxesRPC"]), 4) == request
    assert encode_bottle(board.encode_reply("getAxesRPC", 3), 4) == reply


def test_the_table_has_every_method_once_and_all_have_results_or_arguments_of_known_types():
    assert len(board.METHODS) == 193
    names = re.findall(r"(\w+RPC)\(", Path(board_calls.__file__).read_text())
    assert sorted(names) == sorted(board.METHODS)


NUMBERS = st.floats(allow_nan=False, width=64)
OF_TYPE = {
    "i16": st.integers(-(1 << 15), (1 << 15) - 1),
    "i32": st.integers(-(1 << 31), (1 << 31) - 1),
    "f64": NUMBERS,
    "str": st.text(max_size=20),
    "bool": st.booleans(),
    "vocab": st.sampled_from(["pos", "torq", "idl", "atrv", "pos1"]).map(Vocab.of),
    "bottle": st.lists(NUMBERS, max_size=4).map(lambda v: bottle(*v)),
    "pid": st.lists(NUMBERS, min_size=10, max_size=10).map(lambda v: Pid(**dict(zip(Pid.__dataclass_fields__, v)))),
    "flags": st.dictionaries(st.text(max_size=10), st.booleans(), max_size=5),
}


def values_of(arguments):
    def one(type_):
        if type_.endswith("[]"):
            return st.lists(OF_TYPE[type_[:-2]], max_size=6).map(tuple)
        name, _, count = type_.partition("*")
        return st.tuples(*[OF_TYPE[name]] * int(count)) if count else OF_TYPE[name]

    return st.tuples(*[one(a.type) for a in arguments])


@pytest.mark.parametrize("name", board.METHODS)
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_a_method_gives_back_its_arguments_and_results(name, data):
    method = board.METHODS[name]
    values = data.draw(values_of(method.arguments))
    sent = encode_bottle(encode_request(board.METHODS[name], *values), 4)
    assert board.decode_request(decode_bottle(sent, 4)) == (name, values)
    results = data.draw(values_of(method.results))
    status = data.draw(st.sampled_from(sorted(board.RETURN_VALUES)))
    answered = encode_bottle(board.encode_reply(name, *results, status=status), 4)
    assert decode_reply(name, decode_bottle(answered, 4)) == (status, results)


def test_an_unknown_method_names_the_nearest_one():
    with pytest.raises(WireError, match="did you mean 'getAxesRPC'"):
        board.decode_request(bottle("getAxisRPC"))


@pytest.mark.parametrize(
    "request_",
    [
        Bottle(),
        bottle("positionMoveOneRPC"),
        bottle("positionMoveOneRPC", 0, "fast"),
        bottle("positionMoveOneRPC", 0, 1.0, 2.0),
        bottle("positionMoveAllRPC", 1.0),
        bottle("setPidRPC", Vocab.of("pos1"), 0, (1.0, 2.0)),
        bottle((1, 2)),
    ],
)
def test_a_request_that_does_not_fit_is_refused(request_):
    with pytest.raises(WireError):
        board.decode_request(request_)


def test_the_refusal_of_a_server_is_an_error_for_every_method():
    for name in board.METHODS:
        with pytest.raises(WireError, match="refused"):
            decode_reply(name, board.REFUSED)


def test_the_order_of_gains_differs_between_the_dialects():
    pid = Pid(kp=1.0, kd=2.0, ki=3.0, max_int=4.0, max_output=5.0, offset=6.0, scale=7.0, kff=10.0)
    assert pid.encode(3).items[:7] == (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)
    assert pid.encode(4).items[:7] == (1.0, 2.0, 3.0, 4.0, 7.0, 5.0, 6.0)
    for dialect in (3, 4):
        assert Pid.decode(pid.encode(dialect), dialect) == pid


def test_a_method_of_an_interface_is_read_with_and_without_the_word_of_direct_calls():
    method = parse_method("getPose(n: i16) -> pose: f64[]")
    request = encode_request(method, 2)
    assert request.items == ("getPose", Int16(2))
    assert method.decode_request(Bottle(("__direct__", *request.items))) == (2,)
    assert decode_fields(method.results, method.encode_reply((1.0, 2.0)).items) == ((1.0, 2.0),)


def test_a_truth_value_is_read_from_integers_too():
    method = Method("f", (Argument("flag", "bool"),))
    for value, flag in ((OK, True), (FAIL, False), (1, True), (0, False)):
        assert method.decode_request(bottle("f", value)) == (flag,)


@pytest.mark.parametrize("line", ["f", "f(", "f(a)", "f(a: i33)", "f() -> a: bool[]"])
def test_a_line_that_declares_no_method_is_refused(line):
    with pytest.raises(WireError):
        parse_method(line)
