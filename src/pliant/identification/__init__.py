"""Identify parameters of springs, friction and servo from measured traces, with standard errors.

* `fit_law` fits the static law to torque and deflection. Friction causes two branches, whose mean is fitted.
* `fit_friction` fits the friction of the link to the hysteresis loop between the branches, with a fixed or free law.
* `fit_servo` fits inertia, damping, friction and delay of the motors to references and motor positions.

All three return an `Identification`. `find_faults` names what is wrong with a log, and `with_held_out` states the error
on data that were not fitted. `fit_actuator` fits any set of parameters, `expected_errors` says before a fit
which parameters a measurement determines, and `datasheet` computes the data sheet of a variable stiffness actuator.
"""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "Estimate": "pliant.identification.results",
    "Fault": "pliant.identification.faults",
    "Fit": "pliant.identification.results",
    "Fitting": "pliant.identification.validation",
    "HeldOut": "pliant.identification.results",
    "Identification": "pliant.identification.results",
    "Load": "pliant.identification.parameters",
    "LoopFit": "pliant.identification.loops",
    "Measurement": "pliant.identification.measurements",
    "TorqueLoops": "pliant.identification.loops",
    "datasheet": "pliant.identification.data_sheet",
    "expected_errors": "pliant.identification.dynamic",
    "find_faults": "pliant.identification.faults",
    "fit_actuator": "pliant.identification.dynamic",
    "fit_friction": "pliant.identification.dynamic",
    "fit_law": "pliant.identification.static",
    "fit_loops": "pliant.identification.loops",
    "fit_servo": "pliant.identification.dynamic",
    "loop_misfits": "pliant.identification.loops",
    "loop_width": "pliant.identification.data_sheet",
    "measurement_of": "pliant.identification.measurements",
    "parameter_unit": "pliant.identification.parameters",
    "predict_actuator": "pliant.identification.dynamic",
    "predict_law": "pliant.identification.static",
    "predict_loop": "pliant.identification.loops",
    "randomize_around": "pliant.identification.randomized",
    "read_measurement": "pliant.identification.measurements",
    "usable_parts": "pliant.identification.faults",
    "validate_loops": "pliant.identification.loops",
    "with_held_out": "pliant.identification.validation",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
