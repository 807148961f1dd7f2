"""The report of `pliant bench compliance`: one page with claims, scores, searches and the controllers found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.documents.files import write_files
from pliant.base.errors import PliantError
from pliant.base.figures import CYCLE, label, legend, new_figure
from pliant.experiments.pages import badge, escaped, figure, page, picture_of, rich, table
from pliant.learn.compliance.results import Results
from pliant.learn.compliance.statistics import iqm
from pliant.learn.compliance.task import ComplianceTask

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REPORT = "compliance.html"
"""Name of the report in the output folder."""


def write_report(results: Results, folder: Path) -> Path:
    """Write the report; return its path.

    Raises:
        PliantError: it cannot be written, or matplotlib is not installed.
    """
    text = render_report(results).encode()
    return write_files(folder, {REPORT: text}, "the report", PliantError, overwrite=True)[0]


def render_report(results: Results) -> str:
    """Return the report as HTML that refers to nothing outside itself."""
    budget = results.budget
    facts = f"{budget.runs} runs of each method, {budget.searched} training and {budget.held_out} held-out episodes"
    parts = [
        '<header><p class="over">pliant bench</p><h1>Where compliance decides</h1>',
        f'<div class="verdict"><span class="facts">{facts}, seed {results.seed}</span></div></header>',
        "<h2>Claims</h2>",
        _claims(results),
    ]
    for task in results.tasks:
        parts += _task(results, task)
    command = " ".join(["pliant bench compliance", *(f"--task {task.name}" for task in results.tasks)])
    parts.append(f"<h2>Run it again</h2><pre>{escaped(command)} --seed {results.seed}</pre>")
    return page("Where compliance decides", parts)


def _claims(results: Results) -> str:
    rows = [
        f"<tr><td>{escaped(c.task)}</td><td>{escaped(c.claim.better)} minus {escaped(c.claim.than)}</td>"
        f'<td class="n">{c.difference.value:+.3g}</td>'
        f'<td class="n">{c.difference.low:+.3g} to {c.difference.high:+.3g}</td>'
        f"<td>{escaped(c.measure.name)} [{escaped(c.measure.unit)}], {c.measure.better} is better</td>"
        f'<td class="n">{c.p:.2g}</td><td class="n">{c.corrected:.2g}</td><td>{badge(c.verdict)}</td></tr>'
        for c in results.claims()
    ]
    heads = ("Task", "Methods", "Difference", "95 %", "Measure", "p", "p corrected", "Verdict")
    head = "".join(f"<th>{name}</th>" for name in heads)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _task(results: Results, task: ComplianceTask) -> list[str]:
    scores = [
        (s.measure.name, s.method, s.found.value, s.found.low, s.found.high, s.measure.unit)
        for s in results.scores()
        if s.task == task.name
    ]
    parameters = [
        (p.name, *(_parameter(results, task, method.name, p.name) for method in task.methods), p.unit)
        for p in task.parameters
    ]
    methods = [method.name for method in task.methods]
    return [
        f"<h2>{escaped(task.title)}</h2>",
        f"<p>{rich(task.claim)}</p>",
        figure(
            "Searches and held-out scores. Left: the training measure of the centre of each search, interquartile mean "
            "of the runs. Right: the primary measure of each run, mean of its held-out episodes.",
            picture_of(_picture(results, task)),
        ),
        table(("measure", "method", "score", "95 % from", "to", "unit"), scores),
        "<h2>Controllers</h2>",
        table(("parameter", *methods, "unit"), parameters, "Median of the runs, and the range of them."),
    ]


def _parameter(results: Results, task: ComplianceTask, method: str, name: str) -> str:
    values = [o.parameters[name] for o in results.outcomes if (o.task, o.method) == (task.name, method)]
    if len(values) == 1:
        return f"{values[0]:.3g}"
    return f"{np.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def _picture(results: Results, task: ComplianceTask) -> Figure:
    drawing, (left, right) = new_figure(1, 2, height=2.6)
    for k, method in enumerate(task.methods):
        color = CYCLE[k % len(CYCLE)]
        found = [o for o in results.outcomes if (o.task, o.method) == (task.name, method.name)]
        if found[0].history:
            left.plot(iqm(np.array([o.history for o in found])), color=color, label=method.name)
        scores = results.matrix(task.name, method.name, task.primary.name).mean(axis=1)
        right.plot([k] * len(scores), scores, "o", color=color, alpha=0.6)
    right.set_xticks(range(len(task.methods)), [method.name for method in task.methods])
    if left.lines:
        legend(left)
    label(left, "round", f"{task.objective.name} [{task.objective.unit}]", "training")
    label(right, "", f"{task.primary.name} [{task.primary.unit}]", "held-out episodes")
    return drawing
