"""Declaration of the wing ``command_tables``."""

from pliant.base.wing import Wing

WING = Wing(
    name="command_tables",
    summary="Tables of commands over time: CSV, NPZ, YAML, JSON, and bags",
    additions={"command": "pliant.command_tables.options:TableOptions"},
)
