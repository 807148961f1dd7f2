"""The URDF text of an arm, from `pliant.franka.robots.parameters`, with primitive shapes.

The same text is what the robot serves to clients that build their dynamics from it: joints named ``joint1`` to
``joint7`` with ``limit`` and ``position_based_velocity_limits`` children, the flange as ``link8``, no other
movable joint and no end effector (the client adds the end effector and the load that the state reports).
"""

from __future__ import annotations

from pliant.franka.device.parameters import CAPSULES, DH, Arm, Link
from pliant.franka.robots.parameters import FER


def _numbers(*values: float) -> str:
    return " ".join(repr(float(v)) for v in values)


def _inertial(link: Link) -> str:
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    tensor = " ".join(f'{n}="{float(v)!r}"' for n, v in zip(names, link.inertia, strict=True))
    return (
        f'    <inertial>\n      <origin rpy="0 0 0" xyz="{_numbers(*link.center_of_mass)}"/>\n'
        f'      <mass value="{link.mass!r}"/>\n      <inertia {tensor}/>\n    </inertial>\n'
    )


def _shapes(link: int) -> str:
    text = ""
    for owner, start, end, radius in CAPSULES:
        if owner != link:
            continue
        length = sum((e - s) ** 2 for s, e in zip(start, end, strict=True)) ** 0.5
        middle = [(s + e) / 2 for s, e in zip(start, end, strict=True)]
        rpy = (0.0, 0.0, 0.0) if start[:2] == end[:2] else (0.0, 1.5707963267948966, 0.0)
        ends = "".join(
            f'    <TAG>\n      <origin rpy="0 0 0" xyz="{_numbers(*point)}"/>\n'
            f'      <geometry><sphere radius="{radius!r}"/></geometry>\n    </TAG>\n'
            for point in (start, end)
        )
        body = (
            f'    <TAG>\n      <origin rpy="{_numbers(*rpy)}" xyz="{_numbers(*middle)}"/>\n'
            f'      <geometry><cylinder length="{length!r}" radius="{radius!r}"/></geometry>\n    </TAG>\n'
        )
        text += "".join((body + ends).replace("TAG", tag) for tag in ("visual", "collision"))
    return text


def urdf(arm: Arm = FER, *, name: str | None = None, prefix: str = "") -> str:
    """Return the URDF of an arm without end effector.

    Args:
        arm: one of `pliant.franka.robots.parameters.ARMS`.
        name: of the robot; default the arm's name.
        prefix: of its links and joints; clients of the robot's interface want none, libfranka finds the flange as
            "link8" only.

    Returns:
        The text; links ``link0`` to ``link8``, joints ``joint1`` to ``joint8``, each behind the prefix.
    """
    name = name or arm.name
    limits = arm.limits
    parts = [f'<?xml version="1.0"?>\n<robot name="{name}">\n']
    for i, link in enumerate((arm.base, *arm.links)):
        parts.append(f'  <link name="{prefix}link{i}">\n{_inertial(link)}{_shapes(i)}  </link>\n')
    parts.append(f'  <link name="{prefix}link8"/>\n')
    for i in range(8):
        a, alpha, d = (float(x) for x in DH[i])
        # the z of a modified DH row lies along the new axis: in the old frame (0, -sin(alpha) d, cos(alpha) d)
        sine = float(round(alpha / 1.5707963267948966))
        xyz = (a, -sine * d if sine else 0.0, 0.0 if sine else d)
        origin = f'    <origin rpy="{_numbers(alpha, 0.0, 0.0)}" xyz="{_numbers(*xyz)}"/>\n'
        ends = f'    <parent link="{prefix}link{i}"/>\n    <child link="{prefix}link{i + 1}"/>\n'
        if i == 7:
            parts.append(f'  <joint name="{prefix}joint8" type="fixed">\n{origin}{ends}  </joint>\n')
            continue
        offset = limits.velocity_offset[i] if limits.velocity_offset else 0.0
        # an arm without a position-dependent limit: a deceleration so large that the limit never bites
        deceleration = limits.deceleration[i] if limits.deceleration else 1e6
        parts.append(
            f'  <joint name="{prefix}joint{i + 1}" type="revolute">\n{origin}{ends}    <axis xyz="0 0 1"/>\n'
            f'    <limit effort="{limits.torque[i]!r}" lower="{limits.position_min[i]!r}" '
            f'upper="{limits.position_max[i]!r}" velocity="{limits.velocity[i]!r}"/>\n'
            f'    <position_based_velocity_limits velocity_offset="{offset!r}" '
            f'deceleration_limit="{deceleration!r}"/>\n  </joint>\n'
        )
    parts.append("</robot>\n")
    return "".join(parts)
