"""Identify parameters of springs, friction and servo from measured traces, with standard errors.

* `fit_law`: the static law, from torque and deflection. Friction makes two branches; their mean is fitted.
* `fit_friction`: the loop between the branches gives the friction of the link; the law may stay fixed.
* `fit_servo`: inertia, damping, friction, delay of the motors, from references and motor positions.

All three return an `Identification`. `fit_actuator` fits any set of parameters, and `datasheet` writes the data sheet
of a variable stiffness actuator.
"""

from pliant.identification.datasheet import datasheet, loop_width
from pliant.identification.dynamic import fit_actuator, fit_friction, fit_servo
from pliant.identification.measurements import Measurement, measurement_of, read_measurement
from pliant.identification.parameters import parameter_unit
from pliant.identification.results import Estimate, Fit, Identification
from pliant.identification.static import fit_law

__all__ = [
    "Estimate",
    "Fit",
    "Identification",
    "Measurement",
    "datasheet",
    "fit_actuator",
    "fit_friction",
    "fit_law",
    "fit_servo",
    "loop_width",
    "measurement_of",
    "parameter_unit",
    "read_measurement",
]
