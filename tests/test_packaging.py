"""What pliant needs: the packages that it imports are its dependencies, the others are refused in clear words."""

import ast
import importlib.metadata
import importlib.util
import json
import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import yaml

import pliant
from pliant.base.errors import MissingDependency, require

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
MODULES = {"mujoco-core": "mujoco", "pyyaml": "yaml"}
"""Package -> module, where the names differ."""


def names(requirements: list[str]) -> set[str]:
    """Return the modules that requirements bring, with those of the extras of pliant that they refer to."""
    own = re.compile(r"pliant\[(.*)\]")
    inner = [own.fullmatch(requirement) for requirement in requirements]
    extras = [name.strip() for match in inner if match for name in match[1].split(",")]
    if extras:
        plain = [r for r, match in zip(requirements, inner, strict=True) if not match]
        return names(plain).union(*(names(PROJECT["optional-dependencies"][extra]) for extra in extras))
    found = {r.split(">")[0].split("<")[0].split("=")[0].split("[")[0].split(";")[0].strip() for r in requirements}
    return {MODULES.get(name, name) for name in found}


def imported_at_start(path: Path) -> set[str]:
    """Return the packages that a module imports when it is imported itself, without those that `importing` asks for."""
    todo: list[ast.AST] = list(ast.parse(path.read_text(encoding="utf-8")).body)
    found = set()
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add((node.module or "").split(".")[0])
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += node.orelse
        elif isinstance(node, ast.With) and ast.unparse(node.items[0]).startswith("importing("):
            continue  # where the package is missing, it says what to type
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.ClassDef):
            todo += list(ast.iter_child_nodes(node))
        elif isinstance(node, ast.ExceptHandler):
            todo += node.body
    return found


def test_a_build_without_an_installation_finds_every_wing(tmp_path):
    """Else a wheel brings no code for the robots of the wings, and its first start compiles for half a minute."""
    place = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    build = importlib.util.module_from_spec(place)
    place.loader.exec_module(build)
    found = list(importlib.metadata.distributions(path=[str(build.register(tmp_path / "registered"))]))
    assert [each.metadata["Name"] for each in found] == [PROJECT["name"]]
    assert {(p.group, p.name, p.value) for p in found[0].entry_points} == {
        (group, name, value) for group, rows in PROJECT["entry-points"].items() for name, value in rows.items()
    }
    assert len(found[0].entry_points) > 10


def test_what_modules_import_when_they_are_imported_is_a_dependency():
    own = names(PROJECT["dependencies"]) | {"pliant", "llvmlite"} | set(sys.stdlib_module_names)
    plugins = set(PROJECT["entry-points"]["pytest11"].values())  # pytest itself loads them
    wrong = {}
    for path in sorted((ROOT / "src" / "pliant").rglob("*.py")):
        foreign = imported_at_start(path) - own
        if ".".join(path.relative_to(ROOT / "src").with_suffix("").parts) in plugins:
            foreign -= {"pytest"}
        if foreign:
            wrong[str(path.relative_to(ROOT))] = foreign
    assert not wrong


def test_the_version_and_its_date_are_the_same_wherever_they_are_written():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert settings["project"]["dynamic"] == ["version"]
    assert settings["tool"]["hatch"]["version"] == {"path": "src/pliant/__init__.py"}
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    sections = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert cited["version"] == pliant.__version__
    assert sections[:2] == ["Unreleased", f"{pliant.__version__} ({cited['date-released']})"]


def test_the_source_archive_has_every_file_that_tests_read():
    archive = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["sdist"]
    read = {"pyproject.toml"}  # which every source archive has
    for path in (ROOT / "tests").rglob("*.py"):
        read |= set(re.findall(r'(?:ROOT|parents\[1\]) / "([\w.-]+)"', path.read_text(encoding="utf-8")))
    assert {"requirements.lock", "requirements-hashed.lock", "mkdocs.yml", ".ci"} <= set(archive["include"])
    assert {name for name in read if (ROOT / name).exists()} <= {*archive["include"], "pyproject.toml"}
    assert [name for name in archive["include"] if not (ROOT / name).exists()] == []


def test_an_extra_is_written_once():
    extras = {name: sorted(wanted) for name, wanted in PROJECT["optional-dependencies"].items()}
    assert [(a, b) for a in extras for b in extras if a < b and extras[a] == extras[b]] == []


def test_the_tests_have_every_extra_that_a_message_of_the_core_names():
    extras = PROJECT["optional-dependencies"]
    wanted = set().union(*(names(extras[e]) for e in ("plot", "reproduce", "fit", "energy", "bags")))
    assert wanted <= names(extras["test"])


def test_the_default_dependencies_have_nothing_that_only_some_need():
    assert not names(PROJECT["dependencies"]) & {"scipy", "matplotlib", "sympy", "rosbags"}


@pytest.fixture
def without(monkeypatch):
    """Return a function that hides packages as if they were not installed."""
    known = importlib.util.find_spec

    def hide(*packages: str) -> None:
        for package in packages:
            for module in [m for m in sys.modules if m.split(".")[0] == package]:
                monkeypatch.delitem(sys.modules, module)
        monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name in packages else known(name, *a))

    return hide


def test_a_package_that_is_there_is_not_asked_for():
    require("numpy", extra="plot", purpose="a test")


def figure(folder):
    from pliant.base.figures import new_figure

    new_figure()


def filtered(folder):
    from pliant.control.ilc import low_pass

    low_pass(np.zeros(10))


def bag(folder):
    from pliant.bags.writing import BagWriter

    BagWriter(folder / "a.bag")


def report(folder):
    from pliant.experiments import reproduce

    reproduce("chirp", folder, quick=True)


def derived(folder):
    from pliant.symbolic.derivation import derive

    derive(lambda q, theta_1, k: 0.5 * k * (q - theta_1) ** 2 + 0.03125 * q, ["k"], "test.Fresh")


@pytest.mark.parametrize(
    ("package", "extra", "use"),
    [
        ("matplotlib", "plot", figure),
        ("scipy", "fit", filtered),
        ("rosbags", "bags", bag),
        ("matplotlib", "reproduce", report),
        ("scipy", "reproduce", report),
        ("sympy", "energy", derived),
    ],
)
def test_a_part_whose_package_is_missing_says_what_to_type(package, extra, use, without, tmp_path, monkeypatch):
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "cache"))
    without(package)
    with pytest.raises(MissingDependency, match=rf"{package}, which is not installed.*pliant\[{extra}\]"):
        use(tmp_path)


CONDA = {"mujoco-core": "mujoco-python", "xxhash": "python-xxhash"}
"""Package -> its assumed name on conda-forge, where it differs."""


def test_the_recipe_of_conda_forge_has_the_version_and_the_dependencies_of_the_project():
    recipe = yaml.safe_load((ROOT / "packaging" / "recipe.yaml").read_text())
    assert recipe["context"]["version"] == pliant.__version__
    assert recipe["build"]["python"]["entry_points"] == [f"{k} = {v}" for k, v in PROJECT["scripts"].items()]
    plain = [re.sub(r"\[.*?\]", "", r) for r in PROJECT["dependencies"]]
    split = [re.fullmatch(r"([\w-]+)(.*)", r) for r in plain]
    wanted = {CONDA.get(m[1], m[1]): m[2] for m in split if m}
    run = dict((*r.split(maxsplit=1), "")[:2] for r in recipe["requirements"]["run"])
    assert run.pop("python") == PROJECT["requires-python"]
    assert {run.pop("pyopengl"), run.pop("pyglfw")} == {""}  # of the extra of mujoco-core
    assert run == wanted


def test_the_image_uses_matrix_versions_and_does_not_run_as_root():
    text = (ROOT / "packaging" / "Dockerfile").read_text()
    lines = re.sub(r"\\\n\s*", " ", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)).split("\n")
    known = {"FROM", "WORKDIR", "COPY", "RUN", "LABEL", "ENV", "USER", "ENTRYPOINT", "CMD"}
    words = [line.split(maxsplit=1) for line in lines if line.strip()]
    assert {word for word, _ in words} <= known
    assert f'org.opencontainers.image.version="{pliant.__version__}"' in text
    versions = {re.search(r"python:(\d+\.\d+)", rest)[1] for word, rest in words if word == "FROM"}
    assert versions <= set(matrix_versions())
    copied = [name for word, rest in words if word == "COPY" and "--from" not in rest for name in rest.split()[:-1]]
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert [rest for word, rest in words if word == "USER"] == ["pliant"]


def matrix_versions() -> list[str]:
    """Return the versions of Python in the matrix of the workflow."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    return workflow["jobs"]["run"]["strategy"]["matrix"]["python"]


def test_the_workflow_tests_every_version_of_python_that_the_package_names():
    named = [c.rsplit(" ", 1)[1] for c in PROJECT["classifiers"] if c.startswith("Programming Language")]
    assert named == matrix_versions() == ["3.11", "3.12", "3.13", "3.14"]


def test_a_release_is_tested_before_it_is_published_and_no_secret_is_stored():
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text()
    jobs = yaml.safe_load(text)["jobs"]
    commands = [step["run"] for step in jobs["build"]["steps"] if "run" in step]
    assert ".venv/bin/python .ci/package.py" in commands
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in text


def test_the_bill_of_materials_names_every_pin_with_its_hashes(tmp_path):
    spec = importlib.util.spec_from_file_location("sbom", ROOT / "packaging" / "sbom.py")
    sbom = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sbom)
    assert sbom.main(tmp_path) == 0  # every package of the default installation has a licence
    bill = json.loads((tmp_path / "pliant.cdx.json").read_text())
    lock = (ROOT / "requirements-hashed.lock").read_text()
    assert sorted((c["name"], c["version"]) for c in bill["components"]) == sorted(sbom.pins(lock))
    assert sum(len(c["hashes"]) for c in bill["components"]) == lock.count("--hash=sha256:")
    assert bill["metadata"]["component"]["version"] == pliant.__version__
    licences = (tmp_path / "licences.md").read_text()
    assert "| numba |" in licences
    assert re.search(r"\| numpy \| \S+ \| .*BSD", licences)
