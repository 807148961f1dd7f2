"""Measurements of the SoftFoot's bench: files, units, what is refused, and the paper's errors."""

import numpy as np
import pytest

from pliant.base.errors import PliantError
from pliant.feet.measured import filtered, force_errors, read_trials, rotation_errors, write_trials
from pliant.feet.trials import Trials, all_trials

HEADINGS = "load [N],height [mm],position,F_h [N],F_p [N],F_m [N]," + ",".join(f"pitch_m{i} [deg]" for i in range(1, 7))
SI = "load,height,position,F_h,F_p,F_m,pitch_m1,pitch_m2,pitch_m3,pitch_m4,pitch_m5,pitch_m6"


def _line(position=1, load=50.0, height=5.0, forces=(30.0, 20.0, 5.0), pitch=10.0):
    return f"{load},{height},{position}," + ",".join(map(str, forces)) + f",{pitch}" * 6


def _file(tmp_path, *lines, head=HEADINGS):
    path = tmp_path / "data.csv"
    path.write_text("\n".join([head, *lines]) + "\n")
    return path


def _trials(seed=0):
    rng = np.random.default_rng(seed)
    trials = all_trials()
    share = rng.dirichlet((2.0, 2.0, 2.0), 48)
    force = share * np.array([t.load for t in trials])[:, None]
    return Trials(trials=trials, force=force, pitch=rng.uniform(-0.5, 0.5, (48, 6)))


def test_what_is_written_is_read_again(tmp_path):
    trials = _trials()
    write_trials(tmp_path / "data.csv", trials)
    found = read_trials(tmp_path / "data.csv")
    assert found.trials == trials.trials
    assert found.force == pytest.approx(trials.force, rel=1e-9)
    assert found.pitch == pytest.approx(trials.pitch, rel=1e-8)


def test_units_stand_in_the_headings_and_are_si_where_there_are_none(tmp_path):
    one = read_trials(_file(tmp_path, _line(2), "# a remark", _line(1)), count=2)
    assert [t.position for t in one.trials] == [1, 2]
    assert one.trials[0].height == pytest.approx(0.005)
    assert one.pitch[0, 0] == pytest.approx(np.radians(10.0))
    kilo = read_trials(_file(tmp_path, _line(forces=(0.03, 20.0, 5.0)), head=HEADINGS.replace("F_h [N]", "F_h [kN]")),
                       count=1)  # fmt: skip
    assert kilo.force[0].tolist() == [30.0, 20.0, 5.0]
    two = read_trials(_file(tmp_path, _line("p3", height=0.005, pitch=0.2), head=SI), count=1)
    assert two.trials[0].position == 3
    assert two.pitch[0, 5] == pytest.approx(0.2)


def test_the_order_of_columns_is_free_and_others_are_ignored(tmp_path):
    names = SI.split(",")
    cells = _line(height=0.005, pitch=0.1).split(",")
    path = _file(tmp_path, ",".join([*cells[::-1], "remark"]), head=",".join([*names[::-1], "operator"]))
    assert read_trials(path, count=1).force[0].tolist() == [30.0, 20.0, 5.0]


@pytest.mark.parametrize(
    ("head", "lines", "message"),
    [
        (SI.replace("F_p,", ""), [], r"data.csv:1: columns are missing: F_p; must have load, height, position"),
        (HEADINGS.replace("F_m", "F_met"), [], "columns are missing: F_m"),
        (HEADINGS + ",F_h", [_line() + ",1"], "the column F_h occurs twice"),
        (HEADINGS.replace("F_h [N]", "F_h [kg]"), [_line()], r"of F_h is \[kg\]; must be \[N\] or \[kN\]"),
        (HEADINGS.replace("height [mm]", "height [inch]"), [_line()], r"must be \[m\] or \[mm\] or \[cm\]"),
        (SI, [_line(pitch=0.1)], r"height is 5 m; must be <= 0.1 m. .* 'height \[mm\]' .* 'height \[cm\]'"),
        (HEADINGS.replace(",", ";"), [], "data.csv:1: the headings are separated by semicolons; .* by commas and have"),
        (HEADINGS.replace(",", "\t"), [], "separated by tabs; cells must be separated by commas"),
        (SI, [_line(height=0.005)], r"largest rotation is 10 rad; must be <= 1.6 rad. For degrees write"),
        (HEADINGS, [_line(forces=(30.0, "nan", 5.0))], r"data.csv:2: F_p is 'nan'; must be a finite number"),
        (HEADINGS, [_line(forces=(30.0, "", 5.0))], r"F_p is ''; must be a finite number"),
        (HEADINGS, [_line(), _line()], r"data.csv:3: the trial 50 N, 5 mm, p1 occurs twice; first in line 2"),
        (HEADINGS, [_line(7)], "position is 7; must be a whole number from 1 to 6"),
        (HEADINGS, [_line(load=0.0)], "load is 0 N; must be > 0"),
        (HEADINGS, [_line().rsplit(",", 1)[0]], "it has 11 cells; must have 12"),
        (HEADINGS, [_line(forces=(-30.0, 20.0, 5.0))], "the mean of F_h is -30 N; must be positive"),
        (HEADINGS, [_line(forces=(40.0, 15.0, 0.6))], None),
        (HEADINGS, [_line(forces=(30.0, 0.02, 5.0))], r"F_p is at most 0.0004 times the load; .* write 'F_p \[kN\]'"),
        (HEADINGS, [_line(forces=(10.0, 9.0, 5.0))], r"in the trial 50 N, 5 mm, p1 the three blocks carry 24 N"),
        (HEADINGS, [_line(1), _line(2, forces=(30.0, 200.0, 5.0))], "in the trial 50 N, 5 mm, p2 .* carry 235 N"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_right_is_refused(tmp_path, head, lines, message):
    path = _file(tmp_path, *lines, head=head)
    if message is None:
        assert len(read_trials(path, count=len(lines))) == len(lines)
        return
    with pytest.raises(PliantError, match=message):
        read_trials(path, count=max(1, len(lines)))


def test_a_wrong_number_of_trials_and_missing_combinations_are_refused(tmp_path):
    with pytest.raises(PliantError, match=r"has 2 trials; must have 48. For another number of trials set data_trials"):
        read_trials(_file(tmp_path, _line(1), _line(2)))
    lines = [_line(1), _line(2), _line(1, height=10.0)]
    with pytest.raises(PliantError, match=r"for each of the 4 combinations; missing: 50 N, 10 mm, p2"):
        read_trials(_file(tmp_path, *lines), count=3)
    with pytest.raises(PliantError, match=r"data.csv:1: columns are missing: load"):
        read_trials(_file(tmp_path, head=""))
    with pytest.raises(PliantError, match="there is no such file"):
        read_trials(tmp_path / "absent.csv")


def test_relative_errors_are_of_the_measured_force_and_signed_errors_are_simulated_minus_measured():
    measured = _trials()
    factors = np.array([1.1, 0.8, 1.0])
    simulated = Trials(trials=measured.trials, force=measured.force * factors, pitch=measured.pitch)
    errors = force_errors(simulated, measured)
    assert errors.mean == pytest.approx([0.1, 0.2, 0.0])
    assert (errors.absolute[:, 0] > 0.0).all()
    assert (errors.absolute[:, 1] < 0.0).all()
    total = np.abs(measured.force @ (factors - 1.0))
    assert errors.total == pytest.approx(total / measured.total)
    assert np.abs(errors.total_of_load) == pytest.approx(total / measured.load)


def test_the_filter_drops_what_is_above_mean_plus_one_standard_deviation():
    # Mean 2.8, standard deviation 3.6: 10 is dropped.
    assert filtered(np.array([1.0, 1.0, 1.0, 1.0, 10.0])).tolist() == [1.0] * 4
    assert filtered(np.array([2.0, 2.0, np.nan])).tolist() == [2.0, 2.0]
    assert filtered(np.array([np.nan])).size == 0


def test_a_trial_without_measured_force_has_no_relative_error():
    measured = _trials()
    measured.force[0, 2] = 0.0
    errors = force_errors(Trials(trials=measured.trials, force=measured.force + 1.0, pitch=measured.pitch), measured)
    assert errors.undefined == 1
    assert np.isfinite(errors.mean).all()
    assert np.isfinite(errors.filtered_mean).all()


def test_errors_of_other_trials_are_refused():
    measured = _trials()
    with pytest.raises(PliantError, match="differ"):
        force_errors(Trials(trials=measured.trials[::-1], force=measured.force, pitch=measured.pitch), measured)


def test_the_mounting_of_an_imu_does_not_count_as_an_error():
    measured = _trials()
    simulated = Trials(trials=measured.trials, force=measured.force, pitch=measured.pitch + np.arange(6.0))
    assert rotation_errors(simulated, measured) == pytest.approx(np.zeros((48, 6)), abs=1e-12)
    simulated.pitch[0, 2] += 0.48
    assert rotation_errors(simulated, measured)[0, 2] == pytest.approx(0.48 * 47 / 48)
