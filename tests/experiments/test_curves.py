"""Curves that a user digitised from a figure."""

import numpy as np
import pytest
from mutations import quick_run

from pliant.base.errors import PliantError
from pliant.experiments import Context, reproduce
from pliant.experiments.curves import compare_curves, read_curve, read_curves


def test_two_columns_with_headings_and_comments_are_read_in_order(tmp_path):
    (tmp_path / "a.csv").write_text("time [s],angle [rad]\n# by hand\n1.0, 2.0\n0.5,1.0  # early\n\n2.0,-3e-1\n")
    curve = read_curve(tmp_path / "a.csv")
    np.testing.assert_array_equal(curve.x, [0.5, 1.0, 2.0])
    np.testing.assert_array_equal(curve.y, [1.0, 2.0, -0.3])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,1\n1;2\n", r"a\.csv:2: '1;2' must be two finite numbers"),
        ("0,1\n1,nan\n", r"a\.csv:2: '1,nan' must be two finite numbers"),
        ("x,y\nmore,words\n", r"a\.csv:2: 'more,words' must be"),
        ("0,1,2\n1,2,3\n", r"a\.csv:2: '1,2,3' must be"),
        ("0,1\n", "has 1 points; must have 2 or more"),
    ],
)
def test_a_file_that_is_no_curve_is_refused_with_its_line(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(PliantError, match=message):
        read_curve(tmp_path / "a.csv")


def test_a_binary_or_endless_file_is_refused(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PliantError, match="not UTF-8 text"):
        read_curve(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_bytes(b" " * 10_000_001)
    with pytest.raises(PliantError, match="larger than 10000000 bytes"):
        read_curve(tmp_path / "a.csv")


def test_a_place_has_the_curves_that_are_named_after_it(tmp_path):
    for name in ("figure11-soft", "figure11-soft-real", "figure11-softer", "figure11-stiff"):
        (tmp_path / f"{name}.csv").write_text("0,0\n1,1\n")
    context = Context(output=tmp_path, curves=tmp_path)
    assert [c.name for c in read_curves(context, "figure11-soft")] == ["figure11-soft", "figure11-soft-real"]
    assert read_curves(Context(output=tmp_path), "figure11-soft") == []


def test_the_difference_is_taken_at_the_measured_points(tmp_path):
    (tmp_path / "a.csv").write_text("0.25,0\n0.75,0\n")
    context = Context(output=tmp_path, curves=tmp_path)
    ((name, points, rms, largest),) = compare_curves(context, "a", [0.0, 1.0], [0.0, 1.0])
    assert (name, points, largest) == ("a", 2, 0.75)
    assert rms == pytest.approx(np.sqrt((0.25**2 + 0.75**2) / 2))


def test_a_folder_of_curves_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(PliantError, match=r"the folder of curves .*nowhere' does not exist"):
        reproduce("two-dof", tmp_path, curves=tmp_path / "nowhere")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("chirp", "figure11-soft"),
        ("box", "figure14-stiff"),
        pytest.param("ilc", "figure15-joint_2", marks=pytest.mark.nightly),
    ],
)
def test_an_experiment_draws_the_curves_of_its_figure(name, place):
    assert place in quick_run(name).curves
