"""Stamps, properties, images, sensors, joint states and streamed commands: published bytes, recordings, round trips."""

import json
import math
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_files import shared_file
from yarp_replies import decode_measurements, decode_metadata

from pliant.base.errors import WireError
from pliant.yarp.wire.binary import decode_bottle, encode_bottle
from pliant.yarp.wire.connection import DatagramAssembler, Framer, Hello
from pliant.yarp.wire.images import PIXELS, Image, encode_image
from pliant.yarp.wire.joints import COMMANDS, JointState, StreamCommand
from pliant.yarp.wire.objects import Stamp, floats, properties, vector
from pliant.yarp.wire.sensors import (
    SENSOR_GROUPS,
    Measurement,
    SensorNames,
    encode_measurements,
    encode_metadata,
)
from pliant.yarp.wire.values import Bottle, Vocab, bottle

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=64)
DIALECTS = pytest.mark.parametrize("dialect", [3, 4])


def recorded(sender):
    """Yield (dialect, message) of every recorded connection of a sender, tcp and udp."""
    for group, streams in json.loads(shared_file("data/yarp_golden.json").read_text()).items():
        for stream in streams:
            if "hex" in stream and group.endswith("controlboard_udp"):
                for message in DatagramAssembler().feed(bytes.fromhex(stream["hex"])):
                    states = len(message.payload) > 400
                    if message.payload and states == sender.endswith("stateExt:o"):
                        yield int(group[1]), message
            elif stream.get("client_to_server", "").startswith(b"YA".hex()):
                sent = bytes.fromhex(stream["client_to_server"])
                hello, end = Hello.read(sent)
                if hello.sender.endswith(sender):
                    yield from ((int(group[1]), m) for m in Framer().feed(sent[end:]) if m.payload)


@pytest.mark.shared
def test_recorded_joint_states_are_written_again_from_their_values():
    seen = set()
    for dialect, message in recorded("stateExt:o"):
        state = JointState.decode(decode_bottle(message.payload, dialect))
        assert state.joint_position is not None
        again = encode_bottle(state.encode(dialect, 3), dialect)
        assert len(again) == len(message.payload)
        names = [field.name for field in fields(JointState) if dialect == 4 or field.name != "temperature"]
        if all(getattr(state, name) is not None for name in names):
            assert again == message.payload
            seen.add(dialect)
        stamp = Stamp.of_envelope(message.command.envelope)
        assert stamp.envelope == message.command.envelope
    assert seen == {3, 4}


@pytest.mark.shared
def test_recorded_commands_are_written_again_from_their_values():
    seen = {3: set(), 4: set()}
    for dialect, message in recorded("command:o"):
        command = StreamCommand.decode(decode_bottle(message.payload, dialect), 3)
        assert encode_bottle(command.encode(dialect), dialect) == message.payload
        seen[dialect].add((command.quantity, command.joints is None, command.group))
    assert len(seen[3]) == 14
    assert len(seen[4]) == 15


@DIALECTS
def test_a_position_direct_command_has_the_published_bytes(dialect):
    command = StreamCommand(quantity="position_direct", values=(4.5,), joints=(1,))
    head = {
        3: "00010000 02000000 09000000 64706f00 01000000 01000000 0a010000 01000000",
        4: "00010000 03000000 09000000 69706f64 09000000 64706f00 01000000 01000000 14010000 01000000",
    }[dialect]
    expected = bytes.fromhex("00010000 02000000" + head) + np.float64(4.5).tobytes()
    assert encode_bottle(command.encode(dialect), dialect) == expected


@DIALECTS
@given(data=st.data())
def test_a_streamed_command_comes_back(dialect, data):
    quantity = data.draw(st.sampled_from([q for q, row in COMMANDS.items() if row[dialect - 3] != ("?",)]))
    scopes = [i for i, word in enumerate(COMMANDS[quantity][2]) if word]
    scope = data.draw(st.sampled_from(scopes))
    joints = data.draw(st.permutations(range(4)))[: 1 if scope == 0 else data.draw(st.integers(0, 4))]
    joints = None if scope == 1 else tuple(joints)
    n = 4 if joints is None else len(joints)
    command = StreamCommand(
        quantity=quantity,
        values=tuple(data.draw(st.lists(NUMBERS, min_size=n, max_size=n))),
        joints=joints,
        group=scope == 2,
        slot=Vocab.of("pos1") if quantity.startswith("pid_") else None,
    )
    payload = encode_bottle(command.encode(dialect), dialect)
    assert StreamCommand.decode(decode_bottle(payload, dialect), 4) == command


@pytest.mark.parametrize(
    ("head", "values"),
    [
        ((Vocab.of("dpo"), 4), (1.0,)),
        ((Vocab.of("dpo"), -1), (1.0,)),
        ((Vocab.of("dpo"), 0), (1.0, 2.0)),
        ((Vocab.of("dpo"), 0), (math.nan,)),
        ((Vocab.of("dpo"), 0), (math.inf,)),
        ((Vocab.of("dpos"),), (1.0, 2.0, 3.0)),
        ((Vocab.of("dpos"), 1), (1.0, 2.0, 3.0, 4.0)),
        ((Vocab.of("dpog"), 2, (0, 1)), (1.0,)),
        ((Vocab.of("dpog"), 3, (0, 1)), (1.0, 2.0)),
        ((Vocab.of("dpog"), 2, (1, 1)), (1.0, 2.0)),
        ((Vocab.of("dpog"), 2, 1), (1.0, 2.0)),
        ((Vocab.of("fly"), 0), (1.0,)),
        ((Vocab.of("ipos"), Vocab.of("dpo"), 0), (1.0,)),
        ((Vocab.of("ipid"), Vocab.of("poff"), 0), (1.0,)),
        ((), (1.0,)),
    ],
)
def test_a_command_that_does_not_fit_the_joints_is_refused(head, values):
    with pytest.raises(WireError):
        StreamCommand.decode(bottle(head, values), 4)


@pytest.mark.parametrize("data", [bottle(), bottle(1, 2), bottle((Vocab.of("dpos"),), 1.0), bottle((), ("a",))])
def test_what_is_no_command_is_refused(data):
    with pytest.raises(WireError):
        StreamCommand.decode(data, 4)


@DIALECTS
def test_a_state_marks_what_is_missing_as_not_valid(dialect):
    state = JointState(joint_position=(1.0, 2.0), control_mode=(Vocab.of("pos"), Vocab.of("idl")))
    data = decode_bottle(encode_bottle(state.encode(dialect, 2), dialect), dialect)
    assert len(data) == {3: 22, 4: 24}[dialect]
    assert JointState.decode(data) == state
    with pytest.raises(WireError, match="must be 3"):
        state.encode(dialect, 3)


def test_a_state_of_another_size_is_refused():
    with pytest.raises(WireError, match="22"):
        JointState.decode(bottle(1, 2, 3))


@DIALECTS
@given(groups=st.dictionaries(st.sampled_from(SENSOR_GROUPS), st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1)))
def test_measurements_and_metadata_come_back(dialect, groups):
    measured = {name: tuple([Measurement((a, b), t) for t, (a, b) in enumerate(v)]) for name, v in groups.items()}
    data = decode_bottle(encode_bottle(encode_measurements(measured), dialect), dialect)
    assert decode_measurements(data) == measured
    names = {name: tuple([SensorNames(f"s{i}", "frame") for i in range(len(v))]) for name, v in groups.items()}
    data = decode_bottle(encode_bottle(encode_metadata(names), dialect), dialect)
    assert decode_metadata(data) == names


def test_measurements_have_the_published_bytes():
    data = encode_bottle(encode_measurements({"gyroscopes": [Measurement((1.0, 2.0, 3.0), 4.0)]}), 4)
    gyroscope = "00010000 01000000 00010000 02000000 14010000 03000000"
    expected = bytes.fromhex("00010000 0c000000" + gyroscope) + np.array([1.0, 2.0, 3.0]).tobytes()
    expected += bytes.fromhex("14000000") + np.float64(4.0).tobytes() + bytes.fromhex("00010000 00000000") * 11
    assert data == expected


def test_an_unknown_sensor_group_is_named():
    with pytest.raises(WireError, match="gyroscopes"):
        encode_measurements({"gyroscope": []})
    with pytest.raises(WireError, match="12"):
        decode_measurements(bottle())
    with pytest.raises(WireError, match="gyroscopes"):
        decode_measurements(Bottle(tuple([bottle(1)] * 12)))


def test_an_rgb_image_has_the_published_header():
    pixels = np.arange(576, dtype=np.uint32).astype(np.uint8).reshape(12, 16, 3)
    data = encode_image(pixels, "rgb")
    header = (
        "00010000 04000000 09000000 6d617400 09000000 72676200 01010000 05000000"
        "03000000 40020000 08000000 10000000 0c000000 0c000000 40020000"
    )
    assert data == bytes.fromhex(header) + pixels.tobytes()
    assert np.array_equal(Image.decode(decode_bottle(data, 4)).pixels, pixels)


@given(st.sampled_from(sorted(PIXELS)), st.integers(1, 9), st.integers(1, 9), st.sampled_from([1, 4, 8]), st.data())
def test_an_image_comes_back_whatever_its_rows_are_filled_up_to(code, height, width, quantum, data):
    kind, channels = PIXELS[code]
    shape = (height, width, channels) if channels > 1 else (height, width)
    seed = data.draw(st.integers(0, 1000))
    pixels = (np.random.default_rng(seed).random(shape) * 200).astype(kind)
    encoded = decode_bottle(encode_image(pixels, code, quantum), 3)
    assert len(encoded[3]) % quantum == 0
    again = Image.decode(encoded)
    assert (again.code, again.quantum) == (code, quantum)
    assert np.array_equal(again.pixels, pixels)


@pytest.mark.parametrize(
    "data",
    [
        bottle(),
        bottle(Vocab.of("mat"), Vocab.of("rgb"), (3, 24, 8, 1, 1), bytes(24)),
        bottle(Vocab.of("mat"), Vocab.of("rgb"), (3, 8, 8, 1, 1), bytes(7)),
        bottle(Vocab.of("mat"), Vocab.of("rgb"), (3, 8, 0, 1, 1), bytes(8)),
        bottle(Vocab.of("mat"), Vocab.of("rgb"), (3, 8, 8, -1, 1), bytes(8)),
        bottle(Vocab.of("mat"), Vocab.of("rgb"), (3, 0, 8, 1, 0), b""),
        bottle(Vocab.of("mat"), Vocab.of("rgb"), (3, 0, 8, 1 << 30, 1 << 30), b""),
        bottle(Vocab.of("mat"), Vocab.of("xyz"), (3, 8, 8, 1, 1), bytes(8)),
        bottle(Vocab.of("mat"), Vocab.of("rgb"), (4, 8, 8, 1, 1), bytes(8)),
    ],
)
def test_an_image_whose_numbers_contradict_each_other_is_refused(data):
    with pytest.raises(WireError):
        Image.decode(data)


def test_pixels_of_another_shape_are_refused():
    for shape in ((3,), (2, 2), (2, 2, 4), (0, 2, 3)):
        with pytest.raises(WireError):
            encode_image(np.zeros(shape, np.uint8), "rgb")


def test_an_envelope_is_a_count_and_a_time():
    stamp = Stamp(280, 1795221787.22998)
    assert stamp.envelope == "280 1795221787.22998"
    assert Stamp.of_envelope("280 1795221787.22998 frame") == stamp
    for text in ("", "1", "a b", "1 b"):
        with pytest.raises(WireError, match="envelope"):
            Stamp.of_envelope(text)


def test_a_property_is_a_list_of_pairs():
    values = {"name": "a", "size": 3, "gains": bottle(1.0, 2.0)}
    assert properties(Bottle(tuple([Bottle(item) for item in values.items()]))) == values
    assert properties(bottle(("gains", 1.0, 2.0))) == {"gains": bottle(1.0, 2.0)}
    with pytest.raises(WireError, match="Property"):
        properties(bottle("name"))


def test_a_vector_is_a_list_of_numbers_of_any_kind():
    assert np.array_equal(floats(vector([1.0, 2.5])), [1.0, 2.5])
    assert np.array_equal(floats(vector([1.0, 2.5], single=True)), [1.0, 2.5])
    assert floats(bottle()).shape == (0,)
    assert encode_bottle(vector([]), 4) == bytes.fromhex("14010000 00000000")
    assert encode_bottle(vector([], single=True), 4) == bytes.fromhex("0a010000 00000000")
    with pytest.raises(WireError, match="dimension"):
        vector([[1.0]])
    with pytest.raises(WireError, match="list"):
        floats(1.0)
