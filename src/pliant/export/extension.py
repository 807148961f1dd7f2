"""The ``<mujoco>`` element of an exported robot: what URDF has no word for, read by `pliant.formats.urdf_extension`.

Attributes that have the value which the plain URDF gives are left out.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from pliant.formats.tags import numbers
from pliant.formats.urdf_extension import OWN_SHAPES
from pliant.model.scene import geom_colors
from pliant.ros2_control.geometry import CAPSULE, URDF_SHAPES
from pliant.ros2_control.source import FREE, SLIDE, Source

SMALLEST_RADIUS = 1e-4
"""As of `pliant.formats.urdf`: inertias of a smaller radius of gyration [m] are raised on reading unless given here."""
SHAPE_NAMES = {int(kind): name for name, kind in OWN_SHAPES.items()}
_JOINT_DEFAULTS: dict[str, ArrayLike] = {
    "armature": 0.0,
    "stiffness": (0.0, 0.0, 0.0),
    "springref": 0.0,
    "springyield": 0.0,
    "margin": 0.0,
    "group": 0,
    "actuatorgravcomp": False,
    "solreflimit": (0.02, 1.0),
    "solimplimit": (0.9, 0.95, 0.001, 0.5, 2.0),
    "solreffriction": (0.02, 1.0),
    "solimpfriction": (0.9, 0.95, 0.001, 0.5, 2.0),
}
_CONTACT_DEFAULTS: dict[str, ArrayLike] = {
    "condim": 3,
    "priority": 0,
    "solmix": 1.0,
    "solref": (0.02, 1.0),
    "solimp": (0.9, 0.95, 0.001, 0.5, 2.0),
    "margin": 0.0,
    "gap": 0.0,
    "adhesion": 0.0,
    "surfacevel": (0.0,) * 6,
    "fluidellipsoid": 0.0,
}


def _text(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    return numbers(value)


def _element(
    parent: ET.Element,
    tag: str,
    names: Mapping[str, str],
    values: Mapping[str, ArrayLike],
    defaults: Mapping[str, ArrayLike],
) -> None:
    """Write an element unless all of its values are the defaults."""
    different = {k: v for k, v in values.items() if k not in defaults or not np.array_equal(v, defaults[k])}
    if different:
        ET.SubElement(parent, tag, {**names, **{k: _text(v) for k, v in different.items()}})


def write_extension(root: ET.Element, source: Source) -> None:
    """Write the ``<mujoco>`` element."""
    extension = ET.SubElement(root, "mujoco")
    ET.SubElement(
        extension, "compiler", balanceinertia="true", fusestatic="false", discardvisual="false", strippath="false"
    )
    _write_options(extension, source)
    model = source.model
    for body in range(1, model.nbody):
        if len(source.joints_of(body)) > 1:
            compose = ET.SubElement(extension, "compose", body=source.bodies[body])
            for name in source.between(body):
                ET.SubElement(compose, "link", name=name)
    for body in range(1, model.nbody):
        _write_body(extension, source, body)
    for joint in range(model.njnt):
        _write_joint(extension, source, joint)
    rubbed = _friction_tags(source)
    for geom in range(model.ngeom):
        _write_geom(extension, source, geom, rubbed)
    for site in range(model.nsite):
        _write_site(extension, source, site)
    _write_equality(extension, source)
    _write_contact(extension, source)


# -- options ----------------------------------------------------------------------------------------------

_ENUMS = {
    "integrator": {int(v): n.removeprefix("mjINT_") for n, v in mujoco.mjtIntegrator.__members__.items()},
    "cone": {int(v): n.removeprefix("mjCONE_").lower() for n, v in mujoco.mjtCone.__members__.items()},
    "jacobian": {int(v): n.removeprefix("mjJAC_").lower() for n, v in mujoco.mjtJacobian.__members__.items()},
    "solver": {int(v): n.removeprefix("mjSOL_") for n, v in mujoco.mjtSolver.__members__.items()},
}
_INTEGRATORS = {"EULER": "Euler", "RK4": "RK4"}
_SOLVERS = {"NEWTON": "Newton"}


def _word(name: str, value: int) -> str:
    word = _ENUMS[name][value]
    if name == "integrator":
        return _INTEGRATORS.get(word, word.lower())
    return _SOLVERS.get(word, word)


def _write_options(extension: ET.Element, source: Source) -> None:
    given, default = source.model.opt, mujoco.MjOption()
    option = ET.SubElement(extension, "option")
    for name in dir(default):
        if name.startswith("_") or name in ("disableflags", "enableflags", "disableactuator"):
            continue
        value = getattr(given, name)
        if name not in ("timestep", "integrator") and np.array_equal(value, getattr(default, name)):
            continue
        option.set(name, _word(name, int(value)) if name in _ENUMS else _text(value))
    flags = {}
    for flag, word, enum in (
        ("disableflags", "disable", mujoco.mjtDisableBit),
        ("enableflags", "enable", mujoco.mjtEnableBit),
    ):
        for name, bit in enum.__members__.items():
            if name.startswith(("mjDSBL_", "mjENBL_")) and getattr(given, flag) & int(bit):
                flags[name.partition("_")[2].lower()] = word
    if flags:
        ET.SubElement(option, "flag", flags)


# -- elements ---------------------------------------------------------------------------------------------


def _write_body(extension: ET.Element, source: Source, body: int) -> None:
    model = source.model
    name, mass = source.bodies[body], float(model.body_mass[body])
    if mass == 0.0 and model.body_geomnum[body]:
        ET.SubElement(extension, "inertial", body=name, mass="0")
    elif mass > 0.0 and float(np.min(model.body_inertia[body])) < max(mass * SMALLEST_RADIUS**2, 1e-12):
        values = {
            "mass": mass,
            "pos": model.body_ipos[body] - source.offsets[body],
            "quat": model.body_iquat[body],
            "diaginertia": model.body_inertia[body],
        }
        _element(extension, "inertial", {"body": name}, values, {})
    values = {"gravcomp": float(model.body_gravcomp[body]), "mocap": bool(model.body_mocapid[body] >= 0)}
    _element(extension, "body", {"name": name}, values, {"gravcomp": 0.0, "mocap": False})


def _write_joint(extension: ET.Element, source: Source, joint: int) -> None:
    model = source.model
    dof, kind = int(model.jnt_dofadr[joint]), int(model.jnt_type[joint])
    stiffness = np.array([model.jnt_stiffness[joint], *model.jnt_stiffnesspoly[joint]])
    damping = np.array([model.dof_damping[dof], *model.dof_dampingpoly[dof]])
    defaults = dict(_JOINT_DEFAULTS)
    values: dict[str, ArrayLike] = {
        "armature": float(model.dof_armature[dof]),
        "stiffness": stiffness,
        "springyield": float(model.jnt_springyield[joint]),
        "margin": float(model.jnt_margin[joint]),
        "group": int(model.jnt_group[joint]),
        "actuatorgravcomp": bool(model.jnt_actgravcomp[joint]),
        "solreflimit": model.jnt_solref[joint],
        "solimplimit": model.jnt_solimp[joint],
        "solreffriction": model.dof_solref[dof],
        "solimpfriction": model.dof_solimp[dof],
        "damping": damping,
    }
    if kind == FREE:
        defaults |= {"damping": (0.0,) * 3, "frictionloss": 0.0}
        values["frictionloss"] = float(model.dof_frictionloss[dof])
    else:
        defaults["damping"] = (damping[0], 0.0, 0.0)
        values["springref"] = float(model.qpos_spring[model.jnt_qposadr[joint]]) if stiffness.any() else 0.0
        _add_limits(values, source, joint)
    _element(extension, "joint", {"name": source.joints[joint]}, values, defaults)


def _add_limits(values: dict[str, ArrayLike], source: Source, joint: int) -> None:
    """Add the limits of a hinge or slide that URDF's ``<limit>`` cannot give."""
    model = source.model
    low, high = model.jnt_range[joint]
    if model.jnt_limited[joint]:
        if not low < high:
            values |= {"limited": True, "range": np.array([low, high])}
    elif int(model.jnt_type[joint]) == SLIDE:
        values["limited"] = False
    if not model.jnt_actfrclimited[joint]:
        values["actuatorfrclimited"] = False
    elif not np.array_equal(model.jnt_actfrcrange[joint], [-source.effort(joint), source.effort(joint)]):
        values |= {"actuatorfrclimited": True, "actuatorfrcrange": model.jnt_actfrcrange[joint]}


def _write_geom(extension: ET.Element, source: Source, geom: int, rubbed: Mapping[int, float]) -> None:
    model = source.model
    kind = int(model.geom_type[geom])
    body = int(model.geom_bodyid[geom])
    collides = bool(source.colliding[geom])
    own = kind not in URDF_SHAPES
    values: dict[str, ArrayLike] = {
        "contype": int(model.geom_contype[geom]),
        "conaffinity": int(model.geom_conaffinity[geom]),
        "condim": int(model.geom_condim[geom]),
        "friction": model.geom_friction[geom],
        "priority": int(model.geom_priority[geom]),
        "solmix": float(model.geom_solmix[geom]),
        "solref": model.geom_solref[geom],
        "solimp": model.geom_solimp[geom],
        "margin": float(model.geom_margin[geom]),
        "gap": float(model.geom_gap[geom]),
        "adhesion": float(model.geom_adhesion[geom]),
        "surfacevel": model.geom_surfacevel[geom],
        "group": int(model.geom_group[geom]),
        "fluidellipsoid": float(model.geom_fluid[geom, 0]),
    }
    if model.geom_fluid[geom, 0]:
        values["fluidcoef"] = model.geom_fluid[geom, 1:6]
    names = {"name": source.geoms[geom]}
    defaults = dict(_CONTACT_DEFAULTS)
    if own or kind == CAPSULE:
        names["type"] = SHAPE_NAMES[kind]
        values["size"] = model.geom_size[geom][: 2 if kind == CAPSULE else 3]
    if own:
        names["body"] = source.bodies[body]
        values |= {"pos": model.geom_pos[geom] - source.offsets[body], "quat": model.geom_quat[geom]}
    as_collision = collides and not own
    defaults |= {"contype": int(collides), "conaffinity": int(collides), "group": int(not as_collision)}
    if own:
        defaults |= {"contype": 1, "conaffinity": 1, "group": 0}
    if not (collides and body in rubbed):
        defaults["friction"] = (1.0, 0.005, 0.0001)
    if collides or own:
        values["rgba"] = geom_colors(model, [geom])[0]
    _element(extension, "geom", names, values, defaults)


def _write_site(extension: ET.Element, source: Source, site: int) -> None:
    model = source.model
    name, body = model.site(site).name, int(model.site_bodyid[site])
    if not name:
        return
    values = {
        "pos": model.site_pos[site] - source.offsets[body],
        "quat": model.site_quat[site],
        "size": model.site_size[site],
        "group": int(model.site_group[site]),
        "rgba": model.site_rgba[site],
    }
    defaults = {"quat": (1.0, 0.0, 0.0, 0.0), "size": (0.005,) * 3, "group": 0, "rgba": (0.5, 0.5, 0.5, 1.0)}
    _element(extension, "site", {"name": name, "body": source.bodies[body]}, values, defaults)


def _write_equality(extension: ET.Element, source: Source) -> None:
    model = source.model
    equality = ET.Element("equality")
    for joint, row in source.constraint_of.items():
        values = {"solref": model.eq_solref[row], "solimp": model.eq_solimp[row]}
        _element(equality, "joint", {"joint1": source.joints[joint]}, values, _CONTACT_DEFAULTS)
    if len(equality):
        extension.append(equality)


def _write_contact(extension: ET.Element, source: Source) -> None:
    """Write which links do not collide, even when there are none: the element stands for Gazebo's rule."""
    model = source.model
    contact = ET.SubElement(extension, "contact")
    for first, second in source.excluded():
        ET.SubElement(contact, "exclude", body1=source.bodies[first], body2=source.bodies[second])
    for pair in range(model.npair):
        names = {f"geom{k}": source.geoms[g[pair]] for k, g in ((1, model.pair_geom1), (2, model.pair_geom2))}
        values = {
            "condim": int(model.pair_dim[pair]),
            "friction": model.pair_friction[pair],
            "solref": model.pair_solref[pair],
            "solreffriction": model.pair_solreffriction[pair],
            "solimp": model.pair_solimp[pair],
            "margin": float(model.pair_margin[pair]),
            "gap": float(model.pair_gap[pair]),
            "adhesion": float(model.pair_adhesion[pair]),
        }
        _element(contact, "pair", names, values, {})


# -- Gazebo's own tags ------------------------------------------------------------------------------------


def _friction_tags(source: Source) -> dict[int, float]:
    """Return the sliding friction of the bodies where it is not Gazebo's default of 1: the largest of their shapes'."""
    model = source.model
    out: dict[int, float] = {}
    for geom in range(model.ngeom):
        if source.colliding[geom] and int(model.geom_type[geom]) in URDF_SHAPES:
            body, mu = int(model.geom_bodyid[geom]), float(model.geom_friction[geom, 0])
            out[body] = max(out.get(body, mu), mu)
    return {body: mu for body, mu in out.items() if mu != 1.0}


def write_gazebo_tags(root: ET.Element, source: Source) -> None:
    """Write friction, joint springs and whether links collide with each other in Gazebo's words."""
    model = source.model
    for body, mu in _friction_tags(source).items():
        element = ET.SubElement(root, "gazebo", reference=source.bodies[body])
        for tag in ("mu1", "mu2"):
            ET.SubElement(element, tag).text = numbers(mu)
    for joint in source.single_joints():
        if model.jnt_stiffness[joint]:
            element = ET.SubElement(root, "gazebo", reference=source.joints[joint])
            ET.SubElement(element, "springStiffness").text = numbers(model.jnt_stiffness[joint])
            ET.SubElement(element, "springReference").text = numbers(model.qpos_spring[model.jnt_qposadr[joint]])
    bodies = sorted({int(model.geom_bodyid[g]) for g in range(model.ngeom) if source.colliding[g]} - {0})
    excluded = {tuple(sorted(pair)) for pair in source.excluded()}
    if any((a, b) not in excluded for i, a in enumerate(bodies) for b in bodies[i + 1 :]):
        ET.SubElement(ET.SubElement(root, "gazebo"), "self_collide").text = "true"
