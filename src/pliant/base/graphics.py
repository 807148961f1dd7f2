"""The graphics library that renders without a window: which one is there, and what installs one."""

from __future__ import annotations

import ctypes
import os
import sys

from pliant.base.errors import DeviceError, MissingDependency

APT = "apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri"
BACKENDS = ("egl", "osmesa", "glfw", "cgl")
LIBRARIES = {"egl": ("libEGL.so.1",), "osmesa": ("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so")}
OFF = ("off", "disable", "disabled", "false", "0")


def _loadable(names: tuple[str, ...]) -> bool:
    for name in names:
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return True
    return False


def choose_backend(purpose: str = "rendering") -> str:
    """Return the graphics library to render with: that of MUJOCO_GL, else EGL, else OSMesa, else what a display has.

    Args:
        purpose: how the message names what needs it.

    Raises:
        DeviceError: MUJOCO_GL forbids rendering, or names something else.
        MissingDependency: there is none.
    """
    asked = os.environ.get("MUJOCO_GL", "").strip().lower()
    if asked in OFF:
        raise DeviceError(f"{purpose}: MUJOCO_GL is {asked!r}, which forbids it; unset it, or use egl or osmesa")
    if asked:
        if asked not in BACKENDS:
            raise DeviceError(f"{purpose}: MUJOCO_GL is {asked!r}; unset it, or use {', '.join(BACKENDS)}")
        return asked
    if sys.platform == "darwin":
        return "cgl"
    if not sys.platform.startswith("linux"):
        return "glfw"
    platform = os.environ.get("PYOPENGL_PLATFORM", "").strip().lower()
    for name in (platform,) if platform in LIBRARIES else ("egl", "osmesa"):
        if _loadable(LIBRARIES[name]):
            return name
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return "glfw"
    raise MissingDependency("a graphics library (EGL or OSMesa)", command=APT, purpose=purpose)
