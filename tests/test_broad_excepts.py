"""Handlers of every exception: they say why, because they also catch errors of pliant itself."""

import ast
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

SOURCE = Path(__file__).resolve().parents[1] / "src" / "pliant"
BROAD = ("", "Exception", "BaseException")


def without_reason(text: str) -> list[int]:
    """Return the lines of handlers of every exception that neither end by raising nor have a comment."""
    lines = text.splitlines()
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ExceptHandler)
        and (ast.unparse(node.type) if node.type else "") in BROAD
        and not isinstance(node.body[-1], ast.Raise)
        and not any("#" in line for line in lines[node.lineno - 1 : node.body[0].end_lineno])
    ]


def test_a_handler_of_every_exception_raises_or_says_why_not():
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    suspects = {path: text for path, text in texts.items() if "except Exc" in text or "except Base" in text}
    found = [f"{path.relative_to(SOURCE)}:{n}" for path, text in suspects.items() for n in without_reason(text)]
    assert not found, "say in a comment why every exception is caught: " + ", ".join(found)


@pytest.mark.parametrize("kind", ["", " Exception", " BaseException as error"])
def test_a_handler_that_says_nothing_is_seen(kind):
    assert without_reason(f"try:\n    f()\nexcept{kind}:\n    pass\n") == [3]
    assert without_reason(f"try:\n    f()\nexcept{kind}:  # a plug-in\n    pass\n") == []
    assert without_reason(f"try:\n    f()\nexcept{kind}:\n    close()\n    raise\n") == []
