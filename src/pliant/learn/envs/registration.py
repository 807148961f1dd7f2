"""The names of environments in Gymnasium: ``pliant/Throw-v0`` and so on.

Gymnasium asks its users to import the package of an environment before they make one. To import this module registers
every task; nothing of the physics is imported before an environment is made.
"""

from __future__ import annotations

import contextlib
import pkgutil
from pathlib import Path


def register() -> None:
    """Register every task of pliant's in Gymnasium; those that are registered stay.

    Raises:
        ImportError: Gymnasium is not installed.
    """
    from gymnasium.envs.registration import register as add
    from gymnasium.envs.registration import registry

    for module in sorted(m.name for m in pkgutil.iter_modules([str(Path(__file__).parent / "tasks")])):
        name = f"pliant/{module.title().replace('_', '')}-v0"
        if name in registry:
            continue
        add(
            id=name,
            entry_point="pliant.learn.envs.make:single_env",
            vector_entry_point="pliant.learn.envs.make:vector_env",
            kwargs={"task": module},
        )


# Without Gymnasium there is nothing to register in; who makes an environment is told what to install.
with contextlib.suppress(ImportError):
    register()
