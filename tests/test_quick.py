"""The choice of tests that `make quick` makes from what a change touches."""

from pathlib import Path

import pytest
import quick

pytestmark = pytest.mark.quick


@pytest.fixture
def tree(tmp_path):
    """A repository with two rooms, a single module and a helper."""
    for name, text in {
        "tests/laws/test_values.py": "import pytest\n\npytestmark = pytest.mark.quick\n",
        "tests/laws/test_compile.py": "from benches import ONE\n",
        "tests/rods/deep/test_kernels.py": "",
        "tests/loading/test_load.py": "",
        "tests/test_alone.py": "",
        "tests/helpers/benches.py": "ONE = 1\n",
        "tests/data/joint.urdf": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "tests"),
    [
        ("src/pliant/rods/statics.py", ["rods"]),
        ("src/pliant/rods/catalogue/a/b.yaml", ["rods"]),
        ("tests/rods/deep/test_kernels.py", ["rods"]),
        ("src/pliant/alone.py", ["test_alone.py"]),
        ("src/pliant/loading.py", ["loading"]),
        ("tests/test_alone.py", ["test_alone.py"]),
        ("tests/helpers/benches.py", ["laws/test_compile.py"]),
        ("tests/data/joint.urdf", []),
        ("src/pliant/absent/a.py", []),
        ("docs/rods.md", []),
        ("README.md", []),
    ],
)
def test_a_file_touches_the_tests_of_its_room(tree, file, tests):
    assert quick.touched([file], tree) == {tree / "tests" / name for name in tests}


def test_the_marked_modules_run_always_and_nothing_twice(tree):
    laws = tree / "tests" / "laws"
    assert quick.selected([], tree) == [laws / "test_values.py"]
    assert quick.selected(["src/pliant/laws/sea.py", "tests/test_alone.py"], tree) == [
        laws,
        tree / "tests" / "test_alone.py",
    ]


def test_the_core_has_quick_tests_and_none_of_them_is_slow():
    marked = [Path(path) for path in quick.selected([])]
    assert len(marked) >= 20
    slow = [path.name for path in marked if "@pytest.mark.slow" in path.read_text(encoding="utf-8")]
    assert not [name for name in slow if name != Path(__file__).name]
