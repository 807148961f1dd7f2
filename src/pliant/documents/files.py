"""YAML and JSON files with the line of every value, so that an error can say where it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from pliant.errors import PliantError

__all__ = ["Document", "read_document"]


class Document:
    """A parsed file.

    Args:
        path: the file.
        data: what it holds: mappings, lists, numbers, texts.
        root: its node tree, for the line numbers.
    """

    def __init__(self, path: Path, data: Any, root: yaml.Node | None) -> None:
        self.path = path
        self.data = data
        self._root = root

    def line(self, *keys: str | int) -> int | None:
        """Return the line (from 1) of the value behind these keys, or of the deepest one of them that exists."""
        node = self._root
        if node is None:
            return None
        line = node.start_mark.line + 1
        for key in keys:
            if isinstance(node, yaml.MappingNode):
                found = next(((k, v) for k, v in node.value if k.value == str(key)), None)
                if found is None:
                    break
                line = found[0].start_mark.line + 1
                node = found[1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
                node = node.value[key]
                line = node.start_mark.line + 1
            else:
                break
        return line


def read_document(path: str | Path, error: type[PliantError]) -> Document:
    """Read a YAML or JSON file.

    Args:
        path: the file; JSON is read as the YAML that it is.
        error: what is raised.

    Raises:
        PliantError: of the class ``error``: no such file, no UTF-8 text, or a syntax error with its line.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as fault:
        raise error(f"the file cannot be read: {fault.strerror}", file=path) from None
    except UnicodeDecodeError as fault:
        raise error(f"the file is no UTF-8 text: {fault.reason} at byte {fault.start}", file=path) from None
    if path.suffix == ".json":
        text = text.replace("\t", " ")  # legal between JSON's tokens, not in YAML
    loader = yaml.SafeLoader(text)
    try:
        root = loader.get_single_node()
        data = None if root is None else loader.construct_document(root)
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        raise error(
            f"the file is no valid {path.suffix.lstrip('.').upper() or 'YAML'}: {fault.problem or fault.context}",
            file=path,
            line=None if mark is None else mark.line + 1,
        ) from None
    except (yaml.YAMLError, ValueError) as fault:
        raise error(f"the file is no valid YAML: {fault}", file=path) from None
    finally:
        loader.dispose()
    return Document(path, data, root)
