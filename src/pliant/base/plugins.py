"""Modules of the user: laws, sensors, bridges and experiments that register themselves, robots of the catalogue."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from pliant.base.errors import ModelError, PliantError

_MODULES: dict[str, ModuleType] = {}


def import_user_module(name: str | Path) -> ModuleType:
    """Import a Python file or module, once.

    Args:
        name: path of a ``.py`` file, or the dotted name of an installed module.

    Returns:
        The module; a second call returns the same one.

    Raises:
        ModelError: there is no such file or module, or its import fails; the message has the file and the line.
    """
    text = str(name)
    path = Path(text)
    if path.suffix != ".py":
        if text not in _MODULES:
            file = text if text in sys.modules else _file_of_module(text)
            with _named_faults(file):
                _MODULES[text] = importlib.import_module(text)
        return _MODULES[text]
    path = path.expanduser().resolve()
    if not path.is_file():
        raise ModelError("there is no such file", file=text)
    # Two files of one name in two folders are two modules.
    key = f"pliant_user_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    if key in sys.modules:
        return sys.modules[key]
    spec = importlib.util.spec_from_file_location(key, path)
    if spec is None or spec.loader is None:
        raise ModelError("this file cannot be imported as Python", file=path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[key] = module
    try:
        with _named_faults(str(path)):
            spec.loader.exec_module(module)
    except PliantError:
        del sys.modules[key]
        raise
    _MODULES[key] = module
    return module


def _file_of_module(name: str) -> str:
    """Return the file of an installed module, or its name where it has none."""
    found, why = None, f"No module named {name!r}"
    if all(part.isidentifier() for part in name.split(".")):
        with _named_faults(name):  # the packages around it are imported
            try:
                found = importlib.util.find_spec(name)
            except ModuleNotFoundError as error:
                why = str(error)
    if found is None:
        raise ModelError(f"no module {name!r} ({why}); must be a .py file, or an installed module")
    return found.origin or name


@contextlib.contextmanager
def _named_faults(file: str) -> Iterator[None]:
    """Raise the error of a module of the user, which may be any, as a ModelError with the line in its file."""
    try:
        yield
    except PliantError:
        raise
    except Exception as error:  # a user's module may raise anything
        line = getattr(error, "lineno", None)
        for frame, number in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_filename == file:
                line = number
        raise ModelError(f"the import fails: {type(error).__name__}: {error}", file=file, line=line) from error


def user_modules() -> list[ModuleType]:
    """Return the modules that `import_user_module` has imported; the catalogue takes their robots."""
    return list(_MODULES.values())
