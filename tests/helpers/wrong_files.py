"""Documents of rods with one key or value changed, and what their readers say of it."""

import copy
import math

import pytest

from pliant.base.errors import PliantError
from pliant.rods import loaders

NAN, INF = math.nan, math.inf
NEVER = (None, NAN, INF, -INF, {"a": 1}, [[1.0]], [1.0] * 9, [], "3 bananas", "nan", [NAN] * 3)
"""Values that are valid nowhere, but for texts where any text is valid."""
ROD = {
    "length": "200 mm", "radius": 5e-4, "tip_radius": 4e-4, "E": "60 GPa", "G": 23e9, "poisson": 0.3, "density": 7800,
    "precurvature": [0.0, 1.0, 0.0], "distributed_force": [0.0, 0.0, 0.1], "distributed_moment": [0.0, 0.0, 1e-3],
}  # fmt: skip
FLAT = {"length": 0.2, "width": 2e-3, "height": 1e-3, "tip_width": 1e-3, "tip_height": 1e-3}
SOFT = {"bending": [1.0, 1.0], "torsion": 1.0, "axial": 1e4, "shear": [1e4, 1e4], "mass": 0.1}
FRAME = {"xyz": [0.1, 0.0, 0.0], "rpy": [0.0, 0.1, 0.0]}


def places(value, place=()):
    """Yield the places of a document below its root, once for parts that stand in it several times."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if not (isinstance(key, int) and key > 1):
            yield (*place, key)
            yield from places(inner, (*place, key))


def changed(data, place, value):
    out = copy.deepcopy(data)
    at = out
    for key in place[:-1]:
        at = at[key]
    if value is KeyError:
        del at[place[-1]]
    else:
        at[place[-1]] = value
    return out


def wrong(data, place):
    """Yield values that are not valid at a place."""
    was = data
    for key in place:
        was = was[key]
    text = isinstance(was, str) and not was[0].isdigit()
    empty = place[-1] in ("loads", "precurvature", "joints", "holes")  # there may be none
    yield from (v for v in NEVER if not (text and isinstance(v, str)) and not (empty and v == []))
    if isinstance(was, list):
        if not isinstance(was[0], dict):
            yield was + was[:1]
        yield "text"
    elif isinstance(was, dict):
        yield 5.0
        yield {**was, "unknown": 1}
    elif not isinstance(was, bool) and not text:
        yield True
    if text:
        yield from (5, True)


UNCHECKED = {"aliases", "summary", "source", "notes", "brief"}
"""Keys of parallel robots that no number depends on."""


def check_keys(kinds, kind, folder):
    """Check that the documents together hold every key that the reader of one of them takes.

    Args:
        kinds: name -> (reader of a document and a folder, document).
        kind: name of the one.
        folder: for files.
    """
    read, data = kinds[kind]
    found, known = set(), loaders.Reader.known
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            loaders.Reader, "known", lambda self, *keys, **more: found.update(keys) or known(self, *keys, **more)
        )
        read(data, folder)
    rods = {"rod": ROD, "flat": FLAT, "stiffness": SOFT, "frame": FRAME, "planar": {"xy": [0.0, 0.0], "angle": 0.0}}
    documents = (rods, *(document for _, document in kinds.values()))
    assert found <= {key for one in documents for place in places(one) for key in place} | UNCHECKED


def check_missing(read, data, folder):
    """Check that a missing key is named with its file and what would be valid."""
    vague, refused = [], 0
    for place in places(data):
        # The rest has defaults, which may contradict the remaining keys.
        if isinstance(place[-1], int) or place[-1] in ("joints", "xyz", "kind", "xy"):
            continue
        try:
            read(changed(data, place, KeyError), folder)
        except PliantError as fault:
            refused += 1
            text = str(fault)
            valid = any(word in text for word in ("must be", "needs", "needed", "null leaves"))
            named = str(place[-1]) in text or {"limb": "rod"}.get(place[-1], place[-1]) in text
            if not (valid and named and (".yaml" in text or ".urdf" in text)):
                vague.append((place, text))
    assert not vague, "\n".join(map(str, vague))
    assert refused >= 3


def check_wrong(read, data, folder, valid=lambda place, value: False):
    """Check that a wrong value at any place is named.

    Args:
        read: reader of a document and a folder.
        data: the document.
        folder: for files.
        valid: function of a place and a value that is true where the file may hold the value.
    """
    silent = []
    for place in places(data):
        for value in wrong(data, place):
            if valid(place, value):
                continue
            try:
                read(changed(data, place, value), folder)
            except PliantError as fault:
                names = [str(key) for key in place if isinstance(key, str)]
                if not any(name in str(fault) for name in names[-2:]):
                    silent.append((place, value, str(fault)))
            else:
                silent.append((place, value, "taken"))
    assert not silent, "\n".join(map(str, silent[:40]))
