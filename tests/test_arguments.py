"""Wrong arguments of public classes and functions that take a robot, an engine or a simulation."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import Any

import mujoco
import pytest

import pliant
from pliant.base.errors import MissingDependency, PliantError
from pliant.simulation.bridges import list_bridges, make_bridge

WANTED = {"Robot", "Engine", "MujocoState", "Description", "Statics", "Simulation"}
"""Types of parameters that are swept, the first ones of their annotation."""
WRONG: tuple[Any, ...] = ("no-such-robot", 3.5, None, pliant.Robot, mujoco.MjSpec(), object(), [])


def _takers() -> list[tuple[str, Any, str, str]]:
    """Return (name, function or class, parameter, annotation) over the ``__all__`` of every public package."""
    found = []
    packages = [m.name for m in pkgutil.walk_packages(pliant.__path__, "pliant.") if m.ispkg]
    for package in ["pliant", *sorted(packages)]:
        if any(part.startswith("_") for part in package.split(".")):
            continue
        module = importlib.import_module(package)
        for name in getattr(module, "__all__", ()):
            taker = getattr(module, name)
            if name == "make":  # the factory of a bridge, which `make_bridge` calls
                continue
            if not callable(taker) or inspect.isabstract(taker) or getattr(taker, "_is_protocol", False):
                continue
            try:
                parameters = inspect.signature(taker).parameters.values()
            except ValueError:
                continue
            for parameter in parameters:
                annotation = str(parameter.annotation)
                if annotation.split("|")[0].strip() in WANTED:
                    found.append((f"{package}.{name}", taker, parameter.name, annotation))
    return found


TAKERS = _takers()


def test_the_sweep_finds_what_takes_a_robot():
    names = {name for name, *_ in TAKERS}
    assert {"pliant.sensors.ImuDevice", "pliant.engine.MujocoEngine", "pliant.simulation.Simulation"} <= names
    assert len(names) > 25


@pytest.mark.parametrize(("name", "taker", "parameter", "annotation"), TAKERS, ids=[f"{t[0]}-{t[2]}" for t in TAKERS])
def test_what_is_no_robot_or_engine_is_refused_with_what_to_pass(name, taker, parameter, annotation):
    signature = inspect.signature(taker)
    for wrong in WRONG:
        if _accepted(wrong, annotation):
            continue
        given = {p.name: _stand_in(p) for p in signature.parameters.values() if _needed(p)} | {parameter: wrong}
        if "of" in signature.parameters:
            given |= {"observation": {}, "reward": {}}
        with pytest.raises(PliantError) as refused:
            taker(**given)
        if isinstance(refused.value, MissingDependency):
            pytest.skip(str(refused.value))
        text = str(refused.value)
        assert "must be" in text, f"{name}({parameter}={wrong!r}): {text}"


@pytest.mark.parametrize("bridge", sorted(list_bridges()))
def test_a_bridge_of_what_is_no_robot_is_refused(bridge):
    for wrong in WRONG:
        if wrong is None:
            continue  # a bridge without a robot
        with pytest.raises(PliantError, match=r"make_bridge got .*must be a Robot"):
            make_bridge(bridge, wrong)


def _needed(parameter: inspect.Parameter) -> bool:
    variable = (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and parameter.kind not in variable


def _stand_in(parameter: inspect.Parameter) -> Any:
    return {} if "Mapping" in str(parameter.annotation) else "joint"


def _accepted(wrong: Any, annotation: str) -> bool:
    kinds = [kind.strip() for kind in annotation.split("|")]
    if wrong is None:
        return "None" in kinds
    return isinstance(wrong, str) and "str" in kinds
