"""XXH3-128, the hash from which rmw_zenoh makes the identifier of an endpoint.

Written from the public description of the algorithm (xxHash, doc/xxhash_spec.md, v0.2.0): default secret, seed 0. It is
called once per endpoint, so it may be slow.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

__all__ = ["xxh3_128"]

PRIME32_1, PRIME32_2, PRIME32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
PRIME64_1, PRIME64_2, PRIME64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
PRIME64_4, PRIME64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
MIX_1, MIX_2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
"""The default secret of XXH3, 192 bytes."""
STRIPE = 64
STRIPES_PER_BLOCK = (len(SECRET) - STRIPE) // 8
LAST_STRIPE_SECRET = len(SECRET) - 71
HIGH_MERGE_SECRET = len(SECRET) - 75
LOW_MERGE_SECRET = 11
_U32, _U64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def xxh3_128(data: bytes) -> tuple[int, int]:
    """Return the lower and the higher 64 bits of the hash of some bytes.

    Example:
        >>> hex(xxh3_128(b"")[0])
        '0x6001c324468d497f'
    """
    size = len(data)
    if size == 0:
        a, b, c, d = _words(SECRET, 64, 4)
        return _avalanche_64(a ^ b), _avalanche_64(c ^ d)
    if size <= 3:
        return _up_to_3(data)
    if size <= 8:
        return _up_to_8(data)
    if size <= 16:
        return _up_to_16(data)
    if size <= 240:
        return _up_to_240(data)
    return _long(data)


def _words(data: bytes, offset: int, count: int) -> tuple[int, ...]:
    return struct.unpack_from(f"<{count}Q", data, offset)


def _avalanche(x: int) -> int:
    x ^= x >> 37
    x = x * MIX_1 & _U64
    return x ^ (x >> 32)


def _avalanche_64(x: int) -> int:
    """The final step of XXH64, which short inputs take."""
    x ^= x >> 33
    x = x * PRIME64_2 & _U64
    x ^= x >> 29
    x = x * PRIME64_3 & _U64
    return x ^ (x >> 32)


def _swapped(x: int, size: int) -> int:
    return int.from_bytes(x.to_bytes(size, "little"), "big")


def _folded(x: int) -> int:
    """The halves of a product of 128 bits, combined."""
    return (x & _U64) ^ (x >> 64)


def _up_to_3(data: bytes) -> tuple[int, int]:
    size = len(data)
    combined = data[-1] | size << 8 | data[0] << 16 | data[size >> 1] << 24
    a, b, c, d = struct.unpack_from("<4I", SECRET)
    swapped = _swapped(combined, 4)
    turned = (swapped << 13 | swapped >> 19) & _U32
    return _avalanche_64((a ^ b) ^ combined), _avalanche_64((c ^ d) ^ turned)


def _up_to_8(data: bytes) -> tuple[int, int]:
    size = len(data)
    first, last = int.from_bytes(data[:4], "little"), int.from_bytes(data[-4:], "little")
    a, b = _words(SECRET, 16, 2)
    product = ((a ^ b) ^ (first | last << 32)) * (PRIME64_1 + (size << 2))
    low, high = product & _U64, product >> 64
    high = (high + (low << 1)) & _U64
    low ^= high >> 3
    low ^= low >> 35
    low = low * MIX_2 & _U64
    low ^= low >> 28
    return low, _avalanche(high)


def _up_to_16(data: bytes) -> tuple[int, int]:
    size = len(data)
    first, last = int.from_bytes(data[:8], "little"), int.from_bytes(data[-8:], "little")
    a, b, c, d = _words(SECRET, 32, 4)
    value_1, value_2 = (a ^ b) ^ first ^ last, (c ^ d) ^ last
    product = value_1 * PRIME64_1
    low = ((product & _U64) + ((size - 1) << 54)) & _U64
    high = ((product >> 64) + (value_2 >> 32 << 32) + (value_2 & _U32) * PRIME32_2) & _U64
    low ^= _swapped(high, 8)
    product = low * PRIME64_2
    return _avalanche(product & _U64), _avalanche(((product >> 64) + high * PRIME64_2) & _U64)


def _mixed(data: bytes, offset: int, secret: int) -> int:
    """Combine sixteen bytes of the data with sixteen of the secret."""
    a, b = _words(data, offset, 2)
    c, d = _words(SECRET, secret, 2)
    return _folded((a ^ c) * (b ^ d))


def _up_to_240(data: bytes) -> tuple[int, int]:
    size = len(data)
    acc = [size * PRIME64_1 & _U64, 0]

    def mix(offset_1: int, offset_2: int, secret: int) -> None:
        acc[0] = (acc[0] + _mixed(data, offset_1, secret)) & _U64
        acc[1] = (acc[1] + _mixed(data, offset_2, secret + 16)) & _U64
        acc[0] ^= sum(_words(data, offset_2, 2)) & _U64
        acc[1] ^= sum(_words(data, offset_1, 2)) & _U64

    if size <= 128:
        for i in range((size - 1) >> 5, -1, -1):
            mix(16 * i, size - 16 * i - 16, 32 * i)
    else:
        for i in range(4):
            mix(32 * i, 32 * i + 16, 32 * i)
        acc[:] = map(_avalanche, acc)
        for i in range(4, size >> 5):
            mix(32 * i, 32 * i + 16, 32 * (i - 4) + 3)
        mix(size - 16, size - 32, 103)
    high = (acc[0] * PRIME64_1 + acc[1] * PRIME64_4 + size * PRIME64_2) & _U64
    return _avalanche((acc[0] + acc[1]) & _U64), -_avalanche(high) & _U64


def _long(data: bytes) -> tuple[int, int]:
    size = len(data)
    acc = [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1]

    def accumulate(offset: int, secret: int) -> None:
        for i, (word, key) in enumerate(zip(_words(data, offset, 8), _words(SECRET, secret, 8), strict=True)):
            value = word ^ key
            acc[i ^ 1] = (acc[i ^ 1] + word) & _U64
            acc[i] = (acc[i] + (value & _U32) * (value >> 32)) & _U64

    block = STRIPE * STRIPES_PER_BLOCK
    full_blocks = (size - 1) // block
    for start in range(0, full_blocks * block, block):
        for n in range(STRIPES_PER_BLOCK):
            accumulate(start + STRIPE * n, 8 * n)
        for i, key in enumerate(_words(SECRET, len(SECRET) - STRIPE, 8)):
            acc[i] = (acc[i] ^ (acc[i] >> 47) ^ key) * PRIME32_1 & _U64
    start = full_blocks * block
    for n in range((size - start - 1) // STRIPE):
        accumulate(start + STRIPE * n, 8 * n)
    accumulate(size - STRIPE, LAST_STRIPE_SECRET)
    return (
        _merged(acc, size * PRIME64_1 & _U64, LOW_MERGE_SECRET),
        _merged(acc, ~(size * PRIME64_2) & _U64, HIGH_MERGE_SECRET),
    )


def _merged(acc: Sequence[int], value: int, secret: int) -> int:
    keys = _words(SECRET, secret, 8)
    for i in range(0, 8, 2):
        value += _folded((acc[i] ^ keys[i]) * (acc[i + 1] ^ keys[i + 1]))
    return _avalanche(value & _U64)
