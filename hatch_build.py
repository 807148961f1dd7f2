"""Build hook: compile what the robots of the catalogue run, so that the wheel brings machine code.

`PLIANT_PRECOMPILE` chooses the robots: "all" (the default, some minutes), "none", or names with commas. A wheel with
code is for one version of Python and one system; one without is for all. Editable installs compile at first use.
As a program, ``python hatch_build.py ROBOT ...`` runs these robots for a moment. The word "laws" compiles the laws,
"paths" what follows paths of rods, "tendons" and "tubes" the statics of these robots, "models" kinematics and dynamics
of Franka arms for programs, which no run needs.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
DURATION = "0.02"
PACKAGES = ("icub", "talos", "g1")  # their files come from other packages
FURTHER = ([], ["--bridge", "fci:port=0,gripper_port=0"])


def wanted() -> list[str]:
    chosen = os.environ.get("PLIANT_PRECOMPILE", "all").strip()
    return [] if chosen == "none" else [name.strip() for name in chosen.split(",") if name.strip()]


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # as a program
    BuildHookInterface = object  # type: ignore[assignment, misc]


class CustomBuildHook(BuildHookInterface):  # type: ignore[misc, valid-type]
    """Adds the folder ``pliant/_compiled`` to a wheel."""

    def dependencies(self) -> list[str]:
        return list(self.metadata.core.dependencies) if wanted() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        robots = wanted()
        if version == "editable" or self.target_name != "wheel" or not robots:
            return
        self._scratch = tempfile.TemporaryDirectory(prefix="pliant-build-")
        folder = Path(self._scratch.name)
        compile_into(folder / "ship", folder / "cache", robots)
        for made in sorted((folder / "ship").iterdir()):
            build_data["force_include"][str(made)] = f"pliant/_compiled/{made.name}"
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        scratch = getattr(self, "_scratch", None)
        if scratch is not None:
            scratch.cleanup()


def register(folder: Path) -> Path:
    """Write the entry points of this project as an installation has them; return the folder.

    A build in an environment of its own has the sources, but no installation of them, and would find no wing.
    """
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = folder / f"{project['name'].replace('-', '_')}-0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0\n", encoding="utf-8")
    groups = project["entry-points"].items()
    lines = [line for group, rows in groups for line in (f"[{group}]", *(f"{k} = {v}" for k, v in rows.items()), "")]
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    return folder


def compile_into(ship: Path, cache: Path, robots: list[str]) -> None:
    """Run the robots in a process of its own that keeps what it compiles."""
    sys.path.insert(0, str(ROOT / "src"))
    from pliant.base.shipped import SHIP, family

    cache.mkdir(mode=0o700, parents=True)
    ship.mkdir(parents=True, exist_ok=True)
    registered = register(cache.with_name("registered"))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(registered), *sys.path[1:]]),
        "PLIANT_CACHE": str(cache),
        "NUMBA_CACHE_DIR": str(cache / "numba"),
        "NUMBA_CPU_NAME": family() or "generic",
        "NUMBA_CPU_FEATURES": "",
        SHIP: str(ship),
    }
    subprocess.run([sys.executable, str(Path(__file__).resolve()), *robots], env=environment, check=True)


def follow_path() -> None:
    from pliant.rods import load_robot

    robot = load_robot("2PR")
    robot.follow([robot.home().q] * 3, inverse=False)


def rest_on_tendons() -> None:
    import numpy as np

    from pliant.tendons import TendonRobot
    from pliant.tendons.robots import generic

    robot = TendonRobot(generic())
    robot.solve(pull=np.zeros(len(robot.description.tendons)))


def rest_in_tubes() -> None:
    from pliant.tubes import ConcentricTubes
    from pliant.tubes.robots import ctr_3

    ConcentricTubes(ctr_3()).solve([0.0, 0.0, 0.0])


def compute_arm() -> None:
    import numpy as np

    from pliant.franka.robots import dynamics, kinematics

    q = np.array([0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8])
    kinematics.frames(q)
    kinematics.jacobian(q)
    kinematics.inverse_kinematics(kinematics.forward_kinematics(q), q)
    dynamics.mass(q)
    dynamics.coriolis(q, q)
    dynamics.gravity(q)
    dynamics.friction(q)


STATICS = {"paths": follow_path, "tendons": rest_on_tendons, "tubes": rest_in_tubes, "models": compute_arm}


def exercise(robots: list[str]) -> None:
    """Run robots for a moment on the command line, and the laws at one point; one that cannot run ends the build."""
    from pliant.cli import main
    from pliant.laws import registered_laws
    from pliant.laws.compile import compiled
    from pliant.robots import list_robots

    laws = registered_laws() if {"all", "laws"} & set(robots) else {}
    for cls in laws.values():
        code = compiled(cls)
        for entry in ("advance", "torque", "observe", "hold", "evaluate"):
            getattr(code, entry)
    names = [r.name for r in list_robots() if r.name not in PACKAGES] if "all" in robots else robots
    names = [name for name in names if name not in ("laws", *STATICS)]
    failed = []
    for name in names:
        for bridge in FURTHER if name in ("franka", "fr3") else [[]]:
            said = io.StringIO()
            try:
                with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                    main(["run", name, "--duration", DURATION, *bridge])
            except SystemExit as end:
                if end.code:
                    failed.append(name)
                    print(f"pliant: {name} could not be run for its machine code:\n{said.getvalue()}", file=sys.stderr)
    for word, statics in STATICS.items():
        if word in robots:
            statics()
    if failed:
        sys.exit(f"pliant: no machine code of {', '.join(failed)}; PLIANT_PRECOMPILE chooses the robots")


if __name__ == "__main__":
    exercise(sys.argv[1:])
