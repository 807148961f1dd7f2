"""Draw docs/images/concentric-tubes.png: `python tests/helpers/tube_figures.py`."""

import sys
from pathlib import Path

import numpy as np

from pliant.base.figures import CYCLE, MUTED, WIDTH, label, legend, new_figure
from pliant.tubes import ConcentricTubes, Tube, TubesDescription
from pliant.tubes.shooting import Tip, shoot


def two(curvature):
    inner = Tube(length=0.2, curved_length=0.2, curvature=curvature, outer_radius=0.5e-3, inner_radius=0.3e-3)
    outer = Tube(length=0.2, curved_length=0.2, curvature=curvature, outer_radius=0.65e-3, inner_radius=0.55e-3)
    return ConcentricTubes(TubesDescription(name="two", tubes=(inner, outer), translation=(0.0, 0.0)))


def main(file):
    figure, axes = new_figure(1, 2, height=2.8, width=WIDTH)
    for curvature, color in ((5.0, CYCLE[0]), (12.0, CYCLE[1])):
        robot = two(curvature)
        rows = {True: [], False: []}
        for tip in np.linspace(0.05, 2 * np.pi - 0.05, 91):  # every angle at the tips belongs to one at the bases
            shot = shoot(robot, Tip(np.eye(3), np.array([0.0, tip])), np.zeros(2), np.zeros(6))
            base = shot.base_angles(robot, np.zeros(2))
            rows[shot.stability(robot, np.zeros(2))[0] == 0].append((base[1] - base[0], tip))
        for stable, points in rows.items():
            if points:
                x, y = np.degrees(np.array(sorted(points, key=lambda p: p[1]))).T
                axes[0].plot(x, y, "o" if stable else "x", color=color, markersize=3,
                             label=f"{curvature:g} 1/m, {'stable' if stable else 'unstable'}")  # fmt: skip
    axes[0].plot([0, 360], [0, 360], color=MUTED, linewidth=0.8)
    label(axes[0], "angle between the bases [deg]", "angle between the tips [deg]")
    legend(axes[0])
    path = two(12.0).follow([[0.0, a] for a in np.radians(np.arange(120.0, 301.0, 20.0))])
    for before, one in zip([path[0], *path[:-1]], path, strict=True):
        axes[1].plot(1e3 * one.position[:, 0], 1e3 * one.position[:, 1], color=CYCLE[1] if one.snapped else CYCLE[0],
                     linewidth=1.6 if one.snapped else 0.9)  # fmt: skip
        if one.snapped:
            ends = 1e3 * np.array([before.position[-1], one.position[-1]])
            axes[1].plot(ends[:, 0], ends[:, 1], ":", color=CYCLE[1])
    axes[1].set_aspect("equal")
    label(axes[1], "x [mm]", "y [mm]")
    figure.savefig(file, dpi=150)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2] / "docs/images/concentric-tubes.png")
