"""The report of an experiment: one HTML file that needs no other file, a JSON beside it, and an index of all."""

from __future__ import annotations

import html
import io
import json
import math
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from pliant.base.documents.json_text import read_json
from pliant.base.errors import PliantError
from pliant.base.figures import GRID, INK, MUTED, saving
from pliant.experiments.base import Change, Figure, Result, Setting, Statement, Target, Verdict
from pliant.experiments.films import WrittenFilm
from pliant.experiments.pages import badge, bullets, cell, escaped, figure, page, picture_of, rich, table

_INDEX = "index.html"
_DOT = " \u00b7 "


def write_report(result: Result, folder: Path) -> Path:
    """Write ``<name>.html``, ``<name>.json``, and figures and traces under ``<name>/``.

    Args:
        result: what the experiment gave; `files` is filled in.
        folder: the output folder.

    Returns:
        The path of the HTML file.

    Raises:
        PliantError: a file cannot be written.
    """
    own = folder / result.name
    pictures = {figure.name: _picture(figure) for figure in result.figures}
    try:
        own.mkdir(parents=True, exist_ok=True)
        result.files = {"report": f"{result.name}.html", "json": f"{result.name}.json"}
        for figure in result.figures:
            svg, png = pictures[figure.name]
            (own / f"{figure.name}.png").write_bytes(png)
            result.files[figure.name] = f"{result.name}/{figure.name}.png"
            if svg:
                (own / f"{figure.name}.svg").write_text(_with_colors(svg), encoding="utf-8")
        if result.traces:
            np.savez_compressed(own / "traces.npz", **{k: np.asarray(v) for k, v in result.traces.items()})
            result.files["traces"] = f"{result.name}/traces.npz"
        path = folder / f"{result.name}.html"
        path.write_text(render_report(result, pictures), encoding="utf-8")
        text = json.dumps(_plain(result.as_dict()), indent=1, allow_nan=False)
        (folder / f"{result.name}.json").write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise PliantError(
            f"the report of {result.name!r} cannot be written to {str(folder)!r}: {error.strerror}", field="output"
        ) from None
    return path


def write_index(folder: Path) -> Path:
    """Write ``index.html``: every report of the folder with its verdict."""
    entries = []
    for path in sorted(folder.glob("*.json")):
        try:
            entry = read_json(path)
        except PliantError:
            continue
        if _is_report(entry):
            entries.append(entry)
    path = folder / _INDEX
    try:
        path.write_text(render_index(entries), encoding="utf-8")
    except OSError as error:
        raise PliantError(f"{str(path)!r} cannot be written: {error.strerror}", field="output") from None
    return path


def _is_report(entry: object) -> bool:
    """Return whether a value is what `write_report` writes, as far as the index shows it."""
    if not isinstance(entry, dict):
        return False
    texts = [entry.get(key, "") for key in ("name", "title", "paper", "section")]
    lists = [entry.get("targets"), *[entry.get(key) for key in ("verdicts", "files")]]
    return (
        bool(entry.get("name"))
        and all(isinstance(text, str) for text in texts)
        and "passed" in entry
        and [type(one) for one in lists] == [list, dict, dict]
        and all(isinstance(target, dict) for target in entry["targets"])
        and all(isinstance(count, int) for count in entry["verdicts"].values())
        and isinstance(entry["files"].get("report", ""), str)
    )


def render_report(result: Result, pictures: dict[str, tuple[str, bytes]] | None = None) -> str:
    """Return the report as HTML that refers to nothing outside itself but to films.

    Args:
        result: what to show.
        pictures: (SVG text or "", PNG bytes) by figure; None draws the figures now.
    """
    if pictures is None:
        pictures = {one.name: _picture(one) for one in result.figures}
    good = sum(target.passed for target in result.targets)
    facts = _counts(result.verdicts) if result.statements else []
    facts += [f"{good} of {len(result.targets)} checks pass", f"{result.duration:.1f} s of computing"]
    if result.quick:
        facts.append("quick version")
    parts = [
        "<header>",
        '<p class="over">pliant reproduces</p>',
        f"<h1>{escaped(result.title)}</h1>",
        f'<p class="source">{escaped(", ".join(filter(None, (result.paper, _section(result.section)))))}</p>',
        f'<div class="verdict">{_overall(result)}<span class="facts">{escaped(_DOT.join(facts))}</span></div>',
        "</header>",
    ]
    if result.error:
        parts.append(f'<h2>It did not run to its end</h2><p class="error">{escaped(result.error)}</p>')
    if result.summary:
        parts.append(f"<p>{rich(result.summary)}</p>")
    if result.statements:
        parts.append(f"<h2>What the paper says, and what we get</h2>{_statements(result.statements)}")
    failed = result.failures
    if failed:
        parts.append(f"<h2>Checks that fail</h2>{_targets(failed)}")
    if result.changes is not None:
        parts.append(f"<h2>What the changed options change</h2>{_changes(result.changes)}")
    parts += [_film(film) for film in result.films if film.file]
    parts += [figure(one.caption, *pictures[one.name]) for one in result.figures]
    behind = [target for statement in result.statements for target in statement.targets]
    if behind:
        parts.append(f"<h2>Numbers behind the verdicts</h2>{_targets(behind)}")
    if result.targets:
        parts.append(f"<h2>Checks of the simulation</h2>{_target_groups(result.targets)}")
    for one in result.tables:
        parts.append(f"<h2>{escaped(one.title)}</h2>{table(one.columns, one.rows, one.note)}")
    if result.notes:
        parts.append(f"<h2>Notes</h2>{bullets(result.notes)}")
    if result.assumptions:
        parts.append(f"<h2>Assumed, because the source does not print it</h2>{bullets(result.assumptions)}")
    if result.settings:
        parts.append(f"<h2>Options</h2>{_settings(result.settings)}")
    flags = "".join(f" --set {s.name}={shlex.quote(s.value)}" for s in result.settings if s.changed)
    flags += (" --quick" if result.quick else "") + (f" --seed {result.seed}" if result.seed else "")
    parts.append(f"<h2>Run it again</h2><pre>pliant reproduce {escaped(result.name)}{flags}</pre>")
    links = [
        f'<a href="{html.escape(path)}">{escaped(name)}</a>'
        for name, path in result.files.items()
        if name in ("json", "traces")
    ]
    if links:
        parts.append(f"<p>The same numbers for programs: {', '.join(links)}.</p>")
    from pliant import __version__

    parts.append(f'<footer>pliant {__version__} \u00b7 <a href="{_INDEX}">all reports of this folder</a></footer>')
    return page(result.title, parts)


def render_index(entries: Iterable[dict[str, Any]]) -> str:
    """Return the index page for reports given as their JSON."""
    rows = []
    entries = list(entries)
    for entry in entries:
        good = sum(bool(t.get("passed")) for t in entry["targets"])
        source = ", ".join(filter(None, (entry.get("paper", ""), _section(entry.get("section", "")))))
        link = html.escape(entry["files"].get("report", f"{entry['name']}.html"))
        rows.append(
            f'<tr><td><a href="{link}">{escaped(entry.get("title") or entry["name"])}</a>'
            f"<small>{escaped(source)}</small></td><td><code>{escaped(entry['name'])}</code></td>"
            + "".join(f'<td class="n">{entry["verdicts"].get(str(v), 0) or ""}</td>' for v in Verdict)
            + f'<td class="n">{good} / {len(entry["targets"])}</td><td>{badge(_checks(entry["passed"]))}</td></tr>'
        )
    passed = sum(bool(entry["passed"]) for entry in entries)
    total = {str(v): sum(int(entry["verdicts"].get(str(v), 0)) for entry in entries) for v in Verdict}
    facts = [*_counts(total), f"the checks of {passed} of {len(entries)} experiments pass"]
    from pliant import __version__

    parts = [
        '<header><p class="over">pliant</p><h1>Published experiments, reproduced</h1>',
        f'<div class="verdict"><span class="facts">{escaped(_DOT.join(facts))}</span></div></header>',
        '<div class="scroll"><table><thead><tr><th>Experiment</th><th>Name</th>'
        + "".join(f'<th class="n">{escaped(str(v))}</th>' for v in Verdict)
        + f'<th class="n">Checks</th><th></th></tr></thead><tbody>{"".join(rows)}</tbody></table></div>',
        "<h2>Run them again</h2><pre>pliant reproduce all</pre>",
        f"<footer>pliant {__version__}</footer>",
    ]
    return page("Published experiments, reproduced", parts)


# -- parts of a page ------------------------------------------------------------------------------------


def _film(film: WrittenFilm) -> str:
    """Return a film, which is a file beside the report."""
    source, text = html.escape(film.file), escaped(film.caption)
    if film.file.endswith(".gif"):
        shown = f'<img src="{source}" alt="{text}">'
    else:
        shown = f'<video src="{source}" controls loop muted playsinline preload="metadata" aria-label="{text}"></video>'
    return f"<figure>{shown}<figcaption>{text}</figcaption></figure>"


def _section(section: str) -> str:
    if not section:
        return ""
    return f"section {section}" if section[0].isdigit() else section


def _word(passed: object) -> str:
    return "pass" if passed else "fail"


def _checks(passed: object) -> str:
    return f"checks {_word(passed)}"


def _overall(result: Result) -> str:
    """Return the badge of a whole report: that of its checks, or of a single verdict that all statements share."""
    given = [name for name, count in result.verdicts.items() if count]
    return badge(given[0] if result.passed and len(given) == 1 else _checks(result.passed))


def _counts(verdicts: dict[str, int]) -> list[str]:
    """Return the verdicts that occur, with their numbers."""
    return [f"{count} {name}" for name, count in verdicts.items() if count]


def _statements(statements: Iterable[Statement]) -> str:
    rows = []
    for s in statements:
        rests = f"<small>Rests on: {rich(s.rests_on)}</small>" if s.rests_on else ""
        missed = "".join(f"<small>{escaped(target.difference)}</small>" for target in s.missed)
        rows.append(
            f"<tr{' class=failed' if s.missed else ''}><td>{escaped(s.where)}</td><td>{rich(s.what)}</td>"
            f"<td>{rich(s.found)}{missed}{rests}</td><td>{badge(str(s.verdict))}</td></tr>"
        )
    return (
        '<div class="scroll"><table><thead><tr><th>Where</th><th>The paper says</th><th>We get</th><th>Verdict</th>'
        f"</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _changes(changes: list[Change]) -> str:
    if not changes:
        return "<p>Against the default options no verdict changes.</p>"
    rows = [
        f"<tr><td>{rich(c.name)}</td><td>{badge(c.before)}<small>{rich(c.found_before)}</small></td>"
        f"<td>{badge(c.after)}<small>{rich(c.found)}</small></td></tr>"
        for c in changes
    ]
    return (
        '<div class="scroll"><table><thead><tr><th></th><th>Default options</th><th>This run</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _settings(settings: Iterable[Setting]) -> str:
    rows = [
        f"<tr><td><code>{escaped(s.name)}</code></td><td>{escaped(f'{s.value} {s.unit}'.strip())}</td>"
        f"<td>{escaped(f'{s.default} {s.unit}'.strip())}</td>"
        f"<td>{rich(s.meaning)}{f'<small>Default: {rich(s.source)}</small>' if s.source else ''}</td></tr>"
        for s in settings
    ]
    return (
        '<div class="scroll"><table><thead><tr><th>Option</th><th>This run</th><th>Default</th><th>Meaning</th></tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _target_groups(targets: list[Target]) -> str:
    """Return all targets; a long list folded by the text before ": " in the names."""
    if len(targets) <= 14:
        return _targets(targets)
    groups: dict[str, list[Target]] = {}
    for target in targets:
        head, colon, _ = target.name.partition(": ")
        groups.setdefault(head if colon else "", []).append(target)
    if len(groups) == 1:
        return _targets(targets)
    parts = []
    for head, members in groups.items():
        good = sum(target.passed for target in members)
        judged = badge(_word(good == len(members)))
        title = f"{escaped(head or 'others')} <span class='facts'>{good} of {len(members)}</span> {judged}"
        parts.append(
            f"<details{'' if good == len(members) else ' open'}><summary>{title}</summary>"
            f"{_targets(members, strip=head)}</details>"
        )
    return "".join(parts)


def _targets(targets: Iterable[Target], strip: str = "") -> str:
    rows = []
    for target in targets:
        name = target.name.removeprefix(f"{strip}: ") if strip else target.name
        note = f"<small>{rich(target.note)}</small>" if target.note else ""
        measured = "not measured" if target.measured is None else cell(target.measured)
        rows.append(
            f"<tr{'' if target.passed else ' class=failed'}><td>{escaped(name)}{note}</td>"
            f'<td class="n">{measured}</td><td class="n">{escaped(target.expected)}</td><td>{escaped(target.unit)}</td>'
            f"<td>{escaped(target.source)}</td><td>{badge(_word(target.passed))}</td></tr>"
        )
    return (
        '<div class="scroll"><table><thead><tr><th>What</th><th class="n">Measured</th><th class="n">Expected</th>'
        f"<th>Unit</th><th>Source</th><th></th></tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


# -- figures ---------------------------------------------------------------------------------------------


def _picture(figure: Figure) -> tuple[str, bytes]:
    """Return the figure as SVG with the page's colours ("" for a bitmap), and as PNG."""
    if isinstance(figure.figure, bytes | bytearray | memoryview):
        return "", bytes(figure.figure)
    bitmap = io.BytesIO()
    with saving():
        figure.figure.savefig(bitmap, format="png", dpi=160, facecolor="white")
    return picture_of(figure.figure), bitmap.getvalue()


def _with_colors(svg: str) -> str:
    """Return the SVG for use outside a page."""
    for color, name in ((INK, "--ink"), (GRID, "--line"), (MUTED, "--muted")):
        svg = svg.replace(f"var({name})", color)
    return svg


def _plain(value: object) -> object:
    """Return JSON-ready data: numpy numbers as Python's, NaN and infinity as None."""
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(v) for v in value]
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    return value
