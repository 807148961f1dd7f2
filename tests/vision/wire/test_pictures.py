import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.base.errors import WireError
from pliant.vision.wire.pictures import HEADER_BYTES, MAX_SIDE, PictureHeader, decode_header, encode_header

SIDES = st.integers(1, MAX_SIDE)
NUMBERS = st.integers(-(2**63), 2**63 - 1)


def test_a_header_has_the_bytes_of_the_table():
    data = encode_header(PictureHeader(height=480, width=640, counter=2, stamp_ns=20_000_000))
    assert data[:32].hex(" ", 4) == "504c4941 4e545031 e0010000 80020000 02000000 00000000 002d3101 00000000"
    assert data[32:] == bytes(32)
    assert PictureHeader(height=480, width=640).file_bytes == 64 + 3 * 480 * 640


@given(SIDES, SIDES, NUMBERS, NUMBERS)
def test_a_header_comes_back(height, width, counter, stamp):
    header = PictureHeader(height=height, width=width, counter=counter, stamp_ns=stamp)
    assert decode_header(encode_header(header)) == header


@given(st.binary(max_size=2 * HEADER_BYTES))
def test_other_bytes_are_refused_or_are_a_header_within_the_limits(data):
    try:
        header = decode_header(data)
    except WireError:
        return
    assert 1 <= header.height <= MAX_SIDE
    assert 1 <= header.width <= MAX_SIDE


def test_what_is_wrong_is_named():
    good = encode_header(PictureHeader(height=2, width=3))
    for data, words in (
        (good[:63], "63 bytes are not the header"),
        (b"x" + good[1:], "must be b'PLIANTP1'"),
        (good[:8] + bytes(4) + good[12:], "3 x 0 pixels; must be 1 to 16384"),
        (good[:12] + b"\xff" * 4 + good[16:], "4294967295 x 2 pixels"),
    ):
        with pytest.raises(WireError, match=words):
            decode_header(data)
