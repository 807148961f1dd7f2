"""Declaration of the wing ``parallel``."""

from pliant.base.wing import Wing

_ENTRIES = "pliant.parallel.entry"

WING = Wing(
    name="parallel",
    summary="Continuum parallel robots: flexible models, plate control, the ROS interface of their Gazebo simulator",
    builds_on=("rods",),
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
    scenarios=dict.fromkeys(("push-on-the-planar-plate", "push-on-the-plate"), "pliant.parallel"),
    formats=("pliant.parallel.format:PARALLEL",),
    panels=("pliant.parallel.page.panel:PANEL",),
    comparisons=("pliant.parallel.model.comparison:compare_parallel",),
    findings=("pliant.parallel.model.modes:check_modes",),
    messages={"ros": "pliant.parallel.ros_definitions"},
    interfaces={
        "ros/parallel_robot": "pliant.parallel.ros:serve_parallel",
        "ros/plate_controller": "pliant.parallel.ros:serve_plate_controller",
    },
    devices=("pliant.parallel.device.plate_controller",),
)
