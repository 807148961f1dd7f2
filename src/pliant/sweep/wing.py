"""Declaration of the wing ``sweep``."""

from pliant.base.wing import Wing

WING = Wing(
    name="sweep",
    summary="Thousands of simulations of one robot, over a grid or random parameters, on all cores or a GPU",
    builds_on=("batch", "command_tables", "tasks"),
    commands={"sweep": "pliant.sweep.commands:sweep"},
    arguments={"sweep": "pliant.cli.options:robots_and_files"},
)
