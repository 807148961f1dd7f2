"""Where things are declared: file and line of classes and functions, and the docstrings under fields."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import linecache
import re
import sys
import types
from collections.abc import Iterator
from typing import TypedDict

from pliant.base.errors import PliantError

DESCRIBED = "pliant.description"
"""Key of a field's metadata for a description that stands in no file."""


def place_of(thing: object) -> str:
    """Return where a class or function is defined, ``file:line``; its dotted name where there is no file."""
    known = getattr(thing, "__pliant_place__", None)
    if known is not None:
        return known
    thing = getattr(thing, "func", thing)  # of functools.partial
    code = getattr(inspect.unwrap(thing) if callable(thing) else thing, "__code__", None)
    if code is not None:
        return f"{code.co_filename}:{code.co_firstlineno}"
    if isinstance(thing, type):
        file = file_of(thing)
        node = _class_node(thing)
        return f"{file}:{node.lineno}" if file and node is not None else f"{thing.__module__}.{thing.__qualname__}"
    return f"{type(thing).__module__}.{type(thing).__qualname__}"


class CodePlace(TypedDict):
    """Where a function is written, as errors take it."""

    file: str
    line: int


def code_place(function: types.FunctionType) -> CodePlace:
    """Return where a function is written."""
    return {"file": function.__code__.co_filename, "line": function.__code__.co_firstlineno}


def file_of(cls: type) -> str:
    """Return the file of the module of a class; "" without one."""
    return getattr(sys.modules.get(cls.__module__), "__file__", None) or ""


@functools.cache
def _class_node(cls: type) -> ast.ClassDef | None:
    """Return the definition of a class in its file; of several with its name, the one that declares its fields."""
    file = file_of(cls)
    if not file:
        return None
    fields = list(vars(cls).get("__annotations__", {}))
    text = "".join(linecache.getlines(file))

    def declares_them(node: ast.ClassDef) -> bool:
        return list(dict.fromkeys(name for name, _, _ in _declared_fields(node))) == fields

    alone = _only_class(cls.__qualname__, text)
    if alone is not None and declares_them(alone):
        return alone
    found = _classes_of(file, text).get(cls.__qualname__, ())
    return next((node for node in reversed(found) if declares_them(node)), found[-1] if found else None)


def _only_class(name: str, text: str) -> ast.ClassDef | None:
    """Return a class that begins at the margin once in a text; None where that is unclear.

    It parses the lines of the class alone: parsing whole files took half the time of a list of experiments.
    """
    head = f"\nclass {name}"
    start = text.find(head)
    if start < 0 or text.find(head + "(", start + 1) >= 0 or text.find(head + ":", start + 1) >= 0:
        return None
    end = re.search(r"\n(?![\s#])", text[start + 1 :])
    lines = text[start + 1 : start + 1 + end.start()] if end else text[start + 1 :]
    try:
        (node,) = ast.parse("\n" * (text.count("\n", 0, start) + 1) + lines).body
    except (SyntaxError, ValueError):  # a text or a header with lines at the margin
        return None
    return node if isinstance(node, ast.ClassDef) and node.name == name else None


@functools.lru_cache(maxsize=64)
def _classes_of(file: str, text: str) -> dict[str, list[ast.ClassDef]]:
    found: dict[str, list[ast.ClassDef]] = {}

    def walk(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                found.setdefault(f"{prefix}{child.name}", []).append(child)
                walk(child, f"{prefix}{child.name}.")
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                walk(child, f"{prefix}{child.name}.<locals>.")
            elif isinstance(child, ast.stmt):
                walk(child, prefix)

    try:
        walk(ast.parse(text, file), "")
    except SyntaxError:  # the file has changed since it was imported
        return {}
    return found


def _declared_fields(node: ast.ClassDef) -> Iterator[tuple[str, int, str]]:
    """Yield name, line and docstring of the annotated names of a class."""
    for statement, after in zip(node.body, [*node.body[1:], None], strict=True):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        doc = ""
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            doc = " ".join(after.value.value.split())
        yield statement.target.id, statement.lineno, doc


@functools.cache
def field_documentation(cls: type, strict: bool = False) -> dict[str, tuple[int, str]]:
    """Return line and docstring of the fields that a class declares itself."""
    found: dict[str, tuple[int, str]] = {}
    node = _class_node(cls)
    if node is not None:
        for name, line, doc in _declared_fields(node):
            if name in found and strict:
                file = file_of(cls)
                raise PliantError(
                    f"the option {name!r} of {cls.__qualname__} is declared twice, at {file}:{found[name][0]} and "
                    f"{file}:{line}",
                    field=name,
                )
            found[name] = (line, doc)
    for field in dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ():
        if DESCRIBED in field.metadata:
            found[field.name] = (0, field.metadata[DESCRIBED])
    return found
