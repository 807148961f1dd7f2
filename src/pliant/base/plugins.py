"""Modules of the user: laws, sensors, bridges and experiments that register themselves, robots of the catalogue."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
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
        try:
            return _MODULES.setdefault(text, importlib.import_module(text))
        except ModuleNotFoundError as error:
            raise ModelError(f"no module {text!r} ({error}); must be a .py file, or an installed module") from None
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
        spec.loader.exec_module(module)
    except PliantError:
        del sys.modules[key]
        raise
    except Exception as error:  # a user's module may raise anything
        del sys.modules[key]
        line = getattr(error, "lineno", None)
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == str(path):
                line = trace.tb_lineno
            trace = trace.tb_next
        raise ModelError(f"the import fails: {type(error).__name__}: {error}", file=path, line=line) from error
    _MODULES[key] = module
    return module


def user_modules() -> list[ModuleType]:
    """Return the modules that `import_user_module` has imported; the catalogue takes their robots."""
    return list(_MODULES.values())
