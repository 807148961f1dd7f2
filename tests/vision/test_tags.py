"""Tags in a world: where the print lies, what it costs, and how well a camera measures its pose."""

import mujoco
import numpy as np
import pytest
import tag_views

from pliant.base.errors import MissingDependency, ModelError
from pliant.vision.tags import add_tag

BODY = """<mujoco><worldbody>
  <body name="hand" pos="0 0 1"><freejoint/><geom size="0.05" mass="2"/></body>
</worldbody></mujoco>"""


def test_rendered_tags_are_found_and_measured_without_bias():
    # 500 views are seen by `python tests/helpers/tag_views.py`; these are its first ones.
    try:
        found, missed = tag_views.views(40)
    except MissingDependency as error:
        pytest.skip(f"no graphics library: {error}")
    assert missed == 0
    assert np.median([f.translation for f in found]) < 0.15e-3
    assert np.degrees(np.median([f.rotation for f in found])) < 0.2
    assert abs(np.mean([f.depth for f in found])) < 0.0005


def test_a_tag_on_a_body_moves_with_it_and_neither_weighs_nor_collides():
    spec = mujoco.MjSpec.from_string(BODY)
    plain = spec.copy().compile()
    site = add_tag(spec, 7, 0.1, body="hand", pos=(0.0, 0.0, 0.06), quat=(0.0, 1.0, 0.0, 0.0), name="badge")
    model = spec.compile()
    assert site.name == "badge"
    np.testing.assert_allclose(model.body_mass, plain.body_mass)
    np.testing.assert_allclose(model.body_inertia, plain.body_inertia)
    added = [k for k in range(model.ngeom) if model.geom(k).name.startswith("badge")]
    assert len(added) == 2
    assert not model.geom_contype[added].any()
    assert not model.geom_conaffinity[added].any()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(data.site("badge").xpos, [0.0, 0.0, 1.06])
    # The plate is behind the print, whose z axis points downwards here.
    assert data.geom("badge/plate").xpos[2] > 1.06
    np.testing.assert_allclose(model.geom_size[model.geom("badge/plate").id][:2], 0.0625)


def test_a_plate_with_a_mass_weighs():
    spec = mujoco.MjSpec.from_string(BODY)
    add_tag(spec, 7, 0.1, body="hand", mass=0.1)
    assert spec.compile().body_mass[1] == pytest.approx(2.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 0.0}, "size is 0.0; must be a number > 0"),
        ({"size": float("nan")}, "size is nan"),
        ({"size": 0.1, "thickness": -1.0}, "thickness is -1.0"),
        ({"size": 0.1, "mass": -1.0}, "mass is -1.0; must be a number >= 0"),
        ({"size": 0.1, "body": "hnad"}, "no body 'hnad'; did you mean 'hand'"),
        ({"size": "large"}, "size is 'large'; must be a number > 0"),
        ({"size": 0.1, "pos": (float("nan"), 0.0, 0.0)}, "pos is .*; must be 3 finite numbers"),
        ({"size": 0.1, "pos": (0.0, 0.0)}, "pos is .*; must be 3 finite numbers"),
        ({"size": 0.1, "quat": (0.0, 0.0, 0.0, 0.0)}, "quat is .*; must be a quaternion of a length > 0"),
    ],
)
def test_what_no_tag_can_be_is_refused(options, message):
    with pytest.raises(ModelError, match=message):
        add_tag(mujoco.MjSpec.from_string(BODY), 0, **options)


def test_the_plate_is_behind_the_print_whatever_the_length_of_the_quaternion():
    spec = mujoco.MjSpec.from_string(BODY)
    add_tag(spec, 0, 0.1, quat=(2.0, 0.0, 2.0, 0.0), thickness=0.002)
    plate = spec.compile().geom("tag0/plate")
    np.testing.assert_allclose(plate.pos, (-0.001 - 1e-6, 0.0, 0.0), atol=1e-9)


def test_two_tags_of_one_name_are_refused():
    spec = mujoco.MjSpec.from_string(BODY)
    add_tag(spec, 0, 0.1)
    with pytest.raises(ModelError, match="the name 'tag0' of the tag is taken"):
        add_tag(spec, 0, 0.1)
    add_tag(spec, 0, 0.1, name="second")
