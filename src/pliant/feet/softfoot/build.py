"""The SoftFoot on a test rig, in the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.feet.softfoot.options import SoftFootRigOptions
from pliant.feet.softfoot.parameters import ANKLE_HEIGHT
from pliant.model import Robot
from pliant.robots.catalogue import CatalogueRobot

if TYPE_CHECKING:
    import mujoco

SLIDE_DAMPING = 100.0
"""Damping of the vertical slide [N s/m] (the rig of the released scene)."""
CLEARANCE = 0.005
"""Height of the soles over the ground or the bar at the start [m].  # assumed"""


def add_carriage(spec: mujoco.MjSpec, height: float, scale: float) -> mujoco.MjsBody:
    """Add the body that carries the foot at a height [m], on the vertical joint ``slide``."""
    import mujoco

    from pliant.robots.parts import box

    carriage = spec.worldbody.add_body(name="carriage", pos=[0.0, 0.0, height])
    slide = mujoco.mjtJoint.mjJNT_SLIDE
    carriage.add_joint(name="slide", type=slide, axis=[0.0, 0.0, 1.0], damping=[SLIDE_DAMPING, 0.0, 0.0])
    box(carriage, (0.05 * scale, 0.05 * scale, 0.02 * scale), (0.0, 0.0, 0.045 * scale), "metal")
    return carriage


def add_load(spec: mujoco.MjSpec, load: float, limits: tuple[float, float]) -> None:
    """Add the actuator ``load``, which presses the joint ``slide`` down.

    Args:
        spec: the rig.
        load: force without a command [N]; the control adds to it, so that a run without commands presses the foot.
        limits: limits of the control [N].
    """
    import mujoco

    actuator = spec.add_actuator(
        name="load",
        trntype=mujoco.mjtTrn.mjTRN_JOINT,
        target="slide",
        gear=[-1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        ctrllimited=True,
        ctrlrange=list(limits),
    )
    actuator.set_to_motor()
    actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
    actuator.biasprm[0] = load


def build(options: SoftFootRigOptions) -> Robot:
    """Return the foot on a vertical slide above the ground, pressed down by the actuator ``load``.

    The force of the actuator is the option ``load`` plus its control [N]. The device ``press`` moves it: its command
    ``force`` and its request ``press`` take the whole force.
    """
    import mujoco

    from pliant.feet.model.press import Press
    from pliant.feet.model.sole import Sole
    from pliant.feet.softfoot.generator import add_softfoot, disable_islands
    from pliant.robots.parts import finished, look_at, new_spec

    s = options.scale
    spec = new_spec("softfoot", options.timestep, extent=0.3 * s, center=(0.04 * s, 0.0, 0.05 * s))
    disable_islands(spec)
    height = s * ANKLE_HEIGHT + options.bar + CLEARANCE
    carriage = add_carriage(spec, height, s)
    add_softfoot(spec, carriage, options)
    if options.bar > 0.0:
        half = 0.5 * options.bar
        spec.worldbody.add_geom(
            name="bar",
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=[half, 0.2 * s, half],
            pos=[options.bar_position, 0.0, half],
            material="wood",
        )
    add_load(spec, options.load, (-6000.0, 6000.0))
    camera = spec.worldbody.add_camera(name="side", pos=[0.25 * s, -0.55 * s, 0.16 * s])
    look_at(camera, (0.25 * s, -0.55 * s, 0.16 * s), (0.04 * s, 0.0, 0.05 * s))
    camera.fovy = 34.0
    devices = [
        Press(name="press", actuator="load", joint="slide", load=options.load),
        Sole(name="sole", body="attachment_cube", enabled=False),
    ]
    return finished(Robot(spec, devices=devices), namespace="softfoot")


ROBOT = CatalogueRobot(
    name="softfoot",
    summary="Passive adaptive foot of arches and rolling modules, on a rig that presses it down.",
    options=SoftFootRigOptions,
    function=build,
    source="Crotti et al. 2024, arXiv 2412.03191, and the numbers of the model that its authors released",
    scenarios=("load-and-release",),
    assumed=(
        "The compliance of the closure between frontal arch and metatarsus: that of the released solver parameters; "
        "the real one was never published.",
        "The shapes of arches and ankle, which touch tall obstacles only.",
        "That the released foot is a left one.",
    ),
)
