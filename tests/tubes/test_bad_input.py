"""Whatever stands in a field of a tube, it is taken or named with what is valid."""

import dataclasses

import pytest
from wrong_values import NUMBERS, POSES, VECTORS, WORDS

from pliant.base.errors import PliantError
from pliant.tubes.description import Tube, TubesDescription

TUBE = Tube(length=0.2, curved_length=0.05, curvature=5.0, outer_radius=1e-3, inner_radius=8e-4)

FIELDS = [
    (TUBE, "length outer_radius curvature young_modulus density", (*NUMBERS, -1.0)),
    (TubesDescription(name="tubes", tubes=(TUBE,)), "name", WORDS),
    (TubesDescription(name="tubes", tubes=(TUBE,)), "tubes", ((1,), 5, ())),
    (TubesDescription(name="tubes", tubes=(TUBE,)), "base", POSES),
    (TubesDescription(name="tubes", tubes=(TUBE,)), "gravity", VECTORS),
]


@pytest.mark.parametrize(
    ("whole", "name", "values"),
    [pytest.param(w, name, v, id=f"{type(w).__name__}.{name}") for w, names, v in FIELDS for name in names.split()],
)
def test_a_wrong_value_of_a_field_is_named(whole, name, values):
    for value in values:
        with pytest.raises(PliantError) as caught:
            dataclasses.replace(whole, **{name: value})
        assert caught.value.field == name or name in str(caught.value), value
