"""Base class of constitutive laws, and the registry of laws.

A law describes a compliant transmission. As functions of the link angle q and the motor positions it gives the torque
on the link, the load on each motor, the stiffness and the stored energy. It has parameters but no state. Its kernels
are scalar functions that Python can run and numba can compile; `evaluate`, `simulate` and the engine use the same
kernels.

Sign convention of all laws, with the stored energy H(q, theta_1, theta_2):

    load_i = dH/dtheta_i        the load of the transmission on motor i
    torque = -dH/dq             the torque on the link
    stiffness = -d torque/dq    the true slope, including the clipping of the springs
"""

from __future__ import annotations

import dataclasses
import logging
import math
import types
import typing
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.errors import LawError, PliantError, nearest
from pliant.base.numerics import Array
from pliant.base.options import check_values, describe, option, place_of

LAW_PARAMETERS = 16
"""Maximum number of parameters of a law, including the stop stiffness."""

Parameters: TypeAlias = "Sequence[float] | Array"


class LawValues(NamedTuple):
    """Values of a law at one or many points; each field has the broadcast shape of the inputs."""

    torque: Any
    """Torque on the link, -dH/dq [N m]."""
    load_1: Any
    """Load on motor 1, dH/dtheta_1 [N m]."""
    load_2: Any
    """Load on motor 2, dH/dtheta_2 [N m]; on a lever drive a force [N]; 0 without motor 2."""
    stiffness: Any
    """True slope -d torque/dq [N m/rad]; clipped springs contribute only the stiffness of their stop."""
    energy: Any
    """Stored energy H [J], relative to a reference point defined by the law."""


@dataclasses.dataclass(frozen=True)
class Law:
    """Base class of all laws. A subclass is a frozen dataclass of floats with static kernels.

    A kernel takes scalars and ``p``: the parameters in the order of the fields, followed by
    the stop stiffness. It uses only arithmetic, comparisons and functions of `math`:

    * ``torques(q, theta_1, theta_2, p) -> (torque, load_1, load_2)``
    * ``stiffness(q, theta_1, theta_2, p) -> float``, the true slope
    * ``reported_stiffness(q, theta_1, theta_2, p) -> float``, the value published by the original toolbox (optional)
    * ``energy(q, theta_1, theta_2, p) -> float``
    * ``references(equilibrium, preset, p) -> (ref_1, ref_2)``, the reference map (optional)

    A subclass that defines only ``energy`` gets ``torques`` and ``stiffness`` by differentiation, from the wing that
    declares a ``derivation``.

    Raises:
        LawError: a parameter is not a finite number or violates a rule of the law.
    """

    clip: str = option("flat", choices=("flat", "stop"), kw_only=True)
    """Behaviour beyond ``max_deflection``: "flat" keeps the torque constant, as in the original toolbox;
    "stop" adds the torque of a stiff end stop."""
    stop_stiffness: float | None = option(None, unit="N m/rad", low=0.0, kw_only=True)
    """Stiffness of the end stop with ``clip="stop"``; None for the default of the law."""

    name: ClassVar[str] = ""
    """Name of the law in the registry, in tags and on the command line."""
    motors: ClassVar[int] = 2
    """Number of motor positions of the law: 1 or 2."""
    second_input: ClassVar[str] = "angle"
    """Type of theta_2: "angle" [rad], "lever" [m] or "none"; with "pressure" both inputs are gauge pressures [Pa] of
    chambers, and the loads are their volumes with a negative sign."""
    step: ClassVar[types.ModuleType | None] = None
    """Module with kernels of a step (``advance``, ``link_torque``, ``observe`` and ``hold``) in place of those of
    `pliant.laws.kernels`, for a law whose inputs come from a `pliant.laws.motor.Drive`; None for motors."""

    def __post_init__(self) -> None:
        check_values(self, LawError)
        for info in describe(type(self)):
            value = getattr(self, info.name)
            if value is not None and _is_number(info.type):
                object.__setattr__(self, info.name, float(value))
        self.validate()

    # -- what a subclass may define ------------------------------------------------------------------

    if TYPE_CHECKING:  # kernels that have no default, see above

        @staticmethod
        def torques(q: float, theta_1: float, theta_2: float, p: Parameters) -> tuple[float, float, float]: ...
        @staticmethod
        def stiffness(q: float, theta_1: float, theta_2: float, p: Parameters) -> float: ...
        @staticmethod
        def reported_stiffness(q: float, theta_1: float, theta_2: float, p: Parameters) -> float: ...
        @staticmethod
        def energy(q: float, theta_1: float, theta_2: float, p: Parameters) -> float: ...

    def validate(self) -> None:
        """Raise LawError if the parameters violate the rules of the law."""

    def default_stop_stiffness(self) -> float:
        """Default stiffness of the end stop [N m/rad]."""
        return 1000.0

    def complete(self, actuator: Any, put: Callable[[str, object], None]) -> None:
        """Fill in the drives and controllers of an actuator with the law, if it has a ``step``.

        Args:
            actuator: the `CompliantActuator`.
            put: sets a field of it.

        Raises:
            LawError: a block that does not go with the law.
        """

    def drive_stiffness(self, actuator: Any, preset: float) -> float:
        """Return the largest stiffness that the drives of an actuator add to that of the law [N m/rad]."""
        return 0.0

    def max_stiffness(self, preset_range: tuple[float, float] = (0.0, 0.0)) -> float:
        """Return the largest stiffness at unclipped deflections over a range of presets, found on a grid [N m/rad]."""
        limit = float(getattr(self, "max_deflection", 1.0))
        p = self.parameters()
        low, high = preset_range
        # The kernel in Python: some thousand points take milliseconds, and waking the compiler takes seconds.
        best = 0.0
        for preset in np.linspace(low, high, 7) if high > low else (low,):
            ref_1, ref_2 = self.map_references(0.0, float(preset))
            for phi in np.linspace(-2.0 * limit, 2.0 * limit, 201):
                best = max(best, float(type(self).stiffness(float(phi), ref_1, ref_2, p)))
        return best

    @staticmethod
    def references(equilibrium: float, preset: float, p: Parameters) -> tuple[float, float]:
        """Map equilibrium and preset to motor references; the default is agonist-antagonist.

        A law with one motor or with a lever gets (equilibrium, preset) instead, unless it defines its own.
        """
        return equilibrium + preset, equilibrium - preset

    # -- what every law has ---------------------------------------------------------------------------

    @property
    def label(self) -> str:
        """Name of the class, for messages."""
        return type(self).__name__

    @classmethod
    def parameter_fields(cls) -> list[str]:
        """Names of the numbers that the law depends on, in the order of ``p``."""
        return [info.name for info in describe(cls) if info.name != "stop_stiffness" and _is_number(info.type)]

    @property
    def stop(self) -> float:
        """Effective stiffness of the end stop [N m/rad]; 0 with ``clip="flat"``."""
        if self.clip == "flat":
            return 0.0
        return self.default_stop_stiffness() if self.stop_stiffness is None else self.stop_stiffness

    def parameters(self) -> Array:
        """Return ``p``: the parameters, then the stop stiffness, padded with zeros to shape (LAW_PARAMETERS,)."""
        out = np.zeros(LAW_PARAMETERS)
        values = [getattr(self, name) for name in self.parameter_fields()]
        out[: len(values)] = values
        out[len(values)] = self.stop
        return out

    def replace(self, **changes: Any) -> Any:
        """Return a copy with some parameters changed.

        Raises:
            LawError: the law has no parameter of that name.
        """
        valid = [f.name for f in dataclasses.fields(self)]
        for name in changes:
            if name not in valid:
                raise LawError(f"{self.label} has no parameter {name!r}; {nearest(name, valid)}", field=name)
        return dataclasses.replace(self, **changes)

    def evaluate(self, q: ArrayLike, theta_1: ArrayLike, theta_2: ArrayLike = 0.0) -> LawValues:
        """Evaluate torque, loads, stiffness and energy at one or many points; the inputs are broadcast.

        Args:
            q: link angle, any shape [rad].
            theta_1: position of motor 1, reflected at the link [rad].
            theta_2: position of motor 2 [rad], or of the lever [m]; ignored by a law with one motor.

        Returns:
            The values; floats if all inputs are scalars.

        Raises:
            LawError: an input is not an array of numbers, or the shapes cannot be broadcast.

        Example:
            >>> QbMove().evaluate(0.0, 0.2, -0.2).stiffness   # preset 0.2 rad
            0.10625...
        """
        from pliant.laws.compile import compiled

        try:
            q_, t1, t2 = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in (q, theta_1, theta_2)))
        except (TypeError, ValueError) as error:
            raise LawError(
                f"{self.label}: q, theta_1 and theta_2 must be numbers or arrays that can be broadcast: {error}",
                field="q",
            ) from None
        out = np.empty((5, q_.size))
        compiled(type(self)).evaluate(
            *(np.array(x, order="C").ravel() for x in (q_, t1, t2)),
            self.parameters(),
            out,
        )
        if q_.ndim == 0:
            return LawValues(*(float(row[0]) for row in out))
        return LawValues(*(row.reshape(q_.shape) for row in out))

    def map_references(self, equilibrium: float, preset: float) -> tuple[float, float]:
        """Return (ref_1, ref_2) for an equilibrium position [rad] and a preset (theta_sr [rad], or sigma [m])."""
        ref_1, ref_2 = type(self).references(float(equilibrium), float(preset), self.parameters())
        return float(ref_1), float(ref_2)


def _is_number(kind: object) -> bool:
    """Return whether a field is a number, or None, and no text, truth value or file."""
    return bool({float, int} & set(typing.get_args(kind) or (kind,)))


_LAWS: dict[str, type[Law]] = {}

L = TypeVar("L", bound=type[Law])


def _direct_references(equilibrium: float, preset: float, p: Parameters) -> tuple[float, float]:
    """The reference map of laws whose second input is a lever, or which have one motor."""
    return equilibrium, preset


def _age(cls: type, kernel: str) -> float:
    """Return how many classes up a kernel is defined: 0 in the class itself, infinity nowhere."""
    return next((i for i, base in enumerate(cls.__mro__) if kernel in vars(base)), math.inf)


def _derive_kernels(cls: type[Law]) -> None:
    """Give a law the kernels that follow from its energy, beside those that are as new as the energy."""
    from pliant.base.wing import offers

    age = _age(cls, "energy")
    energy = next(vars(base)["energy"] for base in cls.__mro__ if "energy" in vars(base))
    function = getattr(energy, "__func__", energy)
    function = getattr(function, "py_func", function)
    if not isinstance(energy, staticmethod) or not isinstance(function, types.FunctionType):
        raise LawError(f"{cls.__name__}.energy must be a @staticmethod", field="energy")
    found = offers("derivation")
    if not found:
        raise LawError(
            f"{cls.__name__} has kernels older than its energy, or none, and no installed wing derives them; write "
            "torques and stiffness",
            field="energy",
        )
    derived = found[0].load()(function, cls.parameter_fields(), f"{cls.__module__}.{cls.__qualname__}")
    for name, source in (("energy",) * 2, ("torques",) * 2, ("stiffness",) * 2, ("reported_stiffness", "stiffness")):
        if name == "energy" or _age(cls, name) > age:
            kernel = derived[source]
            kernel.__qualname__, kernel.__module__ = f"{cls.__qualname__}.{source}", cls.__module__
            setattr(cls, name, staticmethod(kernel))


def law(name: str) -> Callable[[L], L]:
    """Register a law under a name, for tags, catalogues and the command line (class decorator).

    The other kernels of a class that defines only ``energy`` are derived by differentiation.

    Args:
        name: the name, of letters, digits and underscores.

    Raises:
        LawError: another class is registered under the name, or a kernel is missing.
    """

    def register(cls: L) -> L:
        if not name.replace("_", "").isalnum():
            raise LawError(f"law name {name!r}; must be letters, digits and underscores", field="name")
        other = _LAWS.get(name) or _law_of_a_wing(name, cls)
        if other is not None and (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
            raise LawError(
                f"the law {name!r} is registered twice, at {place_of(other)} and {place_of(cls)}; "
                "give one of them another name",
                field="name",
            )
        own = vars(cls).get("__dataclass_params__")  # a class that is none itself inherits its base's
        if own is None or not own.frozen:
            raise LawError(f"{cls.__name__} must be a frozen dataclass: write @dataclass(frozen=True) below @law")
        describe(cls)
        if len(cls.parameter_fields()) > LAW_PARAMETERS - 1:
            raise LawError(f"{cls.__name__} has {len(cls.parameter_fields())} parameters; must be at most 15")
        if not hasattr(cls, "energy"):
            raise LawError(f"{cls.__name__} has no kernel `energy`; every law needs one (its stored energy)")
        if cls.motors not in (1, 2):
            raise LawError(f"{cls.__name__}: motors is {cls.motors!r}; must be 1 or 2", field="motors")
        if cls.motors == 1:
            cls.second_input = "none"
        if cls.second_input not in (("none",) if cls.motors == 1 else ("angle", "lever", "pressure")):
            raise LawError(
                f"{cls.__name__}: second_input is {cls.second_input!r}; must be 'angle', 'lever' or 'pressure', with "
                "two motors",
                field="second_input",
            )
        if cls.second_input == "pressure" and cls.step is None:
            raise LawError(
                f"{cls.__name__}: second_input is 'pressure' and there is no step; derive the class from a law of "
                "pressures",
                field="step",
            )
        if cls.references is Law.references and cls.second_input != "angle":
            cls.references = staticmethod(_direct_references)
        # An energy that is newer than the kernels it came with makes them stale, so they are derived anew.
        if max(_age(cls, "torques"), _age(cls, "stiffness")) > _age(cls, "energy"):
            _derive_kernels(cls)
        if _age(cls, "reported_stiffness") > _age(cls, "stiffness"):
            cls.reported_stiffness = staticmethod(cls.stiffness)
        cls.name = name
        _LAWS[name] = cls
        return cls

    return register


def _law_of_a_wing(name: str, cls: type[Law]) -> type[Law] | None:
    """Return the law that a wing declares under a name, if it is another class than the one to be registered."""
    if cls.__module__.startswith("pliant."):  # reading the entry points takes 10 ms, and these names are no user's
        return None
    from pliant.base.wing import offer

    found = offer("laws", name)
    return None if found is None or found.value == f"{cls.__module__}:{cls.__qualname__}" else found.load()


def registered_laws() -> dict[str, type[Law]]:
    """Return the laws by name: those that are registered, and those of wings."""
    from pliant.base.wing import offers

    for found in offers("laws"):
        if found.key not in _LAWS:
            try:
                found.load()
            except PliantError as error:  # the laws of the other wings work
                logging.getLogger("pliant.wings").warning("%s", error)
    return dict(sorted(_LAWS.items()))


def get_law(name: str) -> type[Law]:
    """Return the law class of a name.

    Raises:
        LawError: there is no law of that name.
    """
    found = _LAWS.get(name) or registered_laws().get(name)
    if found is None:
        raise LawError(f"no law named {name!r}; {nearest(name, _LAWS)}", field="law")
    return found
