"""Read XML elements of robot descriptions: texts, numbers, flags, vectors and poses, with faults that say where."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from pliant.base.documents.xml_tree import file_of, line_of
from pliant.base.errors import ModelError, nearest
from pliant.base.numerics import Array
from pliant.base.options import parse_bool, parse_number, parse_vector
from pliant.base.spatial import quaternion_from_rpy


def place_of(element: ET.Element, file: str | Path | None) -> str:
    """Return ``file:line: ``, which notes begin with."""
    return f"{file_of(element, file) or 'description'}:{line_of(element) or '?'}: "


def link_of(joint: ET.Element, end: str) -> str:
    """Return the link at an end of a joint, as URDF or SDF has it; "" for none."""
    element = joint.find(end)
    return "" if element is None else element.get("link") or (element.text or "").strip()


def library_of(filename: str) -> str:
    """Return the file name of a plugin without its folder."""
    return re.split(r"[/\\]", filename.strip())[-1]


def numbers(values: object) -> str:
    """Return numbers as text, each such that it reads as the same number again."""
    return " ".join(repr(float(v)) if v else "0" for v in np.ravel(np.asarray(values, dtype=float)))


class Sink:
    """Notes and faults of one description, with file and line.

    Args:
        file: name of the file, for messages.
        notes: what is read otherwise than it is written, or left out; None for a new list.
    """

    def __init__(self, file: str | Path | None, notes: list[str] | None = None) -> None:
        self.file = file
        self.notes: list[str] = [] if notes is None else notes

    def note(self, element: ET.Element, text: str) -> None:
        """Add a note on an element."""
        self.notes.append(place_of(element, self.file) + text)

    def fail(self, element: ET.Element, message: str, field: str | None = None) -> ModelError:
        """Return an error at an element."""
        return ModelError(message, file=file_of(element, self.file), line=line_of(element), field=field)


class Tags(Sink):
    """One element: its children by path and its attributes, checked.

    A value that is missing takes a default. One that is wrong is handed to `report`, which raises it; a reader that
    names all faults of an element at once overrides that.

    Args:
        element: the element.
        who: how messages name it, such as "sensor 'imu'".
        file: name of the file, for messages.
        notes: of the description; None for a new list.
    """

    def __init__(
        self, element: ET.Element, who: str, file: str | Path | None = None, notes: list[str] | None = None
    ) -> None:
        super().__init__(file, notes)
        self.element, self.who = element, who

    def fault(self, message: str, field: str | None = None, element: ET.Element | None = None) -> ModelError:
        """Return an error at an element: that given, the child of the field's name, or this one."""
        if element is None and field:
            element = self.element.find(field)
        where = self.element if element is None else element
        return self.fail(where, f"{self.who}: {message}" if self.who else message, field)

    def report(self, fault: ModelError) -> None:
        """Take note of a wrong value."""
        raise fault

    def inner(self, element: ET.Element, who: str | None = None) -> Tags:
        """Return the reader of an element within this one."""
        return Tags(element, self.who if who is None else who, self.file)

    # -- children ---------------------------------------------------------------------------------------

    def child(self, path: str) -> ET.Element | None:
        """Return the first child at a path, or None."""
        return self.element.find(path)

    def text(self, path: str, default: str = "") -> str:
        """Return the text of a child."""
        node = self.child(path)
        return default if node is None else (node.text or "").strip()

    def number(
        self, path: str, default: float, *, least: float = -math.inf, most: float = math.inf, whole: bool = False
    ) -> float:
        """Return the number that a child holds; finite and within the bounds."""
        node = self.child(path)
        if node is None:
            return default
        try:
            value = parse_number((node.text or "").strip(), f"<{path}>", integer=whole)
            if not (math.isfinite(value) and least <= value <= most):
                low = "" if math.isinf(least) else f" >= {least:g}"
                top = "" if math.isinf(most) else f"{' and' if low else ''} <= {most:g}"
                raise ModelError(f"<{path}> is {value:g}; must be a finite number{low}{top}")
        except ModelError as error:
            self.report(self.fault(error.message, path, node))
            return default
        return value

    def flag(self, path: str, default: bool) -> bool:
        """Return the truth value that a child holds."""
        node = self.child(path)
        if node is None:
            return default
        try:
            return parse_bool((node.text or "").strip(), f"<{path}>")
        except ModelError as error:
            self.report(self.fault(error.message, path, node))
            return default

    def vector(self, path: str, count: int) -> list[float] | None:
        """Return the finite numbers that a child holds, or None without the child."""
        node = self.child(path)
        if node is None:
            return None
        text = (node.text or "").strip()
        try:
            numbers = parse_vector(text, f"<{path}>", count)
            if not all(map(math.isfinite, numbers)):
                raise ModelError(f"<{path}> is {text!r}; must be finite numbers")
        except ModelError as error:
            self.report(self.fault(error.message, path, node))
            return None
        return numbers

    def pose(self, path: str = "pose") -> tuple[Array, Array]:
        """Return position [m] and quaternion of a pose: x y z roll pitch yaw, in metres and radians."""
        node = self.child(path)
        if node is None or not ((node.text or "").strip() or node.attrib):
            return np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        for attribute in ("relative_to", "frame"):
            if node.get(attribute):
                message = (
                    f"<{path} {attribute}={node.get(attribute)!r}> is not read; must be a pose in the link's frame"
                )
                raise self.fault(message, path, node)
        if node.get("rotation_format") == "quat_xyzw":
            x, y, z, qx, qy, qz, qw = self.vector(path, 7) or [0.0] * 7
            return np.array([x, y, z]), np.array([qw, qx, qy, qz])
        numbers = np.array(self.vector(path, 6) or [0.0] * 6)
        if node.get("degrees", "").strip().lower() in ("true", "1"):
            numbers[3:] = np.radians(numbers[3:])
        return numbers[:3], quaternion_from_rpy(numbers[3:])

    # -- attributes -------------------------------------------------------------------------------------

    def name(self, attribute: str = "name", valid: Iterable[str] | None = None) -> str:
        """Return an attribute that must be there and, with ``valid``, be one of these names."""
        value = self.element.get(attribute, "")
        if not value:
            raise self.fault(f"the attribute {attribute!r} is missing", attribute, self.element)
        if valid is not None and value not in valid:
            raise self.fault(f"{attribute} is {value!r}; {nearest(value, valid)}", attribute, self.element)
        return value

    def attribute_number(self, attribute: str, default: float) -> float:
        """Return the finite number that an attribute holds."""
        text = self.element.get(attribute)
        if text is None:
            return default
        try:
            value = float(parse_number(text, attribute))
            if not math.isfinite(value):
                raise ModelError(f"{attribute} is {value}; must be a finite number")
        except ModelError as error:
            self.report(self.fault(error.message, attribute, self.element))
            return default
        return value
