"""Declaration of the wing ``rods``."""

from pliant.base.wing import Wing

_ENTRIES = "pliant.rods.robots.entry"

WING = Wing(
    name="rods",
    summary="Cosserat rods and continuum parallel robots: statics, stability, flexible models, plate control",
    commands={"cpr": "pliant.rods.commands.application:cpr", "design": "pliant.rods.commands.design:design"},
    arguments=dict.fromkeys(("cpr", "design"), "pliant.rods.commands.inputs:completed"),
    robots={
        "2PR": _ENTRIES,
        "2RR": _ENTRIES,
        "3ER": _ENTRIES,
        "3PFR_spatial": _ENTRIES,
        "3PR": _ENTRIES,
        "3RR": _ENTRIES,
        "RERRFR": _ENTRIES,
        "Stewart_Gough_6EFR": _ENTRIES,
        "Stewart_Gough_6FFR_Till": _ENTRIES,
        "Stewart_Gough_6PFF": _ENTRIES,
        "Stewart_Gough_6PFR": _ENTRIES,
        "Stewart_Gough_6PFS": _ENTRIES,
    },
    formats=("pliant.rods.format:PARALLEL",),
    tags=("pliant.rods.model.rod_reading:READER",),
    blocks={"rods": "pliant.rods.model.rod_reading:RODS_BLOCK"},
    drawings=("pliant.rods.model.rod_lines:RODS",),
    panels=("pliant.rods.page.panel:PANEL",),
    comparisons=("pliant.rods.model.comparison:compare_parallel",),
    findings=("pliant.rods.model.modes:check_modes",),
    messages={"ros": "pliant.rods.ros_definitions"},
    interfaces={
        "ros/parallel_robot": "pliant.rods.ros:serve_parallel",
        "ros/plate_controller": "pliant.rods.ros:serve_plate_controller",
    },
    devices=("pliant.rods.device.plate_controller",),
    benchmarks=("rods.py",),
)
