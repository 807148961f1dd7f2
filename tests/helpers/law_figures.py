"""The figures of the laws on the page docs/actuators.md; run this file to draw them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pliant.base.figures import COLORS, CYCLE, label, legend, new_figure, saving
from pliant.engine import MujocoEngine
from pliant.laws import CompliantActuator, Mode
from pliant.muscles import McKibben, muscle_friction
from pliant.muscles.law import muscle
from pliant.robots import build_robot
from pliant.spring_tables import TableSEA

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images"


def save(figure: Any, name: str) -> None:
    """Write a figure on white: the pages are read light and dark."""
    with saving():
        figure.savefig(FOLDER / f"{name}.png", dpi=130, facecolor="white")


def spring_table() -> None:
    """Draw the default table: torque with the rows, stiffness, energy, and what lies beyond the table."""
    figure, axes = new_figure(1, 3, height=2.5)
    x = np.linspace(-0.55, 0.55, 1101)
    for clip, color in zip(("linear", "flat", "stop"), CYCLE):
        values = TableSEA(clip=clip, stop_stiffness=600.0).evaluate(x, 0.0)
        for axis, y in zip(axes, (-values.torque, values.stiffness, values.energy)):
            axis.plot(x, y, color=color, label=f'clip = "{clip}"')
    rows = np.array(TableSEA().rows)
    axes[0].plot(*rows.T, "o", ms=3.5, color="black", label="rows of the table")
    label(axes[0], "deflection [rad]", "torque [N m]", "Torque")
    label(axes[1], "deflection [rad]", "stiffness [N m/rad]", "Stiffness")
    label(axes[2], "deflection [rad]", "energy [J]", "Energy")
    axes[0].set_ylim(-90, 90)
    axes[1].set_ylim(-20, 400)
    legend(axes[0])
    save(figure, "spring-table")


def muscles() -> None:
    """Draw force over contraction, the hysteresis of the pair, and a step of the joint with trapped and flowing air."""
    law = McKibben()
    figure, axes = new_figure(1, 3, height=2.5)
    e = np.linspace(0.0, 0.35, 200)
    for pressure, color in zip((1e5, 3e5, 5e5), CYCLE):
        for k, style in ((law.end_correction, "-"), (1.0, ":")):
            p = law.replace(end_correction=k).parameters()
            force = [pressure * muscle(p, x)[0] for x in e]
            axes[0].plot(100 * e, force, style, color=color, label=f"{1e-3 * pressure:g} kPa" if style == "-" else None)
    label(axes[0], "contraction [%]", "force [N]", "One muscle (dotted: k = 1)")
    t = np.arange(0.0, 3.0, 1e-3)
    q = 0.8 * np.sin(2.0 * np.pi * t / 2.0)
    for friction, name, color in ((None, "without friction", CYCLE[0]), (muscle_friction(law), "with", CYCLE[1])):
        actuator = CompliantActuator(law, mode=Mode.SPRING_EQ_PRESET, link_friction=friction)
        found = actuator.simulate(q, None, 0.0, 2e5)
        axes[1].plot(q[500:], -found.torque[500:], color=color, label=name)
    label(axes[1], "angle [rad]", "torque [N m]", "The pair at 200 kPa")
    engine = MujocoEngine(build_robot("pam-1dof", {"mounting": "hanging"}), check=False)
    names = ("position", "equilibrium", "preset")
    ports = [engine.port(f"joint/{name}") for name in names]
    found = []
    engine.port("joint/reference_2")[0] = 2e5
    for i in range(6000):
        engine.port("joint/reference_1")[0] = 0.6 if i >= 1000 else 0.0
        engine.step()
        found.append([port[0] for port in ports])
    position, equilibrium, _ = np.array(found).T
    time = np.arange(6000) * engine.dt
    axes[2].plot(time, equilibrium, color=COLORS["equilibrium"], label="equilibrium")
    axes[2].plot(time, position, color=COLORS["link"], label="link")
    label(axes[2], "time [s]", "angle [rad]", "pam-1dof, a step")
    for axis, place in zip(axes, ("upper right", "upper left", "lower right")):
        legend(axis, loc=place)
    save(figure, "pneumatic-muscles")


if __name__ == "__main__":
    spring_table()
    muscles()
