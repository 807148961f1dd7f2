"""XXH3-128 against values of the reference library (the xxhash package 3.x), one for every branch and its borders."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.wire import xxh3
from pliant.wire.xxh3 import xxh3_128

REFERENCE = [
    (0, 0x99AA06D3014798D86001C324468D497F),
    (1, 0x51025A4491835505E12EF9D2EB86CEEB),
    (3, 0xCE31763CBF8245A5A9088DDA485B481C),
    (4, 0xDD40DA4FB215E2141C39DBB553A705E0),
    (8, 0xF69A63D1BFE6B421ED2E15D607E65102),
    (9, 0xE6437F593809A3C57D29026A8DAB645B),
    (16, 0xE8920F24C46D190E93E2125B8D5E83BD),
    (17, 0x87A3D4506BEDD5649F166F98E8C7D6D8),
    (128, 0x6366D7603FD45B4AE5BA6E4129933089),
    (129, 0x29FF8922F1223360EFE75D0059E9E2D3),
    (240, 0x162F94B689DA4E16FD17FECFDB5C1B45),
    (241, 0x83E91254D35BCF72BD7D29B6BA966D6A),
    (1024, 0x8BBB9F7AF37F2F52DC5ACF0B043C445B),
    (1025, 0xF66A602AA3EDA73BC856C953BBDBC807),
    (3000, 0x61E2F15B03F1FCC6B751069DFFEAE2CF),
]


@pytest.mark.parametrize(("size", "expected"), REFERENCE, ids=lambda v: str(v)[:6])
def test_every_length_of_input_gives_the_reference_value(size, expected):
    low, high = xxh3_128(bytes((7 * i + size) % 256 for i in range(size)))
    assert high << 64 | low == expected


@given(st.binary(max_size=2000))
def test_both_halves_have_64_bits_and_depend_on_the_last_byte(data):
    low, high = xxh3_128(data)
    assert 0 <= low < 1 << 64
    assert 0 <= high < 1 << 64
    if data:
        assert (low, high) != xxh3_128(data[:-1] + bytes([data[-1] ^ 1]))


def test_the_example_in_the_docstring():
    assert doctest.testmod(xxh3).failed == 0
