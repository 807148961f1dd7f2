"""YAML into plain values that remember their lines, without aliases and within limits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pliant.errors import ModelError

__all__ = ["Document", "parse_yaml"]

MAX_DEPTH = 50
"""Deepest nesting of mappings and lists."""


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML document: its values, and the line of each."""

    value: Any
    """Mappings, lists and scalars."""
    lines: dict[tuple[Any, ...], int]
    """Line of each value by the keys that lead to it."""
    file: str | Path | None
    """File that it was read from, for messages."""

    def line(self, *keys: Any) -> int | None:
        """Return the line of the value at some keys, or of the nearest value around it."""
        while keys and keys not in self.lines:
            keys = keys[:-1]
        return self.lines.get(keys)


def parse_yaml(data: bytes, file: str | Path | None = None) -> Document:
    """Return the document of a YAML text.

    Raises:
        ModelError: not well-formed, with the line; aliases, tags of objects, keys given twice, more than one document.
    """
    import yaml

    lines: dict[tuple[Any, ...], int] = {}
    try:
        loader = yaml.SafeLoader(data)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ModelError(f"not readable as YAML: {' '.join(str(error).split())}", file=file) from error

    def convert(node: yaml.Node, keys: tuple[Any, ...]) -> Any:
        line = node.start_mark.line + 1
        lines[keys] = line
        if len(keys) > MAX_DEPTH:
            raise ModelError(f"nested deeper than {MAX_DEPTH}", file=file, line=line)
        if isinstance(node, yaml.MappingNode):
            mapping: dict[Any, Any] = {}
            for key_node, value_node in node.value:
                if not isinstance(key_node, yaml.ScalarNode):
                    raise ModelError("a key is not a plain word", file=file, line=key_node.start_mark.line + 1)
                key = key_node.value
                if key in mapping:
                    raise ModelError(
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
        return loader.construct_object(node)

    try:
        _refuse_aliases(data, file)
        node = loader.get_single_node()
        if node is None:
            raise ModelError("the file holds no values", file=file)
        return Document(convert(node, ()), lines, file)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else None
        raise ModelError(f"not well-formed YAML: {error.problem or error.context}", file=file, line=line) from error
    except yaml.YAMLError as error:
        raise ModelError(f"not readable as YAML: {' '.join(str(error).split())}", file=file) from error
    except (ValueError, RecursionError) as error:
        raise ModelError(f"not readable as YAML: {error}", file=file) from error
    finally:
        loader.dispose()


def _refuse_aliases(data: bytes, file: str | Path | None) -> None:
    import yaml

    depth = 0
    for event in yaml.parse(data, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise ModelError(
                "aliases (*name) are not accepted; write the value out", file=file, line=event.start_mark.line + 1
            )
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise ModelError(f"nested deeper than {MAX_DEPTH}", file=file, line=event.start_mark.line + 1)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
