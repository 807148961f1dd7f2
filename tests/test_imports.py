"""The rooms of the code: imports go only downwards (docs/design.md)."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "pliant"

# Each row may import from itself (same room) and from the rows above it; rooms in one row do not see each other.
ROWS = [
    {"errors", "spatial"},
    {"ratelimit", "plugins", "options", "documents"},
    {"laws", "rods", "wire"},
    {"identification", "control", "vision"},
    {"model"},
    {"engine"},
    {"formats"},
    {"devices"},
    {"recording"},
    {"simulation"},
    {"bridges", "viewer"},
    {"clients"},
    {"robots"},
    {"loading"},
    {"sweep", "envs"},
    {"experiments"},
    {"cli"},
    {"__main__"},
]
LEVEL = {room: level for level, row in enumerate(ROWS) for room in row}
# Rooms that must not see the engine, MuJoCo or anything but the base.
PURE = {"laws", "rods", "wire", "control"}


def room_of(path: Path) -> str:
    relative = path.relative_to(SOURCE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imported_modules(path: Path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                package = ["pliant", *path.relative_to(SOURCE).parent.parts]
                base = package[: len(package) - (node.level - 1)]
                yield ".".join(base + ([node.module] if node.module else [])), node.lineno
            elif node.module == "pliant":
                yield from ((f"pliant.{alias.name}", node.lineno) for alias in node.names)
            elif node.module:
                yield node.module, node.lineno


FILES = sorted(p for p in SOURCE.rglob("*.py") if p.name != "__init__.py" or p.parent != SOURCE)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_only_downwards(path):
    here = room_of(path)
    assert here in LEVEL, f"{here} is a room that docs/design.md does not name"
    for module, line in imported_modules(path):
        parts = module.split(".")
        if here in PURE and parts[0] == "mujoco":
            pytest.fail(f"{path}:{line}: {here} must not see MuJoCo")
        if parts[0] != "pliant" or len(parts) < 2:
            continue
        there = parts[1]
        if there == here or there not in LEVEL:
            continue
        assert LEVEL[there] < LEVEL[here], f"{path}:{line}: {here} may not import {there}"
        if here in PURE:
            allowed = ROWS[0] | ({"laws", "rods"} if here == "control" else set())
            assert there in allowed, f"{path}:{line}: {here} may import only {sorted(allowed)}, not {there}"
