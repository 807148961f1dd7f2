"""Pictures of a model in given poses, without a display.

Drivers can end the whole process where no graphics library fits, so the pictures are made in another process, with the
back ends tried one after the other: MUJOCO_GL of the environment, else EGL, else OSMesa. Nothing here may fail a run:
whoever asks gets pictures, or the reason why there are none.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import mujoco
    from numpy.typing import ArrayLike, NDArray


def snapshots(
    model: mujoco.MjModel,
    poses: ArrayLike,
    *,
    camera: str | None = None,
    width: int = 480,
    height: int = 360,
    timeout: float = 120.0,
) -> tuple[list[NDArray[np.uint8]], str]:
    """Render a model in several poses.

    Args:
        model: a compiled `mujoco.MjModel`.
        poses: qpos of each picture, shape (n, nq).
        camera: name of a camera of the model; None for a view of the whole robot (`pliant.model.scene`).
        width: of a picture [pixels].
        height: of a picture [pixels].
        timeout: wall time that one back end may take [s].

    Returns:
        (pictures, reason): n arrays of shape (height, width, 3), or none and the reason as text.
    """
    import mujoco

    backends: Sequence[str | None]
    given = os.environ.get("MUJOCO_GL")
    if given:
        backends = (given,)
    else:
        backends = ("egl", "osmesa") if sys.platform.startswith("linux") else (None,)
    reasons = []
    with tempfile.TemporaryDirectory(prefix="pliant-") as folder:
        place = Path(folder)
        mujoco.mj_saveModel(model, str(place / "model.mjb"), None)
        np.savez(place / "job.npz", poses=np.asarray(poses, dtype=float), size=[width, height], camera=camera or "")
        for backend in backends:
            environment = dict(os.environ)
            if backend is not None:
                environment["MUJOCO_GL"] = backend
                # PyOpenGL otherwise chooses by itself, and not always the same.
                environment["PYOPENGL_PLATFORM"] = backend
            command = [sys.executable, "-m", __name__, folder]
            try:
                done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout)
            except (OSError, subprocess.TimeoutExpired) as error:
                reasons.append(f"{backend or 'default'}: {type(error).__name__}")
                continue
            if done.returncode == 0 and (place / "out.npz").is_file():
                with np.load(place / "out.npz") as out:
                    return list(out["frames"]), ""
            lines = (done.stderr or "").strip().splitlines()
            reasons.append(f"{backend or 'default'}: {lines[-1][:160] if lines else f'exit code {done.returncode}'}")
    return [], "; ".join(reasons)


def _main(folder: str) -> None:
    import mujoco

    place = Path(folder)
    model = mujoco.MjModel.from_binary_path(str(place / "model.mjb"))
    with np.load(place / "job.npz") as job:
        poses, (width, height), camera = job["poses"], job["size"], str(job["camera"])
    data = mujoco.MjData(model)
    from pliant.model.scene import overview, visual_options

    frames = []
    view: mujoco.MjvCamera | str = camera
    with mujoco.Renderer(model, int(height), int(width)) as renderer:
        for pose in poses:
            data.qpos[:] = pose
            # Positions alone: the actuators play no role in a picture.
            mujoco.mj_fwdPosition(model, data)
            if not view:
                view = overview(model, data, aspect=float(width) / float(height))
            renderer.update_scene(data, view, visual_options(model))
            frames.append(renderer.render().copy())
    np.savez(place / "out.npz", frames=np.array(frames, dtype=np.uint8))


if __name__ == "__main__":
    _main(sys.argv[1])
