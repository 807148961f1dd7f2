"""Tables of commands over time, from a file or from code."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "CommandPlayer": "pliant.command_tables.table",
    "CommandTable": "pliant.command_tables.table",
    "read_commands": "pliant.command_tables.files",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
