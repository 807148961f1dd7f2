"""Declaration of the wing ``rods``."""

from pliant.base.wing import Wing

WING = Wing(
    name="rods",
    summary="Cosserat rods: statics of continuum parallel robots, stability, design, rods between bodies of any robot",
    builds_on=("tasks",),
    commands={"cpr": "pliant.rods.commands.application:cpr", "design": "pliant.rods.commands.design:design"},
    arguments=dict.fromkeys(("cpr", "design"), "pliant.rods.commands.inputs:completed"),
    tags=("pliant.rods.model.rod_reading:READER",),
    blocks={"rods": "pliant.rods.model.rod_reading:RODS_BLOCK"},
    drawings=("pliant.rods.model.rod_lines:RODS",),
    benchmarks=("rods.py",),
)
