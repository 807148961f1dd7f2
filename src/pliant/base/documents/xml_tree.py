"""XML as element trees with line numbers, without entities and within limits."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING
from xml.parsers import expat

from pliant.base.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

MAX_DEPTH = 200
"""Deepest nesting of elements."""
MAX_PARTS = 1_000_000
"""Most elements and attributes of a text; a million take 2 s and 400 MB."""


class Node(ET.Element):
    """An XML element that knows the line on which its tag opens."""

    line: int = 0
    file: str | Path | None = None
    """File of an element that was put in from another one; None for that of the document."""

    if TYPE_CHECKING:  # the elements below a Node are Nodes

        def __iter__(self) -> Iterator[Node]: ...
        def iter(self, tag: str | None = None) -> Generator[Node]: ...


def line_of(element: ET.Element) -> int | None:
    """Return the line of an element, or None where it was not read from a file."""
    return getattr(element, "line", 0) or None


def file_of(element: ET.Element, file: str | Path | None) -> str | Path | None:
    """Return the file of an element of a document, which is another one where it was put in from there."""
    return getattr(element, "file", None) or file


def parse_xml(data: bytes, file: str | Path | None = None, *, doctype: bool = False) -> Node:
    """Return the root element of an XML text.

    Document types and entities are refused: robot descriptions need none, and they can make a small file expand
    without end or read other files.

    Args:
        data: the text, encoded as its declaration says (UTF-8 without one).
        file: name of the file, for messages.
        doctype: accept a document type that is only named; it is not read, and entities stay refused.

    Raises:
        ModelError: not well-formed, with the line; a document type; elements nested too deeply, or too many of them.
    """
    # A declaration must stand first in XML; blank lines ahead of it are passed over, and counted.
    text = data.lstrip()
    skipped = data[: len(data) - len(text)].count(b"\n")
    parser = expat.ParserCreate()
    parser.buffer_text = True
    root: list[Node] = []
    stack: list[Node] = []
    last: list[Node] = []  # the element that closed last in the present parent, for its tail
    parts = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal parts
        node = Node(tag, attributes)
        node.line = parser.CurrentLineNumber + skipped
        parts += 1 + len(attributes)
        if parts > MAX_PARTS:
            raise ModelError(f"more than {MAX_PARTS} elements and attributes", file=file, line=node.line)
        if len(stack) >= MAX_DEPTH:
            raise ModelError(f"elements are nested deeper than {MAX_DEPTH}", file=file, line=node.line)
        if stack:
            stack[-1].append(node)
        else:
            root.append(node)
        stack.append(node)
        last.clear()

    def end(_tag: str) -> None:
        last[:] = [stack.pop()]

    def characters(value: str) -> None:
        if last:
            last[0].tail = (last[0].tail or "") + value
        elif stack:
            stack[-1].text = (stack[-1].text or "") + value

    def refuse(*_: object) -> None:
        raise ModelError(
            "a document type (<!DOCTYPE ...>) or entity is not accepted in a robot description; remove it",
            file=file,
            line=parser.CurrentLineNumber + skipped,
        )

    def start_doctype(_name: str, _system: str | None, _public: str | None, inside: int) -> None:
        if inside or not doctype:
            refuse()

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = start_doctype
    parser.SkippedEntityHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise ModelError(
            f"not well-formed XML: {expat.ErrorString(error.code)} in column {error.offset + 1}",
            file=file,
            line=error.lineno + skipped,
        ) from error
    except (ValueError, LookupError) as error:
        raise ModelError(f"not readable as XML: {error}", file=file) from error
    return root[0]
