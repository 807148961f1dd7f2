"""Names for the objects of numba and llvmlite, which come without types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Dispatcher: TypeAlias = Any
"""A function that numba compiles when it is called; it takes what the Python function takes."""
NumbaType: TypeAlias = Any
"""A type of numba, such as ``types.float64``, or a signature of them."""
NumbaModule: TypeAlias = Any
"""The module `numba`, or one of its modules, imported when it is used."""
Lowering: TypeAlias = Any
"""What a code generator is given: the context, the builder and the values of llvmlite."""
Machine: TypeAlias = Any
"""An execution engine or a target of llvmlite, whose code is loaded."""
PythonFunction: TypeAlias = Callable[..., Any]
"""A Python function that is compiled, whatever it takes."""
Returned: TypeAlias = Any
"""What a compiled function returns, or an attribute of it holds."""
