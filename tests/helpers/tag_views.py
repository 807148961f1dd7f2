"""A rendered tag seen from random places: how often it is found, and how well its pose is measured.

python tests/helpers/tag_views.py 500
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import mujoco
import numpy as np

from pliant.base.spatial import pose
from pliant.camera.conditions import VisionError
from pliant.camera.renderer import Renderer
from pliant.vision import AprilTagDetector
from pliant.vision.tags import add_tag

SCENE = """
<mujoco>
  <visual><headlight ambient="0.3 0.3 0.3" diffuse="0.6 0.6 0.6" specular="0 0 0"/></visual>
  <asset>
    <texture type="skybox" builtin="gradient" rgb1="0.3 0.4 0.5" rgb2="0.6 0.6 0.6" width="64" height="64"/>
  </asset>
  <worldbody><body name="eye" mocap="true"><camera name="eye" fovy="45"/></body></worldbody>
</mujoco>
"""
SIZE = 0.08
TAG = 3


@dataclass(frozen=True)
class Found:
    """Errors of one view."""

    distance: float
    tilt: float
    translation: float
    rotation: float
    depth: float


def camera_pose(rng: np.random.Generator, distances: tuple[float, float], tilt: float) -> tuple[np.ndarray, float]:
    """Return a pose X_TC of the optical frame in the tag's, which looks near the tag's middle, and its tilt [rad]."""
    away, angle = rng.uniform(*distances), rng.uniform(0.0, tilt)
    around, roll = rng.uniform(-np.pi, np.pi, 2)
    out = np.array([np.sin(angle) * np.cos(around), np.sin(angle) * np.sin(around), np.cos(angle)])
    x = np.cross([0.0, 1.0, 0.0], -out)
    x /= np.linalg.norm(x)
    R = np.column_stack([x, np.cross(-out, x), -out])
    c, s = np.cos(roll), np.sin(roll)
    R = R @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return pose(away * out + R[:, :2] @ rng.uniform(-0.03, 0.03, 2), R), angle


def views(
    count: int,
    seed: int = 0,
    *,
    distances: tuple[float, float] = (0.2, 0.6),
    tilt: float = np.radians(35.0),
    **lens: float,
) -> tuple[list[Found], int]:
    """Return the errors of the views in which the tag was found, and the number of the others."""
    spec = mujoco.MjSpec.from_string(SCENE)
    add_tag(spec, TAG, SIZE)
    model = spec.compile()
    data = mujoco.MjData(model)
    renderer = Renderer(model, "eye", (640, 480), clip=(0.01, 10.0), lens=lens)
    detector = AprilTagDetector(renderer.camera, SIZE)
    rng = np.random.default_rng(seed)
    found, missed = [], 0
    state = np.empty(mujoco.mj_stateSize(model, renderer.state_spec))
    try:
        for _ in range(count):
            X_TC, angle = camera_pose(rng, distances, tilt)
            data.mocap_pos[0] = X_TC[:3, 3]
            mujoco.mju_mat2Quat(data.mocap_quat[0], (X_TC[:3, :3] @ np.diag([1.0, -1.0, -1.0])).ravel())
            mujoco.mj_getState(model, data, state, renderer.state_spec)
            try:
                tag = detector.find(renderer.render(state, color=True).color, TAG)
            except VisionError:
                missed += 1
                continue
            X = np.linalg.inv(X_TC)
            turn = np.clip((np.trace(tag.X_CO[:3, :3].T @ X[:3, :3]) - 1.0) / 2.0, -1.0, 1.0)
            error = tag.X_CO[:3, 3] - X[:3, 3]
            found.append(
                Found(
                    distance=float(X[2, 3]),
                    tilt=angle,
                    translation=float(np.linalg.norm(error)),
                    rotation=float(np.arccos(turn)),
                    depth=float(error[2] / X[2, 3]),
                )
            )
    finally:
        renderer.close()
    return found, missed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=500)
    parser.add_argument("--seed", type=int, default=0)
    count = parser.parse_args()
    for name, lens in (("pinhole", {}), ("k1 -0.25, k2 0.06", {"k1": -0.25, "k2": 0.06})):
        found, missed = views(count.count, count.seed, **lens)
        far, turn = np.array([f.translation for f in found]) * 1e3, np.degrees([f.rotation for f in found])
        print(
            f"{name}: {len(found)} of {len(found) + missed} found; error {np.median(far):.3f} mm median, "
            f"{far.max():.2f} mm at most; {np.median(turn):.3f} deg median, {turn.max():.2f} deg at most; "
            f"depth {100 * np.mean([f.depth for f in found]):+.4f} % on average"
        )


if __name__ == "__main__":
    main()
