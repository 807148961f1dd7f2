"""Write type stubs of MuJoCo, which ships none, for the type checker: `python tests/helpers/mujoco_types.py typings`.

Names, arguments and types are those of the installed MuJoCo: pybind11 puts them into the docstrings.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import mujoco

HEAD = """\
from typing import Any, ClassVar, SupportsFloat, SupportsInt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mujoco import batch as batch
from mujoco.renderer import Renderer as Renderer

__version__: str
__file__: str

class _Enum:
    __members__: ClassVar[dict[str, Any]]
    name: str
    value: int
    def __init__(self, value: SupportsInt) -> None: ...
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __lt__(self, other: SupportsInt) -> bool: ...
    def __and__(self, other: SupportsInt) -> int: ...
    def __rand__(self, other: SupportsInt) -> int: ...
    def __or__(self, other: SupportsInt) -> int: ...
    def __ror__(self, other: SupportsInt) -> int: ...
    def __invert__(self) -> int: ...
    def __lshift__(self, other: SupportsInt) -> int: ...
    def __rshift__(self, other: SupportsInt) -> int: ...
    def __add__(self, other: SupportsInt) -> int: ...
    def __radd__(self, other: SupportsInt) -> int: ...
    def __sub__(self, other: SupportsInt) -> int: ...
    def __mul__(self, other: SupportsInt) -> int: ...
    def __rmul__(self, other: SupportsInt) -> int: ...

class FatalError(Exception): ...
class UnexpectedError(Exception): ...
"""
PLAIN = {"str", "bool", "bytes", "None", "int", "float"}
OWN = {name for name, value in vars(mujoco).items() if isinstance(value, type)}


def split(text: str, at: str) -> list[str]:
    """Split a text where no bracket or quotation is open."""
    parts, depth, quoted = [""], 0, ""
    for letter in text:
        if quoted:
            quoted = "" if letter == quoted else quoted
        elif letter in "'\"":
            quoted = letter
        else:
            depth += (letter in "([{<") - (letter in ")]}>")
        if letter == at and not depth and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def converted(text: str, *, argument: bool) -> str:
    """Return a type of pybind11 as a type of Python."""
    found = []
    for part in split(text, "|"):
        short = part.rsplit(".", 1)[-1]
        if "NDArray[" in part:
            dtype = re.search(r"NDArray\[numpy\.(\w+)\]", part)
            kind = f"NDArray[np.{dtype[1]}]" if dtype else "NDArray[Any]"
            found.append(("NDArray[Any]" if "writeable" in part else "ArrayLike") if argument else kind)
        elif part in {"typing.SupportsInt", "typing.SupportsIndex"}:
            found.append("SupportsInt")
        elif part == "typing.SupportsFloat":
            found.append("SupportsFloat")
        else:
            found.append(part if part in PLAIN else short if short in OWN else "Any")
    return (
        "Any"
        if any("Any" in kind or kind.startswith("NDArray") for kind in found)
        else " | ".join(dict.fromkeys(found))
    )


def signature(name: str, text: str, *, method: bool) -> str:
    """Return the stub of a function from its docstring's first line."""
    lines = [line for line in text.splitlines() if line.strip()]
    match = re.match(rf"{re.escape(name)}\((.*)\) -> (.*)$", lines[0]) if lines else None
    if match is None or "*args" in match[1]:
        returned = {converted(m[1], argument=False) for m in re.finditer(rf"^\d+\. {name}\(.*\) -> (.*)$", text, re.M)}
        result = returned.pop() if len(returned) == 1 else "Any"
        return f"def {name}({'self, ' if method else ''}*args: Any, **kwargs: Any) -> {result}: ..."
    arguments, optional = [], False
    for part in split(match[1], ","):
        given, *default = split(part, "=")
        label, *kind = split(given, ":")
        if label in {"*", "/"}:
            arguments.append(label)
        elif label.startswith("*"):
            arguments.append(f"{label}: Any")
        elif method and not arguments:
            arguments.append("self")
        else:
            accepted = converted(":".join(kind), argument=True)
            accepted += " | None" if default == ["None"] and "None" not in accepted else ""
            optional = optional or bool(default)
            arguments.append(f"{label}: {accepted}" + (" = ..." if optional else ""))
    return f"def {name}({', '.join(arguments)}) -> {converted(match[2], argument=False)}: ..."


def members(cls: type) -> Iterator[str]:
    """Yield the stubs of what a class has."""
    for name in dir(cls):
        value = getattr(cls, name)
        if name == "__init__":
            yield "def __init__(self, *args: Any, **kwargs: Any) -> None: ..."
        elif name in {
            "__getitem__",
            "__setitem__",
            "__len__",
            "__iter__",
            "__copy__",
            "__deepcopy__",
            "__call__",
            "__eq__",
        }:
            if name in vars(cls):
                kind = {"__len__": "int", "__eq__": "bool"}.get(name, "Any")
                rest = {"__len__": "", "__iter__": "", "__copy__": "", "__eq__": ", other: object"}
                yield f"def {name}(self{rest.get(name, ', *args: Any')}) -> {kind}: ..."
        elif name.startswith("__") or not name.isidentifier():
            continue
        elif isinstance(value, property):
            kind = re.search(r"-> (.*)", (value.fget and value.fget.__doc__) or "")
            yield f"@property\n    def {name}(self) -> {converted(kind[1], argument=False) if kind else 'Any'}: ..."
            if value.fset is not None:
                yield f"@{name}.setter\n    def {name}(self, value: Any) -> None: ..."
        elif callable(value):
            text = value.__doc__ or ""
            static = isinstance(vars(cls).get(name), staticmethod)
            yield ("@staticmethod\n    " if static else "") + signature(name, text, method=not static)
        else:
            yield f"{name}: Any"


def stub() -> str:
    """Return the stub of the module."""
    parts = [HEAD]
    for name, value in sorted(vars(mujoco).items()):
        if name.startswith("_") or re.search(rf"\b(class {name}\b|as {name}\n)", HEAD) or type(value) is type(sys):
            continue
        if isinstance(value, type) and hasattr(value, "__members__"):
            entries = (f"{member}: ClassVar[{name}]" for member in value.__members__)
            parts.append(f"class {name}(_Enum):\n    " + "\n    ".join(entries))
        elif isinstance(value, type) and value.__module__.startswith("mujoco"):
            parts.append(f"class {name}:\n    " + "\n    ".join(members(value)))
        elif callable(value) and not isinstance(value, type):
            parts.append(signature(name, value.__doc__ or "", method=False))
        else:
            parts.append(f"{name}: {type(value).__name__ if type(value).__name__ in PLAIN else 'Any'}")
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    folder = Path(sys.argv[1]) / "mujoco"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.pyi").write_text(stub())
