"""Exact first derivatives of any kernel: numbers that carry their derivative through a function's own code."""

import builtins
import math
import types

from pliant.laws import functions


class Jet:
    """value + slope * epsilon with epsilon^2 = 0."""

    def __init__(self, value, slope=0.0):
        self.value, self.slope = float(value), float(slope)

    def __add__(self, other):
        o = jet(other)
        return Jet(self.value + o.value, self.slope + o.slope)

    __radd__ = __add__

    def __neg__(self):
        return Jet(-self.value, -self.slope)

    def __sub__(self, other):
        return self + -jet(other)

    def __rsub__(self, other):
        return jet(other) - self

    def __mul__(self, other):
        o = jet(other)
        return Jet(self.value * o.value, self.slope * o.value + self.value * o.slope)

    __rmul__ = __mul__

    def __truediv__(self, other):
        o = jet(other)
        return Jet(self.value / o.value, (self.slope - self.value / o.value * o.slope) / o.value)

    def __rtruediv__(self, other):
        return jet(other) / self

    def __pow__(self, n):
        n = float(n)
        return Jet(self.value**n, n * self.value ** (n - 1.0) * self.slope)

    def __abs__(self):
        return -self if self.value < 0.0 else self

    def __lt__(self, other):
        return self.value < jet(other).value

    def __le__(self, other):
        return self.value <= jet(other).value

    def __gt__(self, other):
        return self.value > jet(other).value

    def __ge__(self, other):
        return self.value >= jet(other).value


def jet(x):
    return x if isinstance(x, Jet) else Jet(x)


def _lift(function, derivative):
    def lifted(x):
        if not isinstance(x, Jet):
            return function(x)
        return Jet(function(x.value), derivative(x.value) * x.slope)

    return lifted


MATH = types.SimpleNamespace(
    **{name: value for name, value in vars(math).items() if isinstance(value, float)},
    sin=_lift(math.sin, math.cos),
    cos=_lift(math.cos, lambda x: -math.sin(x)),
    tan=_lift(math.tan, lambda x: 1.0 / math.cos(x) ** 2),
    exp=_lift(math.exp, math.exp),
    log=_lift(math.log, lambda x: 1.0 / x),
    sqrt=_lift(math.sqrt, lambda x: 0.5 / math.sqrt(x)),
    sinh=_lift(math.sinh, math.cosh),
    cosh=_lift(math.cosh, math.sinh),
    tanh=_lift(math.tanh, lambda x: 1.0 - math.tanh(x) ** 2),
    atan=_lift(math.atan, lambda x: 1.0 / (1.0 + x * x)),
    fabs=abs,
)


def with_jets(function):
    """Return a twin of a kernel that accepts jets."""
    names = {"__builtins__": builtins}
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if value is math:
            names[name] = MATH
        elif value in (functions.sinh, functions.cosh):
            names[name] = getattr(MATH, value.__name__)  # smooth twins: the series' own error has no slope
        elif isinstance(value, types.FunctionType):
            names[name] = with_jets(value)
        elif value is not None:
            names[name] = value
    return types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)


def derivative(function, arguments, index):
    """Return the value(s) and derivative(s) of a kernel with respect to one of its scalar arguments."""
    given = [Jet(x, 1.0) if i == index else x for i, x in enumerate(arguments)]
    result = with_jets(function)(*given)
    if isinstance(result, tuple):
        return tuple(jet(r).value for r in result), tuple(jet(r).slope for r in result)
    return jet(result).value, jet(result).slope
