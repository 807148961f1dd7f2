"""The control board's remote calls in dialect 3, against recorded calls and round trips."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_files import shared_file
from yarp_replies import decode_reply_3, encode_words

from pliant.base.errors import WireError
from pliant.yarp.wire import control_board_v3 as board
from pliant.yarp.wire.binary import decode_bottle, encode_bottle, read_bottle
from pliant.yarp.wire.connection import Framer, Hello
from pliant.yarp.wire.objects import Stamp
from pliant.yarp.wire.records import Pid
from pliant.yarp.wire.values import Vocab, bottle

NUMBERS = st.floats(allow_nan=False, width=64)
WHOLE = st.integers(-(1 << 31), (1 << 31) - 1)
OF_TYPE = {
    "i32": WHOLE,
    "f64": NUMBERS,
    "str": st.text(max_size=20),
    "vocab": st.sampled_from(["atrv", "atpr"]).map(Vocab.of),
    "mode": st.sampled_from(["pos", "torq", "idl"]).map(Vocab.of),
    "pid": st.lists(NUMBERS, min_size=10, max_size=10).map(lambda v: Pid(**dict(zip(Pid.__dataclass_fields__, v)))),
}


def recorded_calls():
    for stream in json.loads(shared_file("data/yarp_golden.json").read_text())["v3_14_controlboard"]:
        sent, answered = (bytes.fromhex(stream[k]) for k in ("client_to_server", "server_to_client"))
        if not sent.startswith(b"YA") or not stream["stream"].endswith("to10027"):
            continue
        hello, end = Hello.read(sent)
        at = 8
        for message in Framer().feed(sent[end:]):
            if message.command.wants_reply:
                _, end = read_bottle(answered, 3, at)
                yield hello.sender == "anon_rpc", message.payload, answered[at:end]
                at = end
            at += 8


@pytest.mark.shared
def test_recorded_calls_are_understood_and_written_again_from_their_values():
    done = set()
    for typed, sent, answered in recorded_calls():
        request, reply = decode_bottle(sent, 3), decode_bottle(answered, 3)
        if reply in (board.FAILED, board.NOT_UNDERSTOOD):
            continue
        if request == bottle(Vocab.of("get"), Vocab.of("prot")):
            assert encode_bottle(board.PROTOCOL_VERSION, 3) == answered
            continue
        if typed and len(request) == 2 and request[1] == Vocab.of("don"):
            continue  # typed without a joint: that server takes joint 0, this table refuses it
        words, values = board.decode_request(request)
        if not typed:
            assert encode_bottle(encode_words(words, *values), 3) == sent
        results, stamp = decode_reply_3(request, reply)
        assert encode_bottle(board.encode_reply(request, *results, stamp=stamp), 3) == answered
        done.add(words)
    assert len(done) > 80


@pytest.mark.parametrize("words", board.METHODS)
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_a_request_gives_back_its_arguments_and_results(words, data):
    def values_of(arguments):
        return tuple(
            data.draw(
                st.lists(OF_TYPE[a.type[:-2]], max_size=5).map(tuple) if a.type.endswith("[]") else OF_TYPE[a.type]
            )
            for a in arguments
        )

    method = board.METHODS[words]
    values, results = values_of(method.arguments), values_of(method.results)
    sent = decode_bottle(encode_bottle(encode_words(words, *values), 3), 3)
    assert board.decode_request(sent) == (words, values)
    reply = board.encode_reply(sent, *results, stamp=Stamp(7, 1.5))
    found, stamp = decode_reply_3(sent, decode_bottle(encode_bottle(reply, 3), 3))
    assert found == results
    assert stamp in (None, Stamp(7, 1.5))


def test_words_may_come_as_strings():
    assert board.decode_request(bottle("get", "axes")) == ("get axes", ())
    assert board.decode_request(bottle("get", Vocab.of("torq"), "ref", 1)) == ("get torq ref", (1,))


def test_the_answer_to_a_control_mode_echoes_the_axis():
    request = encode_words("get icmd cmod", 2)
    reply = board.encode_reply(request, Vocab.of("pos"), stamp=Stamp(3, 1.5))
    names = [Vocab.of(n) for n in ("is", "pos", "tsta", "ok")]
    assert reply == bottle(names[0], 2, names[1], names[2], 3, 1.5, names[3])


@pytest.mark.parametrize(
    "request_", [bottle(), bottle(1), bottle("get"), bottle("get", "nothing"), bottle("get", "enc")]
)
def test_a_request_that_is_not_in_the_table_is_refused(request_):
    with pytest.raises(WireError):
        board.decode_request(request_)


@pytest.mark.parametrize("reply", [board.FAILED, board.NOT_UNDERSTOOD, bottle(), board.PROTOCOL_VERSION])
def test_a_refusal_or_another_reply_is_an_error(reply):
    with pytest.raises(WireError):
        decode_reply_3(encode_words("get enc", 0), reply)
