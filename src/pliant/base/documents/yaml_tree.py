"""YAML and JSON as plain values with the line of each, without aliases and within limits."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pliant.base.documents.files import decode_text, read_file
from pliant.base.documents.json_text import MAX_INTEGER
from pliant.base.errors import ModelError, PliantError

MAX_DEPTH = 50
"""Deepest nesting of mappings and lists."""
MAX_TEXT = 4 * 2**20
"""Longest text [bytes]."""
MAX_VALUES = 100_000
"""Most values of a text, keys included; 100,000 take 0.6 s, 4 s where PyYAML has no libyaml. Long tables are written as
CSV or NPZ."""


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML document: its values, and the line of each."""

    value: Any
    """Mappings, lists and scalars."""
    lines: dict[tuple[object, ...], int]
    """Line of each value by the keys that lead to it."""
    file: str | Path | None
    """File that it was read from, for messages."""

    def line(self, *keys: object) -> int | None:
        """Return the line of the value at some keys, or of the nearest value around it."""
        while keys and keys not in self.lines:
            keys = keys[:-1]
        return self.lines.get(keys)

    def fault(self, error: type[PliantError], message: str, *keys: object) -> PliantError:
        """Return an error about the value at some keys, with file, line and field, ``events[3].at``."""
        field = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).removeprefix(".")
        return error(message, file=self.file, line=self.line(*keys), field=field or None)


def read_yaml(path: str | Path, error: type[PliantError] = ModelError) -> Document:
    """Read a YAML or JSON file; see `parse_yaml`."""
    path = Path(path)
    return parse_yaml(read_file(path, error), path, error)


def parse_yaml(data: bytes, file: str | Path | None = None, error: type[PliantError] = ModelError) -> Document:
    """Return the document of a YAML or JSON text.

    Args:
        data: the text, in UTF-8.
        file: name of the file, for messages.
        error: the exception to raise.

    Raises:
        PliantError: of the class ``error``: not well-formed, with the line; aliases, tags of objects, keys given twice,
            more than one document, too many values, no UTF-8 text.
    """
    import yaml

    if len(data) > MAX_TEXT:
        raise error(f"the file has {len(data)} bytes; must be at most {MAX_TEXT}", file=file)
    text = decode_text(data, file, error)
    kind = "JSON" if str(file).endswith(".json") else "YAML"
    if kind == "JSON":
        text = text.replace("\t", " ")  # legal between JSON's tokens, not in YAML
    try:
        if fast := getattr(yaml, "CSafeLoader", None):  # of libyaml, which takes a tenth of the time
            with contextlib.suppress(yaml.YAMLError):  # PyYAML's own loader says better what is wrong
                return _document(text, file, error, fast)
        return _document(text, file, error, yaml.SafeLoader)
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        line = mark.line + 1 if mark is not None else None
        raise error(f"the file is not valid {kind}: {fault.problem or fault.context}", file=file, line=line) from fault
    except (yaml.YAMLError, ValueError, RecursionError) as fault:
        raise error(f"the file is not valid {kind}: {' '.join(str(fault).split())}", file=file) from fault


def _document(text: str, file: str | Path | None, error: type[PliantError], loader_class: Any) -> Document:
    """Return the document of a text as a class of loaders of PyYAML reads it; `parse_yaml` says the rest."""
    import yaml

    kind = "JSON" if str(file).endswith(".json") else "YAML"
    lines: dict[tuple[object, ...], int] = {}

    def convert(node: yaml.Node, keys: tuple[object, ...]) -> object:
        line = node.start_mark.line + 1
        lines[keys] = line
        if len(keys) > MAX_DEPTH:
            raise error(f"nested deeper than {MAX_DEPTH}", file=file, line=line)
        plain = (loader.DEFAULT_MAPPING_TAG, loader.DEFAULT_SEQUENCE_TAG)
        if isinstance(node, yaml.CollectionNode) and node.tag not in plain:
            raise error(f"the file is not valid {kind}: tags ({node.tag}) are not accepted", file=file, line=line)
        if isinstance(node, yaml.MappingNode):
            mapping: dict[object, object] = {}
            for key_node, value_node in node.value:
                if not isinstance(key_node, yaml.ScalarNode):
                    raise error("a key is not a plain word", file=file, line=key_node.start_mark.line + 1)
                key = key_node.value
                if key in mapping:
                    raise error(
                        f"{key!r} is given twice, first in line {lines[(*keys, key)]}",
                        file=file,
                        line=key_node.start_mark.line + 1,
                        field=key,
                    )
                value = convert(value_node, (*keys, key))
                lines[(*keys, key)] = key_node.start_mark.line + 1
                mapping[key] = value
            return mapping
        if isinstance(node, yaml.SequenceNode):
            return [convert(item, (*keys, i)) for i, item in enumerate(node.value)]
        value = loader.construct_object(node)
        if isinstance(value, int) and abs(value) > MAX_INTEGER:
            raise error(f"the integer {node.value[:40]} is too large", file=file, line=line)
        return value

    _refuse_excess(text, file, error, loader_class)
    loader = loader_class(text)
    try:
        node = loader.get_single_node()
        if node is None:
            raise error("the file holds no values", file=file)
        return Document(convert(node, ()), lines, file)
    finally:
        loader.dispose()


def _refuse_excess(text: str, file: str | Path | None, error: type[PliantError], loader_class: Any) -> None:
    """Refuse aliases, deep nesting and too many values, before any value is made."""
    import yaml

    depth = values = 0
    for event in yaml.parse(text, Loader=loader_class):
        values += isinstance(event, yaml.NodeEvent)
        if values > MAX_VALUES:
            raise error(f"more than {MAX_VALUES} values; write a table as CSV or NPZ", file=file)
        if isinstance(event, yaml.AliasEvent):
            raise error(
                "aliases (*name) are not accepted; write the value out", file=file, line=event.start_mark.line + 1
            )
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise error(f"nested deeper than {MAX_DEPTH}", file=file, line=event.start_mark.line + 1)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
