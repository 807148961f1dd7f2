"""Structure-aware mutations of the formats of files that pliant reads: text, trees, archives, records, databases."""

from __future__ import annotations

import copy
import io
import itertools
import json
import math
import random
import re
import sqlite3
import struct
import warnings
import xml.etree.ElementTree as ET
import zipfile
import zlib
from typing import Any

import numpy as np
import yaml

NUMBERS = ["0", "-1", "1", "nan", "inf", "-inf", "1e308", "1e-320", "9" * 400, "2147483648", "-2147483649",
           "9223372036854775808", "1e12", "0x10", "1_000", "", " ", "0.5 0.5", "1e999", "true", "٣"]  # fmt: skip
TEXTS = ["", " ", "a", "../../etc/passwd", "/dev/zero", "é" * 30, "a/b", "x" * 5000, "%s%n", "{}", "\t", "world"]

SKIN_NUMBERS = [*(struct.pack("<i", n) for n in (0, 1, 3, 4, -1, 2**31 - 1, 2**30, -(2**31))),
                *(struct.pack("<f", x) for x in (0.5, -1.0, 1e38, math.nan, math.inf))]  # fmt: skip

# A tree that is written again keeps these prefixes, which readers look for.
ET.register_namespace("xacro", "http://www.ros.org/wiki/xacro")
ET.register_namespace("xi", "http://www.w3.org/2001/XInclude")

NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")


def _value(chance: random.Random) -> str:
    return chance.choice(NUMBERS if chance.random() < 0.7 else TEXTS)


def _near(chance: random.Random, value: float) -> float:
    """Return a number that a file may have in the place of another."""
    return chance.choice((-value, 0.5 * value, 2.0 * value, value + 1.0, 1e3 * value, 1e-3 * value, 0.0))


def _changed(chance: random.Random, text: str) -> str:
    """Return a text with one of its numbers replaced, mostly by one that the file's reader may accept."""
    places = list(NUMBER.finditer(text))
    if not places or chance.random() < 0.3:
        return _value(chance)
    place = chance.choice(places)
    new = f"{_near(chance, float(place[0])):.6g}" if chance.random() < 0.7 else _value(chance)
    return text[: place.start()] + new + text[place.end() :]


# ---------------------------------------------------------------------- one mutation of each kind of file
def mutate_xml(chance: random.Random, seed: bytes) -> bytes:
    root = ET.fromstring(seed)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        elements = list(root.iter())
        element, other = chance.choice(elements), chance.choice(elements)
        kind = chance.randrange(9)
        if kind <= 3 and element.attrib:
            name = chance.choice(list(element.attrib))
            element.set(name, _changed(chance, element.attrib[name]))
        elif kind <= 3 and element.text and element.text.strip():
            element.text = _changed(chance, element.text)
        elif kind == 4 and element.attrib:
            del element.attrib[chance.choice(list(element.attrib))]
        elif kind == 5 and len(element):
            element.remove(chance.choice(list(element)))
        elif kind == 6:
            element.append(copy.deepcopy(other) if len(list(other.iter())) < 50 else ET.Element(other.tag))
        elif kind == 7 and other.attrib:
            name = chance.choice(list(other.attrib))
            element.set(name, other.get(name, ""))
        elif chance.random() < 0.5:
            element.tag = other.tag
        else:
            element.text = _value(chance)
    return ET.tostring(root)


def _tree(chance: random.Random, value: Any) -> Any:
    if isinstance(value, dict) and value and chance.random() < 0.85:
        key = chance.choice(list(value))
        out = dict(value)
        kind = chance.randrange(8)
        if kind == 0:
            del out[key]
        elif kind == 1:
            out[_value(chance)] = out.pop(key)
        else:
            out[key] = _tree(chance, value[key])
        return out
    if isinstance(value, list) and value and chance.random() < 0.85:
        i = chance.randrange(len(value))
        return [*value[:i], _tree(chance, value[i]), *value[i + chance.randrange(2) :]]
    number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15
    if number and chance.random() < 0.5:
        return type(value)(_near(chance, value))
    if chance.random() < 0.3 and isinstance(value, str):
        return _changed(chance, value)
    return chance.choice([None, True, -1, 0, 1e308, float("nan"), float("inf"), 10**400, 2**63, "a", "", [], {}, [[1]],
                          {"a": {"a": 1}}, "1e-3", [None], -0.0, 10**12])  # fmt: skip


def mutate_yaml(chance: random.Random, seed: bytes) -> bytes:
    value = yaml.safe_load(seed)
    for _ in range(chance.choice((1, 1, 2, 3))):
        value = _tree(chance, value)
    return yaml.safe_dump(value, sort_keys=False).encode()


def mutate_json(chance: random.Random, seed: bytes) -> bytes:
    value = json.loads(seed)
    for _ in range(chance.choice((1, 1, 2, 3))):
        value = _tree(chance, value)
    return json.dumps(value).encode()


def mutate_json_lines(chance: random.Random, seed: bytes) -> bytes:
    lines = seed.splitlines()
    i = chance.randrange(len(lines))
    lines[i] = mutate_json(chance, lines[i]) if chance.random() < 0.8 else mutate_bytes(chance, lines[i])
    return b"\n".join(lines) + b"\n"


def mutate_lines(chance: random.Random, seed: bytes) -> bytes:
    lines = seed.decode().splitlines()
    for _ in range(chance.choice((1, 1, 2, 4))):
        if not lines:
            break
        i = chance.randrange(len(lines))
        separator = "," if "," in lines[i] else " "
        cells = lines[i].split(separator)
        kind = chance.randrange(6)
        if kind <= 2:
            k = chance.randrange(len(cells))
            cells[k] = _changed(chance, cells[k])
            lines[i] = separator.join(cells)
        elif kind == 3:
            lines[i] = separator.join(cells[:-1] if chance.random() < 0.5 else [*cells, cells[0]])
        elif kind == 4:
            lines.insert(i, chance.choice(lines))
        else:
            del lines[i]
    return ("\n".join(lines) + "\n").encode()


def mutate_bytes(chance: random.Random, seed: bytes) -> bytes:
    data = bytearray(seed)
    for _ in range(chance.choice((1, 1, 2, 5))):
        if len(data) < 9:
            break
        i = chance.randrange(len(data) - 8)
        kind = chance.randrange(5)
        if kind == 0:
            data[i] ^= 1 << chance.randrange(8)
        elif kind == 1:
            lie = chance.choice((0, 1, 0xFF, 0xFFFF, 2**31 - 1, 2**32 - 1, 2**40, 2**63))
            data[i : i + 8] = struct.pack("<Q", lie)
        elif kind == 2:
            data[i : i + 4] = struct.pack("<I", chance.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF)))
        elif kind == 3:
            del data[i : i + chance.randrange(1, 200)]
        else:
            data[i:i] = data[i : i + chance.randrange(1, 200)]
    return bytes(data)


def npy_bytes(shape: str, dtype: str, body: bytes = b"") -> bytes:
    """Return an array whose header claims a shape and a type."""
    header = f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body


def mutate_npz(chance: random.Random, seed: bytes) -> bytes:
    if chance.random() < 0.25:
        return mutate_bytes(chance, seed)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(seed)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.namelist()
        target = chance.choice(names)
        for name in names:
            data = old.read(name)
            if name == target:
                kind = chance.randrange(7)
                if kind == 0:
                    continue
                if kind == 1:
                    data = mutate_bytes(chance, data)
                elif kind == 2:
                    shape = chance.choice(("(1000000000000,)", "()", "(-1,)", "(0,)", "(3, 2)", "('a',)", "(True,)"))
                    data = npy_bytes(shape, "'<f8'", bytes(48))
                elif kind == 3:
                    kinds = (
                        "'|O'",
                        "'<U3'",
                        "'<M8[s]'",
                        "'<c16'",
                        "'|b1'",
                        "'|V0'",
                        "[('a', '<f8')]",
                        "'<i8'",
                        "'|S0'",
                    )
                    data = npy_bytes("(3,)", chance.choice(kinds), bytes(48))
                elif kind == 4:
                    name = chance.choice(("a", "../x.npy", "time.npy", "é.npy", "time"))
                elif kind == 5:
                    array = chance.choice((np.array(1.0), np.array(["a"]), np.full(4, np.nan), np.ones((2, 2, 2))))
                    held = io.BytesIO()
                    np.save(held, array)
                    data = held.getvalue()
                else:
                    data = b"not an array"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a name that occurs twice
                new.writestr(name, data)
    return out.getvalue()


LIES = (0, 1, 0xFF, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63, 2**64 - 1)


def _overwritten(chance: random.Random, data: bytes) -> bytes:
    """Return data of the same length with a number or some bytes replaced."""
    size = chance.choice((1, 2, 4, 8))
    if len(data) < size:
        return data
    i = chance.randrange(len(data) - size + 1)
    new = (chance.choice(LIES) % 2 ** (8 * size)).to_bytes(size, "little")
    return data[:i] + new + data[i + size :]


def _reordered(chance: random.Random, records: list[Any], changed: Any) -> list[Any]:
    """Return records with one changed, left out, repeated or exchanged for another."""
    i, j = chance.randrange(len(records)), chance.randrange(len(records))
    kind = chance.randrange(8)
    out = list(records)
    if kind == 0:
        del out[i]
    elif kind == 1:
        out.insert(j, out[i])
    elif kind == 2:
        out[i], out[j] = out[j], out[i]
    else:
        out[i] = changed(out[i])
    return out


# ---------------------------------------------------------------------- bags and recordings
MCAP_MAGIC = b"\x89MCAP0\r\n"
CHUNK = 6
"""Opcode of a record that holds records, in MCAP."""


def _mcap_records(data: bytes) -> list[tuple[int, bytes]]:
    out, at = [], 0
    while at + 9 <= len(data):
        op, size = data[at], int.from_bytes(data[at + 1 : at + 9], "little")
        out.append((op, data[at + 9 : at + 9 + size]))
        at += 9 + size
    return out


def _mcap_bytes(records: list[tuple[int, bytes]]) -> bytes:
    return b"".join(bytes([op]) + struct.pack("<Q", len(body)) + body for op, body in records)


def mutate_mcap(chance: random.Random, seed: bytes) -> bytes:
    """Change records of an MCAP file, also those in chunks that are not compressed, and keep its framing whole."""
    if chance.random() < 0.15:
        return mutate_bytes(chance, seed)

    def changed(record: tuple[int, bytes]) -> tuple[int, bytes]:
        op, body = record
        name_bytes = int.from_bytes(body[28:32], "little")
        if op == CHUNK and name_bytes == 0 and chance.random() < 0.8:
            inner = _mcap_records(body[40:])
            if inner:
                records = _mcap_bytes(_reordered(chance, inner, changed))
                head = body[:16] + struct.pack("<QI", len(records), 0) + body[28:32]
                return op, head + struct.pack("<Q", len(records)) + records
        kind = chance.randrange(6)
        if kind == 0:
            return chance.choice((0, 1, 2, 3, 4, 5, 6, 7, 8, 15, 255)), body
        if kind == 1:
            return op, body[: chance.randrange(len(body) + 1)]
        if kind == 2 and any(b"0" <= bytes([b]) <= b"9" for b in body[:2000]):
            return op, _changed(chance, body.decode("latin-1")).encode("latin-1", "replace")
        return op, _overwritten(chance, body)

    records = _mcap_records(seed[8:-8])
    for _ in range(chance.choice((1, 1, 2, 3))):
        records = _reordered(chance, records, changed) if records else records
    return MCAP_MAGIC + _mcap_bytes(records) + MCAP_MAGIC


BAG_MAGIC = b"#ROSBAG V2.0\n"
Fields = list[tuple[bytes, bytes]]


def _bag_records(data: bytes) -> list[tuple[Fields, bytes]]:
    out, at = [], 0
    while at + 8 <= len(data):
        size = int.from_bytes(data[at : at + 4], "little")
        head, at = data[at + 4 : at + 4 + size], at + 4 + size
        fields: Fields = []
        while len(head) >= 4:
            n = int.from_bytes(head[:4], "little")
            name, _, value = head[4 : 4 + n].partition(b"=")
            fields.append((name, value))
            head = head[4 + n :]
        size = int.from_bytes(data[at : at + 4], "little")
        out.append((fields, data[at + 4 : at + 4 + size]))
        at += 4 + size
    return out


def _bag_bytes(records: list[tuple[Fields, bytes]]) -> bytes:
    out = b""
    for fields, body in records:
        heads = [name + b"=" + value for name, value in fields]
        head = b"".join(struct.pack("<I", len(h)) + h for h in heads)
        out += struct.pack("<I", len(head)) + head + struct.pack("<I", len(body)) + body
    return out


def mutate_bag(chance: random.Random, seed: bytes) -> bytes:
    """Change header fields and data of a ROS 1 bag's records, also in chunks, and keep its framing whole."""
    if chance.random() < 0.15:
        return mutate_bytes(chance, seed)

    def changed(record: tuple[Fields, bytes]) -> tuple[Fields, bytes]:
        fields, body = record
        if dict(fields).get(b"compression") == b"none" and chance.random() < 0.8:
            inner = _bag_bytes(_reordered(chance, _bag_records(body), changed))
            return [(k, struct.pack("<I", len(inner)) if k == b"size" else v) for k, v in fields], inner
        if fields and chance.random() < 0.5:
            i = chance.randrange(len(fields))
            name, value = fields[i]
            new = chance.choice((_overwritten(chance, value), _overwritten(chance, value), value[:-1], b"", b"x" * 9))
            fields = [*fields[:i], *([] if chance.random() < 0.2 else [(name, new)]), *fields[i + 1 :]]
            return fields, body
        return fields, _overwritten(chance, body) if chance.random() < 0.8 else body[: len(body) // 2]

    records = _bag_records(seed[len(BAG_MAGIC) :])
    for _ in range(chance.choice((1, 1, 2, 3))):
        records = _reordered(chance, records, changed) if records else records
    return BAG_MAGIC + _bag_bytes(records)


SCHEMES = (
    "DROP TABLE messages; CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, "
    "data BLOB GENERATED ALWAYS AS (zeroblob(200000000))); INSERT INTO messages(topic_id, timestamp) "
    "VALUES (1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (1, 6), (1, 7), (1, 8), (1, 9)",
    "DROP TABLE messages; CREATE VIEW messages AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
    "SELECT x AS id, 1 AS topic_id, x AS timestamp, x'00' AS data FROM c",
    "DROP TABLE topics; CREATE TABLE topics(id, name, type, serialization_format, offered_qos_profiles)",
    "ALTER TABLE topics RENAME COLUMN type TO kind",
    "ALTER TABLE messages RENAME COLUMN data TO body",
    "DELETE FROM topics",
    "DELETE FROM messages",
    "UPDATE messages SET timestamp = timestamp || ''",
    "UPDATE messages SET topic_id = topic_id + 1",
    "CREATE TABLE messages2 AS SELECT * FROM messages; DROP TABLE messages; ALTER TABLE messages2 RENAME TO messages",
)


def mutate_database(chance: random.Random, seed: bytes) -> bytes:
    """Change values, columns and tables of an SQLite database."""
    if chance.random() < 0.2:
        return mutate_bytes(chance, seed)
    base = sqlite3.connect(":memory:")
    base.deserialize(seed)
    tables = [row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for _ in range(chance.choice((1, 1, 2, 3))):
        try:
            if chance.random() < 0.2:
                base.executescript(chance.choice(SCHEMES))
                continue
            table = chance.choice(tables)
            columns = [row[1] for row in base.execute(f"PRAGMA table_info({table})")]
            value = chance.choice(
                [None, -1, 0, 2**62, -(2**62), 1.5, "a", "", b"", b"\0\1\0\0", "x" * 5000, b"\xff" * 40]
            )
            column, where = chance.choice(columns), chance.choice(("", " WHERE rowid = 1", " WHERE rowid % 2"))
            base.execute(f"UPDATE {table} SET {column} = ?{where}", (value,))
        except sqlite3.Error:
            continue
    base.commit()
    return base.serialize()


# ---------------------------------------------------------------------- pictures
def png_bytes(width: int, height: int, data: bytes) -> bytes:
    """Return a PNG, RGB with 8 bits a colour, of the rows with their filter bytes."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(data)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(kind, body) for kind, body in chunks)


def _png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def mutate_png(chance: random.Random, seed: bytes) -> bytes:
    """Change chunks of a PNG and keep their check sums true."""
    if chance.random() < 0.2:
        return mutate_bytes(chance, seed)
    chunks, at = [], 8
    while at + 8 <= len(seed):
        size = int.from_bytes(seed[at : at + 4], "big")
        chunks.append((seed[at + 4 : at + 8], seed[at + 8 : at + 8 + size]))
        at += 12 + size

    def changed(chunk: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
        kind, body = chunk
        if kind == b"IHDR" and chance.random() < 0.7:
            sides = chance.choice(((0, 0), (1, 2**31 - 1), (60000, 60000), (2, 3), (3, 2)))
            return kind, struct.pack(">II", *sides) + body[8:]
        return kind, _overwritten(chance, body)

    for _ in range(chance.choice((1, 1, 2))):
        chunks = _reordered(chance, chunks, changed) if chunks else chunks
    return seed[:8] + b"".join(_png_chunk(kind, body) for kind, body in chunks)


def mutate_skin(chance: random.Random, seed: bytes) -> bytes:
    """Change counts, indices, numbers and names of a skin, and mostly keep the lengths in agreement with the counts."""
    counts = list(struct.unpack_from("<4i", seed))
    sizes = [12 * counts[0], 8 * counts[1], 12 * counts[2]]
    ends = [16, *(16 + sum(sizes[: k + 1]) for k in range(3))]
    blocks = [bytearray(seed[a:b]) for a, b in itertools.pairwise(ends)]
    bones, at = [], ends[-1]
    for _ in range(counts[3]):
        covered = struct.unpack_from("<i", seed, at + 68)[0]
        bones.append(bytearray(seed[at : at + 72 + 8 * covered]))
        at += len(bones[-1])
    for _ in range(chance.choice((1, 1, 2, 4))):
        kind = chance.randrange(8)
        if kind == 0:
            counts[chance.randrange(4)] = chance.choice((-1, 0, 1, 2**31 - 1, 2**30, -(2**31), 100_000_000))
        elif kind <= 3:
            block = chance.choice([*blocks, *bones])
            i = 4 * chance.randrange(len(block) // 4)
            block[i : i + 4] = chance.choice(SKIN_NUMBERS)
        elif kind == 4:
            bone = chance.choice(bones)
            bone[:40] = chance.choice((b"b", b"c", b"", b"world", b"no", b"x" * 40, b"\xff" * 40)).ljust(40, b"\0")
        elif kind == 5:
            chance.choice(bones)[68:72] = chance.choice(SKIN_NUMBERS)
        elif kind == 6:
            bones.append(bytearray(chance.choice(bones)))
            counts[3] = min(counts[3] + chance.randrange(2), 2**31 - 1)
        else:
            k, length = chance.choice(((0, 12), (1, 8), (2, 12)))
            blocks[k] += blocks[k][:length]
            counts[k] = min(counts[k] + 1, 2**31 - 1)
    data = struct.pack("<4i", *counts) + b"".join([*blocks, *bones])
    return data if chance.random() < 0.9 else mutate_bytes(chance, data)
