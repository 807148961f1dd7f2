"""The playable 3D scenes of the page docs/gallery.md; `make scenes` writes them into docs/playable, which git ignores.

They are the films of experiments, one scene each, in the format of viser's static client; the client is that of the
installed viser. Without them the page shows pictures.

    python tests/helpers/scenes.py [NAME ...]
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "playable"
LARGEST = 10_000_000
"""Most bytes of all scenes and of the program that plays them."""
SCENES = {
    "arm-soft": ("box", "soft", "qbmove-5dof", "The soft arm is stopped by the box."),
    "arm-stiff": ("box", "stiff", "qbmove-5dof", "The stiff arm pushes the box along."),
    "softfoot": ("softfoot-statics", "SoftFoot", "softfoot", "A SoftFoot is pressed on a bar with 300 N."),
    "biped": ("softfoot-walk", "soft feet", "biped", "The biped walks over a bar on soft feet."),
    "hexapod": ("cpr-stewart", "6PFR, revolute", "Stewart_Gough_6PFR", "A hexapod of elastic rods moves its plate."),
    "franka": ("franka-torque", "no friction", "franka", "A Franka arm follows a trajectory by torques."),
}
"""Scene -> experiment, title of the scene in its film, picture in its place, what is seen."""


def build(names: list[str], folder: Path = FOLDER) -> dict[str, int]:
    """Write scenes and viser's client; return the size of each scene [bytes]."""
    from pliant.experiments import Context, find_experiment
    from pliant.page.playable import playable_scene, write_client
    from pliant.recording.motion import Motion

    write_client(folder)
    films = {}
    sizes = {}
    for name in names or SCENES:
        source, title, _, _ = SCENES[name]
        if source not in films:
            experiment = find_experiment(source)
            assert not isinstance(experiment.films, str)
            with tempfile.TemporaryDirectory() as scratch:
                context = Context(output=Path(scratch), quick=True)
                films[source] = experiment.films(context, experiment.options_class())[0]
        film = films[source]
        shot = next(shot for shot in film.shots if shot.title == title)
        content = playable_scene(Motion(model=shot.model, time=film.time / film.speed, poses=shot.poses), title=title)
        (folder / f"{name}.viser").write_bytes(content)
        sizes[name] = len(content)
        print(f"{name}: {len(content) / 1e3:.0f} kB")
    made = sorted(path.stem for path in folder.glob("*.viser") if path.stem in SCENES)
    (folder / "scenes.json").write_text(json.dumps(made), encoding="utf-8")
    return sizes


if __name__ == "__main__":
    build(sys.argv[1:])
    if (size := sum(path.stat().st_size for path in FOLDER.iterdir())) > LARGEST:
        sys.exit(f"{FOLDER} has {size} bytes; must have at most {LARGEST}")
