"""What the documentation site draws itself: equations."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCKS = [
    (path.relative_to(ROOT), block)
    for path in sorted((ROOT / "docs").rglob("*.md"))
    for block in re.findall(r"^```math\n(.*?)^```$", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
]
UNDRAWN = re.compile(r"\\[a-zA-Z]+|<mi>&</mi>|\$")
"""What is left in MathML of a command of LaTeX that was not understood."""


@pytest.mark.parametrize(("path", "block"), BLOCKS, ids=[f"{path}:{k}" for k, (path, _) in enumerate(BLOCKS)])
def test_every_equation_is_drawn(path, block):
    pytest.importorskip("latex2mathml", reason="latex2mathml is not installed (pip install pliant[docs])")
    namespace: dict = {}
    exec((ROOT / "packaging" / "mkdocs_hooks.py").read_text(encoding="utf-8"), namespace)
    assert "<mo" in namespace["equation"](block)
    assert not UNDRAWN.search(namespace["equation"](block))


def test_equations_are_found():
    assert len(BLOCKS) > 15
