"""Replacement foot as a part of the robot's model."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass

import mujoco
import numpy as np

from pliant.base.errors import ModelError
from pliant.base.numerics import GRAVITY
from pliant.feet.model.closures import fit_closures, write_closures
from pliant.feet.model.contact_law import ContactLaw
from pliant.feet.model.description import FootDescription, Side
from pliant.feet.model.geometry import upward
from pliant.feet.model.soles import fit_soles, write_soles
from pliant.feet.model.support import UNMEASURED, FootSupport, measure_support
from pliant.model.interface import PartDefaults
from pliant.model.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacedFoot(PartDefaults):
    """Result of `pliant.feet.replace_foot`: placement, attachment and support of the foot."""

    name: str
    """Name of the part: the prefix without the last slash, then "/foot"."""
    body: str
    """Body that carries the foot: the link behind the robot's ankle, or a body fixed to it."""
    joint: str
    """Last joint of the ankle, whose anchor is the robot's ankle point; "" where it has no name."""
    prefix: str
    """Prefix of every name of the foot."""
    side: Side
    """Side of the robot that the foot is on."""
    foot: FootDescription
    """Description of the foot."""
    position: tuple[float, float, float]
    """Position of the foot's ankle in the body frame [m]."""
    quaternion: tuple[float, float, float, float]
    """Orientation of the foot (x forward, y left, z up) in the body frame, as a quaternion (w, x, y, z)."""
    offset: tuple[float, float]
    """Forward and upward offset of the foot's ankle from the robot's ankle [m]."""
    pitch: float
    """Pitch of the foot on the robot's ankle, positive with the toes down [rad]."""
    sole_depth: float
    """Height of the robot's ankle above the sole in the initial pose of the foot [m]."""
    old_sole_depth: float
    """Height of the robot's ankle above the old sole [m]; NaN if the old foot had no geom."""
    anchor: tuple[float, float, float]
    """Position of the robot's ankle in the body frame [m]."""
    key: str | None
    """Key frame in which the foot is flat; None for the initial pose."""
    compliances: Mapping[str, float]
    """Compliance of each loop closure, by name of the equality constraint [m/N]."""
    soles: Mapping[str, ContactLaw]
    """Spring and damper in each contact point of the soles, by name of the geom; empty where the foot has none."""
    mass_change: float = 0.0
    """Change of the robot's mass: mass after less mass before the replacement [kg]."""
    support: FootSupport = UNMEASURED
    """Support of the foot at the time of the replacement; `support_on` computes it for the current robot."""

    def prefixed(self, prefix: str) -> ReplacedFoot:
        """Return the part with a prefix added to all names of the model."""
        return dataclasses.replace(
            self,
            name=prefix + self.name,
            body=prefix + self.body,
            joint=prefix + self.joint if self.joint else "",
            prefix=prefix + self.prefix,
            key=None if self.key is None else prefix + self.key,
            compliances={prefix + name: value for name, value in self.compliances.items()},
            soles={prefix + name: law for name, law in self.soles.items()},
        )

    def install(self, spec: mujoco.MjSpec, original: mujoco.MjSpec) -> None:
        """Do nothing, because the spec already contains the foot."""

    def finish(self, model: mujoco.MjModel) -> None:
        """Set the compliance of the loop closures and the law of the soles for the current masses of the robot.

        Raises:
            ModelError: a closure or a sole no longer exists, or the time step is too long for the compliance.
        """
        fit_closures(model, self.compliances)
        fit_soles(model, self.soles)

    def export(self, spec: mujoco.MjSpec, model: mujoco.MjModel) -> None:
        """Write the compliance of the loop closures and the law of the soles into the spec of a file."""
        write_soles(spec, model, self.soles)
        write_closures(spec, model, self.compliances)

    def check(self, spec: mujoco.MjSpec) -> list[Problem]:
        """Return the problems of the foot: support of the robot, time step and contact with the ground."""
        try:
            model = spec.copy().compile()
        except (ValueError, RuntimeError):
            return []  # The check of the robot itself reports this.
        try:
            self.finish(model)
            support = self.support_on(model)
        except ModelError as error:
            return [Problem("error", self.body, error.message)]
        problems = [support_problem(self.body, support, self.foot.remark)]
        if not touches_ground(model, self.prefix):
            problems.append(no_ground(self.body))
        return problems

    def support_on(self, model: mujoco.MjModel) -> FootSupport:
        """Return the support of the foot for a compiled robot.

        Args:
            model: the robot; its mass and the height of its centre of mass in the pose with a flat foot are used.

        Raises:
            ModelError: the foot collapses under the load, or the robot has no weight.
        """
        data = mujoco.MjData(model)
        if self.key is not None:
            mujoco.mj_resetDataKeyframe(model, data, model.key(self.key).id)
        mujoco.mj_forward(model, data)
        index = model.body(self.body).id
        root = int(model.body_rootid[index])
        gravity = float(np.linalg.norm(model.opt.gravity)) or GRAVITY
        ankle = data.xpos[index] + data.xmat[index].reshape(3, 3) @ np.asarray(self.anchor)
        return measure_support(
            self.foot,
            load=float(model.body_subtreemass[root]) * gravity,
            height=float((data.subtree_com[root] - ankle) @ upward(model)),
            offset=self.offset,
            mount=self.pitch,
            gravity=gravity,
            timestep=float(model.opt.timestep),
        )


def support_problem(body: str, support: FootSupport, remark: str = "") -> Problem:
    """Return a remark on the pitch stiffness of a foot, a warning if it cannot hold the robot without feedback.

    Args:
        body: body that carries the foot.
        support: support of the foot.
        remark: remark of the foot, see `FootDescription.remark`.
    """
    short = support.ratio < 1.0
    hint = (
        "without feedback the robot falls from one foot; use a stabiliser that moves the ankle, a larger scale, a "
        "smaller closure_compliance, or forward_offset where the neutral pitch is far from 0"
    )
    return Problem(
        "warning" if short else "info",
        body,
        str(support),
        "; ".join(filter(None, [remark, hint if short else ""])),
        value=support.ratio if math.isfinite(support.ratio) else None,
        limit=1.0,
    )


def no_ground(body: str) -> Problem:
    """Return the warning that the foot can touch no ground."""
    return Problem(
        "warning",
        body,
        "no shape that is fixed to the world can touch this foot: the robot has no floor",
        "add one, such as a plane with the contact bits of MuJoCo's default",
    )


def touches_ground(model: mujoco.MjModel, prefix: str) -> bool:
    """Return whether a geom fixed to the world can collide with a foot."""
    ground = [g for g in range(model.ngeom) if model.body_weldid[model.geom_bodyid[g]] == 0]
    foot = [g for g in range(model.ngeom) if model.body(model.geom_bodyid[g]).name.startswith(prefix)]
    return any(
        (model.geom_contype[g] & model.geom_conaffinity[f]) or (model.geom_contype[f] & model.geom_conaffinity[g])
        for g in ground
        for f in foot
    )
