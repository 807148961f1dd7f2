"""The inertia of every body that pliant builds: MuJoCo's XML of the model keeps it.

MuJoCo writes no inertia of a body whose centre of mass was not given, and reads the mass of its shapes in its place.
Such a body is also not where its author meant it: the centre is then the body's place in its parent.
"""

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest
from daily import SIBLINGS, by_day

from pliant import load
from pliant.base.errors import MissingDependency
from pliant.base.spatial import pose
from pliant.export.mjcf import _all_digits
from pliant.robots import list_robots

SOURCE = Path(__file__).resolve().parents[1] / "src" / "pliant"
CATALOGUE = [robot.name for robot in list_robots()]
OPTIONS = [
    ("biped", {"feet": "rigid", "controller": "walking", "actuation": "torque", "bar_count": 1, "bar_height": 0.02}),
    ("biped", {"feet": "soft", "controller": "walking", "actuation": "torque", "bar_count": 1, "bar_height": 0.02}),
    ("softfoot", {"n_chains": 3, "lump": True, "coupling": "midpoint", "tendon": "fixed", "bar": 0.02}),
    ("softfoot", {"frontal_freedom": True, "chain_spring": 100.0}),
    ("softfoot-bench", {"obstacle_height": 0.02, "module": 2}),
    ("Stewart_Gough_6PFR", {"variant": "flex"}),
    ("franka", {"hand": "vacuum"}),
    ("biped", {"feet": "soft"}),
]
"""Robots with options that add bodies: walks over a bar, the reduced feet, the rods as flexes, another gripper."""


def described(model):
    """Mass, centre [m] and inertia about it [kg m^2], both in the axes of the body, of every body by name."""
    out = {}
    for i in range(1, model.nbody):
        R = np.empty(9)
        mujoco.mju_quat2Mat(R, model.body_iquat[i])
        R = R.reshape(3, 3)
        out[model.body(i).name or i] = (model.body_mass[i], model.body_ipos[i], R * model.body_inertia[i] @ R.T)
    return out


def assert_kept(spec):
    model = spec.compile()
    for element in (*spec.meshes, *spec.hfields, *spec.textures):
        assert not element.file, "the file of a mesh is not beside the XML"
    with _all_digits():
        text = spec.to_xml()
    one, two = described(model), described(mujoco.MjModel.from_xml_string(text))
    assert one.keys() == two.keys()
    for name, (mass, center, inertia) in one.items():
        assert two[name][0] == pytest.approx(mass, rel=1e-12, abs=1e-15), f"mass of {name}"
        assert two[name][1] == pytest.approx(center, rel=1e-9, abs=1e-12), f"centre of mass of {name}"
        assert two[name][2] == pytest.approx(inertia, rel=1e-9, abs=1e-9 * np.abs(inertia).max()), f"inertia of {name}"


def built(monkeypatch, build):
    """Every spec that pliant compiles while ``build`` runs."""
    found, compile_spec = [], mujoco.MjSpec.compile

    def keep(self, *arguments):
        found.append(self.copy())
        return compile_spec(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(mujoco.MjSpec, "compile", keep)
        build()
    assert found
    return found


@pytest.mark.parametrize(
    ("name", "options"), [*by_day(((name, {}) for name in CATALOGUE), lambda case: case[0] not in SIBLINGS), *OPTIONS]
)
def test_the_xml_of_a_catalogue_robot_keeps_its_inertia(name, options):
    try:
        robot = load(name, options=options)
    except MissingDependency as missing:
        pytest.skip(str(missing))
    assert_kept(robot.assemble())


def press_benches():
    from pliant.feet.press_bench import REDUCED, stand

    foot = {**REDUCED, "seconds": 0.01, "timestep": 5e-3}
    stand(100.0, bar=(0.02, 0.05), pitch=0.1, **foot)
    stand(100.0, rigid=True, seconds=0.01)
    stand(100.0, toes=0.1, **foot)
    for servo in (("pitch", 0.05), ("roll", 0.02)):
        stand(100.0, servo=servo, **foot)


def standing_rigs():
    from pliant.feet.standing_bench import rig
    from pliant.papers.softfoot_standing import FEET, StandingOptions

    for kind in FEET:
        for locked in (False, True):
            rig(kind, StandingOptions(), 1e-3, locked=locked, pitch=0.1).compile()


def support_rig():
    from pliant.feet.model.support import _press
    from pliant.feet.softfoot import SoftFoot

    foot = SoftFoot(n_chains=1, lump=True, coupling="midpoint", tendon="fixed")
    _press(foot, 600.0, 0.05, (0.02, 0.05, 0.0, 9.81, 2e-3))


def pages_of_rods():
    from pliant.parallel.page.statics_view import _model
    from pliant.rods.loaders import load_robot

    _model(load_robot("2PR"), pose([0.0, 0.3, 0.0], np.eye(3)))


def tasks():
    from pliant.learn.envs.make import find_task, task_names

    for name in task_names():
        find_task(name).robot()


BENCHES = {
    "feet/press_bench.py": press_benches,
    "papers/softfoot_standing.py": standing_rigs,
    "feet/model/support.py": support_rig,
    "parallel/page/statics_view.py": pages_of_rods,
    "learn/envs/tasks": tasks,
}
"""What is built outside the catalogue, by the file that does it."""


@pytest.mark.parametrize("name", BENCHES)
def test_the_xml_of_a_bench_a_rig_and_a_scene_keeps_its_inertia(name, monkeypatch):
    for spec in built(monkeypatch, BENCHES[name]):
        assert_kept(spec)


def test_only_these_files_set_an_inertia_without_the_function_for_it():
    # A file that is not here uses set_inertia, which gives the centre; these give it themselves and are swept above.
    own = {
        "feet/model/replace.py", "feet/softfoot/generator.py", "export/mjcf.py", "formats/urdf_extension.py",
        "franka/robots/arm_model.py", "model/inertia.py",
    }  # fmt: skip
    sets = re.compile(r"explicitinertial\b[^=\n]*=\s*True|explicitinertial=")
    found = {str(f.relative_to(SOURCE)) for f in SOURCE.rglob("*.py") if sets.search(f.read_text(encoding="utf-8"))}
    assert found == own
