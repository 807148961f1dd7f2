"""The pictures of the page docs/gallery.md; `make gallery` draws them.

Robots are rendered; experiments are shown by one figure of their reports, which `pliant reproduce` writes first:

    python tests/helpers/gallery.py robots
    python tests/helpers/gallery.py experiments reports
    python tests/helpers/gallery.py page
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images" / "gallery"
WIDTH, HEIGHT = 480, 360
LARGEST = 60_000
"""Most bytes of a picture."""
CLOSER = 0.72
"""Distance of the camera over that of films, which leave room for motion."""
TALL = (
    "2PR",
    "Stewart_Gough_6FFR_Till",
    "biped",
    "fp3",
    "franka",
    "fr3",
    "fr3v2",
    "g1",
    "talos",
    "qbmove-5dof",
    "tdcr",
    "tdcr-v4",
    "tdcr-v6",
)
CLOSER_TALL = 0.9
"""The same for robots that fill the height of the picture."""
TWO_JOINTS = {"joint_1/equilibrium_position": 0.7, "joint_2/equilibrium_position": -0.9}
ROBOTS: dict[str, tuple[str, dict[str, float], float]] = {
    "sea-1dof": ("", {"joint/equilibrium_position": 0.7}, 3.0),
    "qbmove-1dof": ("", {"joint/equilibrium_position": 0.7, "joint/stiffness_preset": 0.3}, 3.0),
    "bavs-1dof": ("", {"joint/equilibrium_position": 0.7}, 3.0),
    "awas2-1dof": ("", {"joint/equilibrium_position": 0.7}, 3.0),
    "sea-table-1dof": ("", {"joint/equilibrium_position": 0.7}, 3.0),
    "pam-1dof": ("", {"joint/equilibrium_position": 0.9, "joint/stiffness_preset": 2.5e5}, 3.0),
    "qbmove-2dof": ("", TWO_JOINTS, 3.0),
    **dict.fromkeys(
        ("tdcr", "tdcr-v4", "tdcr-v6", "fr3-tdcr"),
        (
            "",
            {
                "tendon1/equilibrium_position": 0.4,
                "tendon2/equilibrium_position": -0.2,
                "tendon3/equilibrium_position": -0.2,
            },
            2.0,
        ),
    ),
    "qbmove-5dof": ("", {"joint_2/equilibrium_position": 0.5, "joint_4/equilibrium_position": 0.6}, 3.0),
}
"""Robots that are shown in motion: camera (as ``--video-camera`` takes it), constant commands, time of the picture."""
CAMERAS = {
    **dict.fromkeys(("franka", "fr3", "fp3", "fr3v2"), "130,-18"),
    "franka-dual": "140,-15",
    "franka-torso": "150,-18",
    "fr3-workcell": "140,-22",
    "biped": "130,-10",
    **dict.fromkeys(("talos", "g1", "icub"), "130,-8"),
    "softfoot": "60,-12,0.75",
    "softfoot-bench": "60,-12",
}
"""Cameras of robots that are shown at rest; hexapods are seen from the front."""
HEXAPOD_CAMERA = "90,-20"
FIGURES = {
    "franka-dual-arm": "overview",
    "franka-visual-servo": "side-by-side",
    "softfoot-bench": "forces",
    "softfoot-standing": "standing",
    "softfoot-walk": "bar",
    "viactors-step": "steps",
    "yarp-ft-imu": "loads",
    "yarp-impedance": "push",
}
"""Experiment -> name of the figure that is shown; the first one elsewhere. If only a full run draws this figure, a
quick one leaves the picture as it is."""


def save(picture: Any, name: str) -> None:
    """Write a picture in as good a quality as the limit allows."""
    from PIL import Image

    FOLDER.mkdir(parents=True, exist_ok=True)
    image = Image.fromarray(picture) if not isinstance(picture, Image.Image) else picture
    for quality in (88, 80, 70, 60, 50):
        image.convert("RGB").save(FOLDER / f"{name}.webp", quality=quality, method=6)
        if (FOLDER / f"{name}.webp").stat().st_size < LARGEST:
            return


def render(name: str) -> Any:
    """Return the picture of a robot of the catalogue."""
    import mujoco
    import numpy as np

    import pliant
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.films.process import _Scene
    from pliant.simulation import Simulation, sync
    from pliant.simulation.commands import command_mode

    robot = pliant.load(name)
    engine = MujocoEngine(robot, check=False)
    usual = HEXAPOD_CAMERA if name.startswith(("Stewart", "3PFR")) else ""
    camera, commands, seconds = ROBOTS.get(name, (CAMERAS.get(name, usual), {}, 0.0))
    if seconds:
        with Simulation(engine, make_devices(robot), [], pacer=sync()) as simulation:
            values: dict[str, dict[str, float]] = {}
            for place, value in commands.items():
                device, _, field = place.rpartition("/")
                values.setdefault(device, {})[field] = value
            for device, fields in values.items():
                found = simulation.devices[device]
                found.inbox.put(fields, mode=command_mode(found, fields))
            simulation.run(seconds)
    model = engine.model
    if not model.nlight:
        model.vis.headlight.ambient[:] = 0.35
        model.vis.headlight.diffuse[:] = 0.5
    scene = _Scene(model, WIDTH, HEIGHT, camera)
    state = np.empty(scene.size)
    mujoco.mj_getState(model, engine.data, state, scene.spec)
    scene.picture(state)  # places the camera
    scene._camera.distance *= CLOSER_TALL if name in TALL else CLOSER
    return scene.picture(state)


def robots(names: list[str]) -> None:
    """Render the robots, each in a process of its own: a graphics driver may end one."""
    import subprocess

    from pliant.robots import list_robots

    for name in names or [robot.name for robot in list_robots()]:
        environment = {"MUJOCO_GL": "egl", "PYOPENGL_PLATFORM": os.environ.get("MUJOCO_GL", "egl"), **os.environ}
        done = subprocess.run([sys.executable, __file__, "robot", name], env=environment, check=False)
        print(name, "done" if not done.returncode else "left out")


def experiments(reports: Path) -> None:
    """Make thumbnails of one figure of each report."""
    from PIL import Image

    for folder in sorted(path for path in reports.iterdir() if path.is_dir()):
        figures = sorted(folder.glob("*.png"))
        if not figures:
            continue
        figure = folder / f"{FIGURES[folder.name]}.png" if folder.name in FIGURES else figures[0]
        if not figure.exists():
            print(f"{folder.name}: the picture stays, because this run did not draw {figure.name}")
            continue
        image = Image.open(figure).convert("RGB")
        image.thumbnail((2 * WIDTH, 2 * HEIGHT))
        save(image, f"experiment-{folder.name}")


FAMILIES = {
    "Compliant joints and arms": (
        "sea-1dof",
        "qbmove-1dof",
        "bavs-1dof",
        "awas2-1dof",
        "qbmove-2dof",
        "qbmove-5dof",
        "sea-table-1dof",
        "pam-1dof",
    ),
    "Feet and humanoids": ("softfoot", "softfoot-bench", "biped", "talos", "g1", "icub"),
    "Franka arms": ("franka", "fr3", "fp3", "fr3v2", "fr3-workcell", "franka-dual", "franka-torso"),
    "Tendon-driven robots": ("tdcr", "tdcr-v4", "tdcr-v6", "fr3-tdcr"),
}
"""The other robots are parallel robots."""
HEAD = """# Gallery

This page shows every catalogue robot and every experiment. `pliant view NAME` opens a robot on [a page in the browser](page/viewer.md),
`pliant run NAME` simulates it, `pliant list NAME` prints its options, and `pliant reproduce NAME` runs an
[experiment](papers/experiments.md). `make gallery` draws the pictures.
"""  # noqa: E501


PLAYABLE = (
    "Click a picture to play the scene and to look at it from all sides. `make docs` makes the scenes for these "
    "pages from\nthe films of [experiments](films.md#experiments); where they are missing the pictures stay. "
    "[`pliant replay FILE --html`](films.md#pages-that-play) makes\nsuch a page of a recording of yours."
)


def cards(names: list[tuple[str, str, str]]) -> list[str]:
    """Return a table of two columns: picture, name and summary."""
    cells = [f"![{name}](images/gallery/{file}.webp)<br>`{name}`: {text}" for name, file, text in names]
    cells += [""] * (len(cells) % 2)
    rows = [f"| {cells[k]} | {cells[k + 1]} |" for k in range(0, len(cells), 2)]
    return ["| | |", "|---|---|", *rows, ""]


def scene_cards() -> list[str]:
    """Return the table of pictures that play as 3D scenes where `make scenes` has made them."""
    from scenes import SCENES

    cells = [
        f'![{text}](images/gallery/{picture}.webp){{ .playable data-scene="{name}" }}<br>{text}'
        for name, (_, _, picture, text) in SCENES.items()
    ]
    return ["| | |", "|---|---|", *(f"| {cells[k]} | {cells[k + 1]} |" for k in range(0, len(cells), 2)), ""]


def page() -> str:
    """Return the page, from the catalogue and the registered experiments of pliant."""
    from pliant.experiments.runner import list_experiments
    from pliant.robots import list_robots

    summaries = {robot.name: robot.summary.replace("|", "/") for robot in list_robots()}
    known = {name for names in FAMILIES.values() for name in names}
    families = {**FAMILIES, "Continuum parallel robots": tuple(name for name in summaries if name not in known)}
    lines = [HEAD, "## In three dimensions", "", PLAYABLE, ""]
    lines += scene_cards()
    for family, names in families.items():
        lines += [f"## {family}", ""]
        if family.startswith("Continuum"):
            lines += ["The rods are drawn thicker than they are; their colour is the bending strain.", ""]
        lines += cards([(name, name, summaries[name]) for name in names])
    lines += ["## Experiments", ""]
    found = [(e.name, f"experiment-{e.name}", e.summary.replace("|", "/")) for e in list_experiments()]
    return "\n".join([*lines, *cards([row for row in found if (FOLDER / f"{row[1]}.webp").exists()])])


if __name__ == "__main__":
    if sys.argv[1:2] == ["robot"]:
        save(render(sys.argv[2]), sys.argv[2])
    elif sys.argv[1:2] == ["experiments"]:
        experiments(Path(sys.argv[2]))
    elif sys.argv[1:2] == ["page"]:
        (FOLDER.parents[1] / "gallery.md").write_text(page(), encoding="utf-8")
    else:
        robots(sys.argv[2:])
