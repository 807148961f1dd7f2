"""Finding, running and reporting experiments."""

import json
import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from pliant.base.documents.files import writable_folder
from pliant.base.errors import PliantError
from pliant.base.figures import label, new_figure
from pliant.base.options import option
from pliant.experiments import Context, Figure, Result, Statement, Table, Target, base, reproduce, runner
from pliant.experiments.base import experiment
from pliant.experiments.runner import find_experiment
from pliant.tasks.executor import Executor


@pytest.fixture
def registry(monkeypatch):
    """An empty registry that forgets what a test puts into it."""
    monkeypatch.setattr(base, "_EXPERIMENTS", {})
    monkeypatch.setattr(runner, "list_experiments", lambda: [base._EXPERIMENTS[n] for n in sorted(base._EXPERIMENTS)])
    return base._EXPERIMENTS


def put_small_experiment(name="small", value=0.05):
    @experiment(name, title="A <small> one", paper="Somebody 2021", section="4.1")
    def small(context):
        """Measure one number."""
        figure, axis = new_figure(height=1.5)
        axis.plot([0, 1], [0, 1])
        label(axis, "time [s]", "angle [rad]", "Line")
        context.progress(0.5, "half way")
        return Result(
            summary="It `measures` & draws.",
            targets=[Target("error", high=0.08, unit="rad", source="section 4.3").measure(value)],
            tables=[Table(title="Numbers", columns=["case", "value [rad]"], rows=[["a", 1.25], ["b", None]])],
            figures=[Figure(name="line", caption="A line. It rises.", figure=figure)],
            traces={"time_s": np.arange(3.0)},
            notes=["step 1 ms"],
            assumptions=["the link's inertia"],
        )

    return small


def test_reproduce_writes_a_report_that_needs_no_other_file(registry, tmp_path):
    put_small_experiment()
    seen = []
    (result,) = reproduce("small", tmp_path / "out", progress=lambda *what: seen.append(what))
    assert result.passed
    page = (tmp_path / "out" / "small.html").read_text(encoding="utf-8")
    assert "A &lt;small&gt; one" in page
    assert "<svg" in page
    assert "pliant reproduce small" in page
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', page)
    assert not re.findall(r'<(?:script|link rel="stylesheet")', page)
    assert ("small", 0.5, "half way") in seen
    assert seen[-1][1] == 1.0
    found = json.loads((tmp_path / "out" / "small.json").read_text(encoding="utf-8"))
    assert found["passed"] is True
    assert found["targets"][0]["measured"] == 0.05
    for path in found["files"].values():
        assert (tmp_path / "out" / path).stat().st_size > 0
    assert 'href="small.html"' in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")


def test_the_index_lists_earlier_reports_of_the_folder_too(registry, tmp_path):
    put_small_experiment("one")
    put_small_experiment("two", value=0.5)
    reproduce("one", tmp_path)
    reproduce("two", tmp_path)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert 'href="one.html"' in page
    assert 'href="two.html"' in page
    assert "the checks of 1 of 2 experiments pass" in page


def test_a_failed_target_is_shown_first(registry, tmp_path):
    put_small_experiment(value=0.5)
    (result,) = reproduce("small", tmp_path)
    assert not result.passed
    assert "Checks that fail" in (tmp_path / "small.html").read_text(encoding="utf-8")


def test_an_experiment_that_breaks_does_not_lose_the_others(registry, tmp_path):
    @experiment("breaks")
    def breaks(context):
        raise ZeroDivisionError("by nothing")

    put_small_experiment()
    first, second = reproduce(["breaks", "small"], tmp_path)
    assert first.error == "ZeroDivisionError: by nothing"
    assert not first.passed
    assert second.passed
    assert "by nothing" in (tmp_path / "breaks.html").read_text(encoding="utf-8")


def test_an_unknown_experiment_names_the_nearest_and_runs_nothing(registry, tmp_path):
    put_small_experiment()
    with pytest.raises(PliantError, match="did you mean 'small'"):
        reproduce(["small", "smal"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_output_folder_that_is_a_file_is_named(registry, tmp_path):
    put_small_experiment()
    (tmp_path / "taken").write_text("x")
    with pytest.raises(PliantError, match=r"taken.*is a file"):
        reproduce("small", tmp_path / "taken")


def test_an_output_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "taken").write_text("x")
    with pytest.raises(PliantError, match=r"inside.*cannot be written"):
        writable_folder(tmp_path / "taken" / "inside")


def test_numbers_that_are_not_finite_leave_valid_json(registry, tmp_path):
    @experiment("odd")
    def odd(context):
        return Result(targets=[Target("x", high=1.0, source="ours: a test").measure(float("nan"))])

    reproduce("odd", tmp_path)
    assert json.loads((tmp_path / "odd.json").read_text())["targets"][0]["measured"] is None


def test_every_experiment_of_pliant_has_title_and_source():
    for found in runner.list_experiments():
        assert found.title
        assert found.paper
        assert find_experiment(found.name) is found


# -- options --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PushOptions:
    friction: float = option(0.025, unit="N m", low=0.0, source="section 4.2")
    """Friction of the joint."""


def put_pushing_experiment(name="push"):
    @experiment(name, title="Push")
    def push(context: Context, options: PushOptions) -> Result:
        """Push a joint that sticks."""
        force = Target("force left", high=0.03, unit="N m", source="section 4.2").measure(options.friction)
        moves = Statement(
            what="The joint moves.", where="section 4.2", targets=[force], found=f"{options.friction:g} N m stay."
        )
        energy = Target("energy", high=options.friction, source="ours: energy").measure(0.01)
        return Result(statements=[moves], targets=[energy])


def test_a_changed_option_says_which_verdicts_it_changes(registry, tmp_path):
    put_pushing_experiment()
    (same,) = reproduce("push", tmp_path, options={"friction": "0.025"})
    assert same.changes is None
    (more,) = reproduce("push", tmp_path, options={"friction": 0.05})
    assert more.passed
    assert [(c.name, c.before, c.after) for c in more.changes] == [("The joint moves.", "reproduced", "not reproduced")]
    page = (tmp_path / "push.html").read_text(encoding="utf-8")
    assert "What the changed options change" in page
    assert "pliant reproduce push --set friction=0.05" in page
    assert "0.02 beyond" in page
    (less,) = reproduce("push", tmp_path, options={"push.friction": 0.005})
    assert [(c.name, c.before, c.after) for c in less.changes] == [("energy", "pass", "fail")]
    found = json.loads((tmp_path / "push.json").read_text(encoding="utf-8"))
    assert found["options"][0]["value"] == "0.005"
    assert found["verdicts"]["reproduced"] == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopedOptions(PushOptions):
    SCOPE: ClassVar = ("robot",)
    robot: str = option("small", source="ours")
    """Which robot is pushed."""


def test_options_that_choose_what_is_examined_are_the_same_in_the_run_to_compare_with(registry, tmp_path):
    ran = []

    @experiment("scoped", title="Scoped")
    def scoped(context: Context, options: ScopedOptions) -> Result:
        """Push a robot."""
        ran.append((options.robot, options.friction))
        return Result()

    (chosen,) = reproduce("scoped", tmp_path, options={"robot": "large"})
    assert (ran, chosen.changes) == ([("large", 0.025)], None)
    (changed,) = reproduce("scoped", tmp_path, options={"robot": "large", "friction": 0.05})
    assert (ran[1:], changed.changes) == ([("large", 0.025), ("large", 0.05)], [])


def test_an_option_belongs_to_the_experiments_that_have_it(registry, tmp_path):
    put_small_experiment()
    put_pushing_experiment()
    small, push = reproduce(["small", "push"], tmp_path, options={"friction": 0.05})
    assert small.changes is None
    assert push.settings[0].changed
    with pytest.raises(PliantError, match=r"no option 'fraction'; did you mean 'friction'"):
        reproduce(["small", "push"], tmp_path / "out", options={"fraction": 1.0})
    with pytest.raises(PliantError, match=r"small: no option 'small.friction'; there are none"):
        reproduce(["small", "push"], tmp_path / "out", options={"small.friction": 1.0})
    with pytest.raises(PliantError, match=r"push: friction is -1; must be a number >= 0 \[N m\]"):
        reproduce("push", tmp_path / "out", options={"friction": -1})
    assert not (tmp_path / "out").exists()


def test_two_targets_of_one_name_are_refused(registry, tmp_path):
    @experiment("twice")
    def twice(context):
        return Result(targets=2 * [Target("x", 0.0, high=1.0, source="ours: a test")])

    (result,) = reproduce("twice", tmp_path)
    assert result.error == "experiment 'twice': 'x' occurs twice; names must differ"


def test_a_negative_seed_is_refused_before_anything_runs(registry, tmp_path):
    put_small_experiment()
    with pytest.raises(PliantError, match="seed is -1; must be a whole number >= 0"):
        reproduce("small", tmp_path / "out", seed=-1)
    assert not (tmp_path / "out").exists()


def test_options_that_an_experiment_refuses_are_refused_before_anything_runs(registry, tmp_path):
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        data: str = option("", source="ours")
        """A file."""

    ran = []

    def check(options):
        if options.data:
            raise PliantError(f"data {options.data!r} cannot be read", field="data")

    @experiment("measured", title="With a file", check=check)
    def measured(context: Context, options: Options) -> Result:
        """Take a file."""
        ran.append(options)
        return Result(targets=[Target("one", 1.0, equals=1.0, source="ours: arithmetic")])

    put_small_experiment()
    with pytest.raises(PliantError, match=r"data 'absent\.csv' cannot be read"):
        reproduce(["small", "measured"], tmp_path / "out", options={"measured.data": "absent.csv"})
    assert not (tmp_path / "out").exists()
    assert not ran
    reproduce("measured", tmp_path / "out")
    assert len(ran) == 1


def test_an_option_of_an_experiment_that_does_not_run_is_told_so(registry, tmp_path):
    put_small_experiment("one")
    put_small_experiment("two")
    with pytest.raises(
        PliantError, match=r"'two\.value' is an option of two, which does not run; also name it after one"
    ):
        reproduce("one", tmp_path, options={"two.value": 1.0})


def test_the_users_curves_are_no_effect_of_a_changed_option(registry, tmp_path):
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        mass: float = option(1.0, unit="kg", low=0.0, source="ours")
        """A mass."""

    @experiment("judged", title="Judged by curves")
    def judged(context: Context, options: Options) -> Result:
        """Pass where there are curves."""
        return Result(targets=[Target("curves", low=1.0, source="ours: a test").measure(context.curves is not None)])

    (result,) = reproduce("judged", tmp_path / "out", options={"mass": 2.0}, curves=tmp_path)
    assert result.passed
    assert result.changes == []


def test_an_executor_reaches_experiments_of_many_simulations_and_is_refused_where_none_is(registry, tmp_path):
    put_small_experiment()
    with pytest.raises(PliantError, match="none of these experiments runs many simulations"):
        reproduce("small", tmp_path, executor=Executor(processes=2))
    given = []

    @experiment("many", title="Many", uses_executor=True)
    def many(context):
        given.append(context.executor)
        return Result()

    reproduce(["many", "small"], tmp_path, executor=Executor(processes=2))
    reproduce("many", tmp_path)
    reproduce("many", tmp_path, quick=True)
    assert given == [Executor(processes=2), Executor(processes=0), Executor()]
