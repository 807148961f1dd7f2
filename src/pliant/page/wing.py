"""Declaration of the wing ``page``."""

from pliant.base.wing import Wing

WING = Wing(
    name="page",
    summary="A page in the browser: the robot in 3D, sliders and buttons of its devices, curves",
    builds_on=("events",),
    commands={"view": "pliant.page.commands:view"},
    arguments={"view": "pliant.cli.options:robots_and_files"},
    viewer="pliant.page.viewer:VIEWER",
    benchmarks=("page.py",),
)
