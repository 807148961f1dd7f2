"""Identify parameters of springs, friction and servo from measured traces, with standard errors.

* `fit_law` fits the static law to torque and deflection. Friction causes two branches, whose mean is fitted.
* `fit_friction` fits the friction of the link to the hysteresis loop between the branches, with a fixed or free law.
* `fit_servo` fits inertia, damping, friction and delay of the motors to references and motor positions.

All three return an `Identification`. `find_faults` names what is wrong with a log, and `with_held_out` states the error
on data that were not fitted. `fit_actuator` fits any set of parameters, `expected_errors` says before a fit
which parameters a measurement determines, and `datasheet` computes the data sheet of a variable stiffness actuator.
"""

from pliant.identification.datasheet import datasheet, loop_width
from pliant.identification.dynamic import expected_errors, fit_actuator, fit_friction, fit_servo, predict_actuator
from pliant.identification.faults import Fault, find_faults, usable_parts
from pliant.identification.measurements import Measurement, measurement_of, read_measurement
from pliant.identification.parameters import Load, parameter_unit
from pliant.identification.results import Estimate, Fit, HeldOut, Identification
from pliant.identification.static import fit_law, predict_law
from pliant.identification.validation import Fitting, with_held_out

__all__ = [
    "Estimate",
    "Fault",
    "Fit",
    "Fitting",
    "HeldOut",
    "Identification",
    "Load",
    "Measurement",
    "datasheet",
    "expected_errors",
    "find_faults",
    "fit_actuator",
    "fit_friction",
    "fit_law",
    "fit_servo",
    "loop_width",
    "measurement_of",
    "parameter_unit",
    "predict_actuator",
    "predict_law",
    "read_measurement",
    "usable_parts",
    "with_held_out",
]
