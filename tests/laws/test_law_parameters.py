"""Every bad parameter is refused at construction, with the field's name and what would be valid."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import pytest
from law_cases import EnergyQbMove

from pliant.base.errors import LawError, ModelError, PliantError
from pliant.base.wing import Wing, declare, withdraw
from pliant.laws import (
    BAVS,
    PID,
    SEA,
    AwAS2,
    CompliantActuator,
    DCMotor,
    Electrical,
    Law,
    LeverDrive,
    Mode,
    PreslidingFriction,
    QbMove,
    get_law,
    law,
    layout,
    registered_laws,
)

pytestmark = pytest.mark.quick

NAN, INF = math.nan, math.inf

RANGES = {
    SEA: {"k": [-1.0], "max_deflection": [0.0, -0.1], "stop_stiffness": [-1.0], "clip": ["hard", None, 1]},
    QbMove: {
        "k1": [-1e-9],
        "a1": [0.0, -1.0, 400.0],
        "k2": [-1.0],
        "a2": [0.0],
        "max_deflection": [0.0, 60.0],
        "clip": ["Flat"],
    },
    BAVS: {
        "a": [-1e-6],
        "b": [-1e-6],
        "k": [-1.0],
        "k_e": [0.0, 2000.0],
        "max_deflection": [0.0, -0.27],
    },
    AwAS2: {
        "Ks": [-1.0],
        "L": [0.0],
        "r_t": [0.0, -0.1],
        "max_deflection": [0.0, -0.3, math.pi / 4, 1.0],
    },
    PreslidingFriction: {
        "torque": [-0.1],
        "stiffness": [0.0, -1.0],
        "load_coefficient": [-0.1],
        "preset_coefficient": [-0.1],
    },
    DCMotor: {
        "inertia": [0.0, -1.0, INF],
        "damping": [-0.1, INF],
        "max_torque": [-1.0],
        "max_velocity": [0.0, -6.0],
        "preset_damping": [-1.0, INF],
        "limit_velocity": [1, "yes", None],
        "torque_speed": [1],
    },
    LeverDrive: {"inertia": [0.0], "damping": [-1.0], "max_torque": [-1.0]},
    Electrical: {
        "resistance": [0.0, -1.0],
        "inductance": [-1.0],
        "torque_constant": [0.0],
        "back_emf_constant": [-0.1],
        "supply_voltage": [0.0],
    },
    PID: {
        "kp": [-1.0, INF],
        "ki": [-1.0],
        "kd": [-1.0],
        "integral_limit": [-1.0],
        "anti_windup": [1],
        "velocity_feedforward": ["on"],
    },
}
NUMBERS = [
    (cls, field.name)
    for cls in RANGES
    for field in dataclasses.fields(cls)
    if field.name not in ("clip", "limit_velocity", "torque_speed", "anti_windup", "velocity_feedforward")
    and field.name not in ("friction", "electrical")
]


@pytest.mark.parametrize(
    ("cls", "field", "value"),
    [(cls, field, value) for cls, fields in RANGES.items() for field, values in fields.items() for value in values],
)
def test_a_value_out_of_range_is_refused_by_name(cls, field, value):
    with pytest.raises(LawError, match="must be") as caught:
        cls(**{field: value})
    assert caught.value.field == (field if (cls, field) != (QbMove, "max_deflection") or value == 0.0 else "a1")
    assert cls.__name__ in str(caught.value)


@pytest.mark.parametrize(("cls", "field"), NUMBERS)
@pytest.mark.parametrize(
    "value", [NAN, "1.21*pow(10,-6)", True, [1.0], 1j], ids=["nan", "text", "bool", "list", "complex"]
)
def test_what_is_no_number_is_refused_by_name(cls, field, value):
    with pytest.raises(LawError, match=f"{cls.__name__}: {field} is .*must be") as caught:
        cls(**{field: value})
    assert caught.value.field == field


@pytest.mark.parametrize("field", ["k", "max_deflection", "stop_stiffness"])
def test_an_infinite_parameter_of_a_law_is_refused(field):
    with pytest.raises(LawError, match=f"{field} is inf; must be a finite number"):
        SEA(**{field: INF})


def test_integers_and_numpys_numbers_are_taken_as_floats():
    law_ = SEA(k=np.float32(2.0), max_deflection=np.int64(1))
    assert (law_.k, law_.max_deflection) == (2.0, 1.0)
    assert isinstance(law_.k, float)
    assert isinstance(law_.max_deflection, float)


def test_errors_are_model_errors_with_a_field():
    with pytest.raises(ModelError) as caught:
        SEA(k=-3)
    assert isinstance(caught.value, PliantError)
    assert str(caught.value) == "SEA: k is -3; must be a number >= 0 [N m/rad]"


def test_stops_in_the_wrong_order_are_refused():
    with pytest.raises(LawError, match=r"min_position 0.3 is not below max_position 0.1") as caught:
        DCMotor(min_position=0.3, max_position=0.1)
    assert caught.value.field == "min_position"


def test_a_torque_speed_line_needs_a_finite_speed():
    with pytest.raises(LawError, match="torque_speed needs a finite max_velocity"):
        DCMotor(torque_speed=True, max_velocity=INF)


def test_replace_changes_what_is_named_and_refuses_the_rest():
    assert QbMove().replace(k1=0.5) == QbMove(k1=0.5)
    with pytest.raises(LawError, match=r"QbMove has no parameter 'k_1'; did you mean 'k1'\?"):
        QbMove().replace(k_1=0.5)
    with pytest.raises(LawError, match="a1 is -1"):
        QbMove().replace(a1=-1.0)


# -- the actuator --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "field", "message"),
    [
        ({"law": "qbmove"}, "law", "must be a Law"),
        ({"mode": 7}, "mode", "must be one of 0 LINK_TORQUE.*6 PID_EQ_PRESET"),
        ({"mode": "fast"}, "mode", "must be one of 0 LINK_TORQUE"),
        ({"law": SEA(), "motor_2": DCMotor()}, "motor_2", "SEA has one motor"),
        ({"law": SEA(), "pid_2": PID()}, "motor_2", "SEA has one motor"),
        ({"law": AwAS2(), "motor_2": DCMotor()}, "motor_2", "needs a LeverDrive"),
        ({"law": AwAS2(L=0.03), "motor_2": LeverDrive()}, "max_position", "below the lever's length L = 0.03"),
        ({"link_damping": -1.0}, "link_damping", ">= 0"),
        ({"link_preset_damping": NAN}, "link_preset_damping", "finite"),
        ({"command_delay": -1e-3}, "command_delay", "from 0 to 10"),
        ({"command_delay": 11.0}, "command_delay", "from 0 to 10"),
        ({"command_resolution": "fine"}, "command_resolution", "must be a number"),
        ({"initial_preset": INF}, "initial_preset", "finite"),
        ({"law": AwAS2(), "initial_preset": 0.05}, "initial_preset", "below L = 0.05"),
        ({"law": AwAS2(), "initial_preset": -0.01}, "initial_preset", ">= 0"),
        ({"start": "joint"}, "start", "must be one of pose, zero"),
        ({"motor_1": PID()}, "motor_1", "must be"),
        ({"motor_2": "big"}, "motor_2", "must be"),
        ({"pid_1": 125.0}, "pid_1", "must be"),
        ({"pid_2": DCMotor()}, "pid_2", "must be"),
        ({"link_friction": 0.02}, "link_friction", "must be"),
        ({"motor_1": None}, "motor_1", "must be"),
        ({"law": QbMove(), "motor_2": LeverDrive()}, "motor_2", "must be"),
    ],
)
def test_an_actuator_refuses_what_does_not_fit_by_name(options, field, message):
    with pytest.raises(LawError, match=message) as caught:
        CompliantActuator(**{"law": QbMove(), **options})
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("options", "field"),
    [({"friction": 0.5}, "friction"), ({"electrical": True}, "electrical"), ({"friction": None}, "friction")],
)
def test_a_motor_refuses_parts_of_another_kind(options, field):
    with pytest.raises(LawError, match=f"DCMotor: {field} is .*must be") as caught:
        DCMotor(**options)
    assert caught.value.field == field


def test_defaults_follow_the_law_and_the_mode():
    two, one, lever = (CompliantActuator(x) for x in (QbMove(), SEA(), AwAS2()))
    assert two.motor_2 == DCMotor()
    assert (two.pid_1, two.pid_2) == (PID(), PID())
    assert one.motor_2 is one.pid_2 is None
    assert isinstance(lever.motor_2, LeverDrive)
    assert lever.motor_2.max_position == pytest.approx(0.045)
    assert lever.initial_preset == 0.01
    assert CompliantActuator(QbMove(), mode=Mode.LINK_PID).pid_1 == PID(kp=0.8, kd=0.2)
    assert [CompliantActuator(QbMove(), mode=m).commands for m in Mode] == [1, 1, 2, 2, 2, 2, 2]
    assert {CompliantActuator(SEA(), mode=m).commands for m in Mode} == {1}


def test_the_defaults_are_those_of_the_originals_code():
    motor, pid = DCMotor(), PID()
    assert (motor.inertia, motor.damping, motor.max_torque, motor.max_velocity) == (0.0233, 0.2698, 6.0, 6.0)
    assert (motor.min_position, motor.max_position) == (-INF, INF)
    assert (motor.friction.torque, motor.friction.stiffness) == (0.02, 1000.0)
    assert (pid.kp, pid.ki, pid.kd) == (125.0, 0.0, 4.5)
    assert (SEA().k, SEA().max_deflection) == (10.0, 0.8)
    assert QbMove().parameters()[:5].tolist() == [0.0019, 8.9992, 0.0019, 8.9992, 0.8]
    assert BAVS().parameters()[:5].tolist() == [1.21e-6, 2.38e-6, 1.6e5, 8.71, 0.27]
    assert AwAS2().parameters()[:4].tolist() == [10.0, 0.05, 0.015, 0.3]


@pytest.mark.parametrize("mode", [3, 5, 6])
def test_a_lever_reference_beyond_its_length_is_refused(mode):
    actuator = CompliantActuator(AwAS2(), mode=mode)
    with pytest.raises(LawError, match=r"AwAS2: ref_2 sigma is 0.06 m; must be >= 0 and below L = 0.05 m"):
        actuator.simulate(np.zeros(3), None, 0.0, [0.01, 0.06, 0.02], 1e-3)
    with pytest.raises(LawError, match=r"sigma is -0\.01 m"):
        actuator.simulate(np.zeros(3), None, 0.0, [0.01, -0.01, 0.02], 1e-3)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"q": []}, "q"),
        ({"q": [[0.0]]}, "q"),
        ({"q": [0.0, NAN]}, "q"),
        ({"dq": [0.0]}, "dq"),
        ({"dq": [0.0, INF]}, "dq"),
        ({"ref_1": [0.0, 0.0, 0.0]}, "ref_1"),
        ({"ref_1": NAN}, "ref_1"),
        ({"ref_2": [INF, 0.0]}, "ref_2"),
        ({"dt": 0.0}, "dt"),
        ({"dt": -1e-3}, "dt"),
        ({"dt": "1 ms"}, "dt"),
        ({"state": [0.0]}, "state"),
    ],
)
def test_simulate_names_the_argument_that_does_not_fit(arguments, field):
    given = {"q": [0.0, 0.1], "dq": None, "ref_1": 0.0, "ref_2": 0.0, "dt": 1e-3, **arguments}
    with pytest.raises(LawError, match=field) as caught:
        CompliantActuator(QbMove()).simulate(**given)
    assert caught.value.field == field


# -- registering ---------------------------------------------------------------------------------------------


def test_a_name_belongs_to_one_law():
    with pytest.raises(LawError, match=r"'qbmove' is registered twice, at .*laws/qbmove.py:"):
        law("qbmove")(EnergyQbMove)
    assert law("test_energy_qbmove")(EnergyQbMove) is EnergyQbMove  # its own again


@pytest.mark.parametrize("name", ["", "with space", "a/b", "x-y"])
def test_a_name_has_letters_digits_and_underscores(name):
    with pytest.raises(LawError, match="letters, digits and underscores"):
        law(name)(EnergyQbMove)


def test_a_law_must_be_a_frozen_dataclass_with_an_energy_and_at_most_15_parameters():
    class Plain(Law):
        k: float = 1.0

        @staticmethod
        def energy(q, theta_1, theta_2, p):
            return q

    with pytest.raises(LawError, match="must be a frozen dataclass"):
        law("test_plain")(Plain)

    @dataclasses.dataclass(frozen=True)
    class NoEnergy(Law):
        k: float = 1.0

    with pytest.raises(LawError, match="has no kernel `energy`"):
        law("test_no_energy")(NoEnergy)

    many = dataclasses.make_dataclass("Many", [(f"k{i}", float, 0.0) for i in range(16)], bases=(Plain,), frozen=True)
    with pytest.raises(LawError, match="at most 15"):
        law("test_many")(many)


@pytest.mark.parametrize(
    ("motors", "second_input", "field"), [(3, "angle", "motors"), (2, "none", "second_input"), (2, "x", "second_input")]
)
def test_a_law_says_what_its_inputs_are(motors, second_input, field):
    cls = type(
        "Odd", (Law,), {"energy": staticmethod(lambda q, a, b, p: q), "motors": motors, "second_input": second_input}
    )
    with pytest.raises(LawError, match="must be") as caught:
        law("test_odd")(dataclasses.dataclass(frozen=True)(cls))
    assert caught.value.field == field


def test_all_registered_laws_have_keys_of_their_own():
    from pliant.laws import registered_laws

    keys = [layout.law_key(name) for name in registered_laws()]
    assert len(set(keys)) == len(keys)
    assert max(keys) < 1e6  # six digits survive a text format


def test_a_law_of_a_wing_is_found_by_its_name_and_its_name_is_taken():
    assert get_law("cable").__name__ == "Cable"
    assert list(registered_laws()) == sorted(registered_laws())
    with pytest.raises(LawError, match="the law 'cable' is registered twice"):
        law("cable")(dataclass(frozen=True)(type("Rope", (SEA,), {"__module__": __name__})))


def test_a_law_of_a_wing_that_cannot_be_imported_is_left_out_with_one_line(caplog):
    declare(Wing(name="guest", summary="for this test", laws={"guest_law": "no_such_module:Guest"}))
    try:
        assert {"sea", "cable"} <= set(registered_laws())
        with pytest.raises(LawError, match="no law named 'guest_law'"):
            get_law("guest_law")
    finally:
        withdraw("guest")
    assert "the wing 'guest': laws 'guest_law' cannot be imported" in caplog.text
