"""The type stubs of MuJoCo that the type checker reads."""

import ast
import inspect
import re
from pathlib import Path

import mujoco
import mujoco_types
import pytest

SOURCE = Path(__file__).parents[1] / "src" / "pliant"


@pytest.fixture(scope="module")
def tree() -> ast.Module:
    return ast.parse(mujoco_types.stub())


def test_they_declare_everything_that_pliant_uses_of_mujoco(tree):
    used = {
        name
        for path in SOURCE.rglob("*.py")
        for name in re.findall(r"\bmujoco\.(mj\w+|Mj\w+)", path.read_text(encoding="utf-8"))
        if hasattr(mujoco, name)
    }
    assert len(used) > 100
    assert used <= {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)} | {
        node.target.id for node in tree.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }


def test_a_class_has_the_members_of_the_installed_one_and_no_others(tree):
    for name in ("MjModel", "MjData", "MjSpec", "MjsBody", "MjsActuator"):
        node = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)
        declared = {n.name for n in node.body if isinstance(n, ast.FunctionDef)} | {
            n.target.id for n in node.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
        }
        public = {member for member in dir(getattr(mujoco, name)) if not member.startswith("__")}
        assert public <= declared
        assert all(hasattr(getattr(mujoco, name), member) for member in declared)


def test_a_function_has_the_arguments_of_the_installed_one(tree):
    node = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "mj_step")
    assert [a.arg for a in node.args.args] == ["m", "d", "nstep"]
    assert ast.unparse(node.args.args[0].annotation) == "MjModel"
    assert "m: mujoco._structs.MjModel" in inspect.getdoc(mujoco.mj_step)
