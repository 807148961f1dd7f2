"""Bottles as bytes and as text: published bytes, round trips in both dialects, and input that is bad."""

import contextlib
import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.base.errors import WireError
from pliant.yarp.wire import binary
from pliant.yarp.wire.binary import (
    MAX_DEPTH,
    decode_bottle,
    encode_bottle,
    encode_value,
    encode_vector,
    read_bottle,
    read_value,
)
from pliant.yarp.wire.objects import floats
from pliant.yarp.wire.text import MAX_TEXT, format_bottle, is_open, parse_bottle
from pliant.yarp.wire.values import (
    FALSE,
    TRUE,
    Bottle,
    Float32,
    Incomplete,
    Int8,
    Int16,
    Int64,
    Vocab,
    Vocab64,
    boolean,
    bottle,
    integer,
    kind_of,
    number,
    text,
    vocabulary,
)

DIALECTS = pytest.mark.parametrize("dialect", [3, 4])


def decode_vector(raw, dialect):
    return floats(decode_bottle(raw, dialect))


def signed(bits):
    return st.integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


COMMON = [
    signed(32),
    st.floats(allow_nan=False),
    st.text(max_size=12),
    st.binary(max_size=12),
    signed(8).map(Int8),
    signed(16).map(Int16),
    signed(64).map(Int64),
    st.floats(width=32, allow_nan=False).map(Float32),
    signed(32).map(Vocab),
]


def bottles(kinds):
    values = st.one_of(kinds)
    uniform = st.sampled_from(kinds).flatmap(lambda kind: st.lists(kind, max_size=6).map(tuple))

    def lists(inner):
        items = st.one_of(uniform, st.lists(st.one_of(values, inner), max_size=5).map(tuple))
        return st.builds(Bottle, items, layout=st.sampled_from(["", "tagged"]))

    return lists(st.recursive(st.builds(Bottle, uniform), lists, max_leaves=8))


OF_DIALECT = {3: bottles(COMMON), 4: bottles([*COMMON, signed(64).map(Vocab64)])}

# Text keeps neither the sizes of numbers nor names of vocabularies with brackets.
TEXTUAL = bottles(
    [
        signed(32),
        signed(64).filter(lambda n: not -(1 << 31) <= n < 1 << 31).map(Int64),
        st.floats(allow_nan=False),
        st.text(max_size=12),
        st.binary(max_size=6),
        st.text("abcdefghijklmnopqrstuvwxyz0123456789_", min_size=1, max_size=4).map(Vocab.of),
        st.sampled_from([TRUE, FALSE]),
    ]
)


@DIALECTS
@given(data=st.data())
def test_a_bottle_comes_back_from_its_bytes(dialect, data):
    sent = data.draw(OF_DIALECT[dialect])
    raw = encode_bottle(sent, dialect)
    again = decode_bottle(raw, dialect)
    assert again == sent
    assert encode_bottle(again, dialect) == raw
    assert read_bottle(raw + b"behind", dialect) == (sent, len(raw))


@given(TEXTUAL)
def test_a_bottle_comes_back_from_its_text(sent):
    written = format_bottle(sent)
    assert parse_bottle(written) == sent
    assert not is_open(written)


@DIALECTS
@given(data=st.data())
def test_every_cut_of_a_bottle_is_incomplete(dialect, data):
    raw = encode_bottle(data.draw(OF_DIALECT[dialect]), dialect)
    cut = data.draw(st.integers(0, len(raw) - 1))
    with pytest.raises(Incomplete):
        read_bottle(raw[:cut], dialect)


@DIALECTS
@given(noise=st.binary(max_size=80), tag=st.sampled_from([0, 256, 257, 260, 266, 276, 268, 512]))
def test_noise_is_read_or_refused_with_a_message(dialect, noise, tag):
    raw = struct.pack("<i", tag) + noise
    with contextlib.suppress(WireError):
        found, end = read_bottle(raw, dialect)
        assert len(encode_bottle(found, dialect)) == end


@given(st.text(alphabet='ab1.-+e[](){}"\\ \n,x0', max_size=40))
def test_noise_of_text_is_read_or_refused_with_a_message(noise):
    with contextlib.suppress(WireError):
        found = parse_bottle(noise)
        assert parse_bottle(format_bottle(found)) == found


def test_a_mixed_bottle_has_the_published_bytes_and_text():
    mixed = bottle(1, 2.5, "hello", Vocab.of("set"), ("a b", 3), b"\x04\x05\x06", TRUE)
    expected = (
        bytes.fromhex("00010000 07000000 01000000 01000000 14000000 0000000000000440 04000000 05000000")
        + b"hello"
        + bytes.fromhex("09000000 73657400 00010000 02000000 04000000 03000000")
        + b"a b"
        + bytes.fromhex("01000000 03000000 0c000000 03000000 040506 09000000 31000000")
    )
    assert encode_bottle(mixed, 4) == expected
    assert format_bottle(mixed) == '1 2.5 hello [set] ("a b" 3) {4 5 6} true'


@pytest.mark.parametrize(("dialect", "tag"), [(3, "0a010000"), (4, "14010000")])
def test_a_list_of_floats_carries_its_tag_once(dialect, tag):
    flat = bytes.fromhex(tag + "03000000") + struct.pack("<3d", 1.0, 2.0, 3.0)
    assert encode_bottle(bottle(1.0, 2.0, 3.0), dialect) == flat
    assert encode_bottle(bottle((1.0, 2.0, 3.0)), dialect) == bytes.fromhex("00010000 01000000") + flat
    assert encode_vector([1.0, 2.0, 3.0], dialect) == flat
    assert np.array_equal(decode_vector(flat, dialect), [1.0, 2.0, 3.0])


def test_the_dialects_disagree_about_tag_10():
    doubles = encode_bottle(bottle(1.0, 2.0), 3)
    with pytest.raises(WireError):
        decode_bottle(doubles, 4)
    singles = encode_bottle(bottle(Float32(1.0), Float32(2.0)), 4)
    with pytest.raises(WireError):
        decode_bottle(singles, 3)


@DIALECTS
def test_an_empty_list_and_an_empty_vector_are_told_apart_in_their_bytes(dialect):
    assert encode_bottle(bottle(), dialect) == bytes.fromhex("00010000 00000000")
    empty = encode_vector([], dialect)
    assert encode_bottle(decode_bottle(empty, dialect), dialect) == empty
    assert decode_vector(empty, dialect).shape == (0,)
    assert decode_vector(encode_bottle(bottle(), dialect), dialect).shape == (0,)


@DIALECTS
def test_a_dictionary_keeps_its_flag(dialect):
    sent = Bottle((bottle("a", 1), bottle("b", 2)), dictionary=True)
    raw = encode_bottle(sent, dialect)
    assert raw.startswith(struct.pack("<2i", 512, 2))
    assert decode_bottle(raw, dialect) == sent
    assert encode_bottle(decode_bottle(raw, dialect), dialect) == raw


@DIALECTS
@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "float32", "float64"])
def test_a_vector_of_any_kind_of_number_comes_back(dialect, kind):
    kinds = {"int8": Int8, "int16": Int16, "int32": int, "int64": Int64, "float32": Float32, "float64": float}
    numbers = Bottle(tuple(kinds[kind](value) for value in (1, -2, 100)))
    assert np.array_equal(decode_vector(encode_bottle(numbers, dialect), dialect), [1.0, -2.0, 100.0])


@DIALECTS
def test_a_single_value_carries_its_tag(dialect):
    for value in (3, 2.5, "a", b"b", Vocab.of("pos"), bottle(1, "x")):
        raw = encode_value(value, dialect)
        assert read_value(raw, dialect) == (value, len(raw))


def nested(depth):
    return struct.pack("<2i", 256, 1) * depth + struct.pack("<2i", 256, 0)


@DIALECTS
def test_lists_nested_too_deeply_are_refused_both_ways(dialect):
    decode_bottle(nested(MAX_DEPTH - 1), dialect)
    for depth in (MAX_DEPTH, 100_000):
        with pytest.raises(WireError, match="nested"):
            decode_bottle(nested(depth), dialect)
    deep = bottle()
    for _ in range(MAX_DEPTH):
        deep = bottle(deep)
    with pytest.raises(WireError, match="nested"):
        encode_bottle(deep, dialect)
    with pytest.raises(WireError, match="nested"):
        format_bottle(deep)
    with pytest.raises(WireError, match="nested"):
        parse_bottle("(" * 100_000)


@DIALECTS
@pytest.mark.parametrize("count", [-1, binary.MAX_ITEMS + 1, (1 << 31) - 1])
@pytest.mark.parametrize("tag", [256, 257, 260, 268, 512])
def test_a_count_beyond_the_limit_is_refused_before_anything_is_read(dialect, count, tag):
    with pytest.raises(WireError) as caught:
        decode_bottle(struct.pack("<2i", tag, count) + bytes(16), dialect)
    assert not isinstance(caught.value, Incomplete)


@DIALECTS
@pytest.mark.parametrize("size", [-1, binary.MAX_BYTES + 1, (1 << 31) - 1])
def test_a_length_of_a_string_beyond_the_limit_is_refused(dialect, size):
    with pytest.raises(WireError) as caught:
        decode_bottle(struct.pack("<4i", 256, 1, 4, size), dialect)
    assert not isinstance(caught.value, Incomplete)


@pytest.mark.parametrize("raw", ["01000000 01000000", "ff010000 00000000", "0a030000 00000000", "00010000 01000000 07"])
def test_bytes_that_begin_no_bottle_are_refused(raw):
    with pytest.raises(WireError):
        decode_bottle(bytes.fromhex(raw) + bytes(3), 4)


def test_bytes_behind_a_bottle_are_refused():
    with pytest.raises(WireError, match="1 bytes remain"):
        decode_bottle(encode_bottle(bottle(1), 4) + b"x", 4)
    with pytest.raises(WireError, match="remain"):
        decode_bottle(encode_vector([1.0], 4) + b"x", 4)


@pytest.mark.parametrize("value", [True, None, 1 << 31, object(), [1], np.float64(1.0)])
def test_what_is_no_value_is_refused(value):
    with pytest.raises(WireError):
        encode_bottle(Bottle((value,)), 4)


def test_dialect_3_has_no_vocabulary_of_64_bits():
    with pytest.raises(WireError, match="vocab64"):
        encode_bottle(bottle(Vocab64.of("position")), 3)


def test_a_dialect_is_3_or_4():
    with pytest.raises(WireError, match="3 or 4"):
        encode_bottle(bottle(), 2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("written", "items"),
    [
        ("", ()),
        ("1 -2 +3 0x10", (1, -2, 3, 16)),
        ("1.0 1e3 -.5 inf -inf", (1.0, 1000.0, -0.5, math.inf, -math.inf)),
        ("3000000000", (Int64(3000000000),)),
        ("true false [ok] [position]", (TRUE, FALSE, Vocab.of("ok"), Vocab64.of("position"))),
        (r'"a \"b\" \\ \n" ""', ('a "b" \\ \n', "")),
        ('"true" true', ("true", TRUE)),
        ("{1 2 255} {}", (b"\x01\x02\xff", b"")),
        ("(1 (2.5 x) ()) y", (bottle(1, (2.5, "x"), ()), "y")),
        ("/a/b:i 127.0.0.1 a,b", ("/a/b:i", "127.0.0.1", "a", "b")),
        (" [set]\t[pos]\r\n", (Vocab.of("set"), Vocab.of("pos"))),
    ],
)
def test_text_is_read_as_yarp_reads_it(written, items):
    assert parse_bottle(written).items == items


@pytest.mark.parametrize(
    "written",
    [
        "(",
        ")",
        "(1",
        '"a',
        "[ok",
        "]",
        "{1",
        "}",
        "{256}",
        "{a}",
        "[toolongname]",
        "9" * 30,
        '"a\\',
        "a" * (MAX_TEXT + 1),
    ],
)
def test_text_that_is_no_bottle_is_refused(written):
    with pytest.raises(WireError):
        parse_bottle(written)


@pytest.mark.parametrize(("line", "is_it"), [("(1", True), ('"a', True), ("a\\", True), ("(1)", False), ('"("', False)])
def test_a_line_with_an_open_bracket_goes_on(line, is_it):
    assert is_open(line) == is_it


def test_not_a_number_survives_bytes_and_text():
    for again in (decode_bottle(encode_bottle(bottle(math.nan), 4), 4), parse_bottle(format_bottle(bottle(math.nan)))):
        assert math.isnan(number(again[0]))


def test_a_vocabulary_is_its_characters():
    assert Vocab.of("pos").code == int.from_bytes(b"pos\0", "little")
    assert Vocab.of("pos").name == "pos"
    assert Vocab(-1).name == "\xff" * 4
    assert Vocab.of("\xff\xff\xff\xff") == Vocab(-1)
    assert Vocab64.of("position").name == "position"
    for name in ("toolong", "a\0"):
        with pytest.raises(WireError):
            Vocab.of(name)


def test_readers_take_what_yarp_would_take_and_name_what_they_refuse():
    assert [integer(v) for v in (3, Int8(3), Int16(3), Int64(3), Vocab(3))] == [3] * 5
    assert [number(v) for v in (3, 3.0, Float32(3.0), Int8(3))] == [3.0] * 4
    assert [text(v) for v in ("pos", Vocab.of("pos"))] == ["pos"] * 2
    assert [vocabulary(v).name for v in ("pos", Vocab.of("pos"), Vocab.of("pos").code)] == ["pos"] * 3
    assert [boolean(v) for v in (1, 0, Vocab.of("ok"), Vocab.of("fail"), TRUE, FALSE)] == [True, False] * 3
    for reader, value in ((integer, 1.5), (number, "1"), (text, 1), (boolean, "true"), (integer, bottle())):
        with pytest.raises(WireError):
            reader(value)
    with pytest.raises(WireError, match="bool"):
        kind_of(True)


def test_a_value_is_found_by_its_key():
    found = bottle(("carrier", "tcp"), ("gains", 1.0, 2.0), Vocab.of("port"), 7)
    assert found.find("carrier") == "tcp"
    assert found.find("gains") == bottle(1.0, 2.0)
    assert found.find("port") == 7
    assert found.find("none") is None
