"""The report of an experiment: one HTML file that needs no other file, a JSON beside it, and an index of all."""

from __future__ import annotations

import base64
import html
import io
import json
import math
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from pliant.base.documents.json_text import read_json
from pliant.base.errors import PliantError
from pliant.base.figures import GRID, INK, MUTED, saving
from pliant.papers.frame.base import Change, Figure, Result, Setting, Statement, Table, Target, Verdict
from pliant.papers.frame.films import WrittenFilm

__all__ = ["render_index", "render_report", "write_index", "write_report"]

_INDEX = "index.html"
_DOT = " \u00b7 "

_CSS = """
:root { color-scheme: light dark;
  --paper: #ffffff; --card: #f6f8fa; --ink: #24292f; --muted: #57606a; --line: #d8dee4; --link: #0a58a6;
  --good: #0a7a55; --good-back: #def5ea; --bad: #b3400a; --bad-back: #fdebdf; --soft: #c65200; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #14181d; --card: #1c2229; --ink: #e6e9ec; --muted: #9aa5b1; --line: #343c46; --link: #6cb6ff;
  --good: #59d6a3; --good-back: #123528; --bad: #ff9d66; --bad-back: #40220f; --soft: #ff9d66; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", Arial, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2.2rem 1.4rem 4rem; }
header { border-bottom: 1px solid var(--line); margin-bottom: 1.6rem; padding-bottom: 1.2rem; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: .3rem 0 .35rem; letter-spacing: -.01em; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 .7rem; letter-spacing: -.005em; }
p { margin: .5rem 0; max-width: 46rem; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
.over { color: var(--muted); font-size: .86rem; text-transform: uppercase; letter-spacing: .06em; margin: 0; }
.source { color: var(--muted); margin: 0; }
.verdict { display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: center; margin: 1.1rem 0 0; }
.badge { display: inline-block; border-radius: 999px; padding: .12rem .7rem; font-weight: 600; font-size: .86rem;
  white-space: nowrap; }
.pass, .checks-pass, .reproduced { color: var(--good); background: var(--good-back); }
.fail, .checks-fail, .not-reproduced { color: var(--bad); background: var(--bad-back); }
.consistent { color: var(--link); background: var(--card); }
.not-judged, .absent, .not-finished, .finished { color: var(--muted); background: var(--card); }
.facts { color: var(--muted); font-size: .9rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--muted); font-size: .88rem; padding: .5rem 0 0; caption-side: bottom; }
th { text-align: left; font-weight: 600; color: var(--muted); border-bottom: 1px solid var(--line);
  padding: .35rem .8rem .35rem 0; vertical-align: bottom; }
td { border-bottom: 1px solid var(--line); padding: .34rem .8rem .34rem 0; vertical-align: top; }
th:last-child, td:last-child { padding-right: 0; }
td.n, th.n { text-align: right; white-space: nowrap; }
tr.failed td { background: var(--bad-back); }
td code { white-space: nowrap; }
td small { color: var(--muted); display: block; }
figure { margin: 1.6rem 0 2.2rem; }
figure svg, figure img, figure video { display: block; width: 100%; height: auto; }
figure img, figure video { border-radius: 6px; }
figcaption { color: var(--muted); font-size: .9rem; margin-top: .5rem; max-width: 48rem; }
figcaption b { color: var(--ink); }
pre, code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: .87em; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem;
  overflow-x: auto; }
ul { padding-left: 1.15rem; } li { margin: .3rem 0; max-width: 46rem; }
details { border: 1px solid var(--line); border-radius: 6px; padding: .3rem .9rem; margin: .7rem 0; }
summary { cursor: pointer; font-weight: 600; padding: .25rem 0; }
details > .scroll { padding: .3rem 0 .6rem; }
.error { border-left: 3px solid var(--bad); padding-left: 1rem; white-space: pre-wrap; }
footer { color: var(--muted); font-size: .85rem; border-top: 1px solid var(--line); margin-top: 3rem;
  padding-top: 1rem; }
@media print { details > * { display: block !important; } figure, tr { break-inside: avoid; } }
"""


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


def _is_report(entry: Any) -> bool:
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
        pictures = {figure.name: _picture(figure) for figure in result.figures}
    good = sum(target.passed for target in result.targets)
    facts = _counts(result.verdicts) if result.statements else []
    facts += [f"{good} of {len(result.targets)} checks pass", f"{result.duration:.1f} s of computing"]
    if result.quick:
        facts.append("quick version")
    parts = [
        "<header>",
        '<p class="over">pliant reproduces</p>',
        f"<h1>{_text(result.title)}</h1>",
        f'<p class="source">{_text(", ".join(filter(None, (result.paper, _section(result.section)))))}</p>',
        f'<div class="verdict">{_overall(result)}<span class="facts">{_text(_DOT.join(facts))}</span></div>',
        "</header>",
    ]
    if result.error:
        parts.append(f'<h2>It did not run to its end</h2><p class="error">{_text(result.error)}</p>')
    if result.summary:
        parts.append(f"<p>{_rich(result.summary)}</p>")
    if result.statements:
        parts.append(f"<h2>What the paper says, and what we get</h2>{_statements(result.statements)}")
    failed = result.failures
    if failed:
        parts.append(f"<h2>Checks that fail</h2>{_targets(failed)}")
    if result.changes is not None:
        parts.append(f"<h2>What the changed options change</h2>{_changes(result.changes)}")
    parts += [_film(film) for film in result.films if film.file]
    for figure in result.figures:
        parts.append(_figure(figure, *pictures[figure.name]))
    behind = [target for statement in result.statements for target in statement.targets]
    if behind:
        parts.append(f"<h2>Numbers behind the verdicts</h2>{_targets(behind)}")
    if result.targets:
        parts.append(f"<h2>Checks of the simulation</h2>{_target_groups(result.targets)}")
    for table in result.tables:
        parts.append(f"<h2>{_text(table.title)}</h2>{_table(table)}")
    if result.notes:
        parts.append(f"<h2>Notes</h2>{_list(result.notes)}")
    if result.assumptions:
        parts.append(f"<h2>Assumed, because the source does not print it</h2>{_list(result.assumptions)}")
    if result.settings:
        parts.append(f"<h2>Options</h2>{_settings(result.settings)}")
    flags = "".join(f" --set {s.name}={shlex.quote(s.value)}" for s in result.settings if s.changed)
    flags += (" --quick" if result.quick else "") + (f" --seed {result.seed}" if result.seed else "")
    parts.append(f"<h2>Run it again</h2><pre>pliant reproduce {_text(result.name)}{flags}</pre>")
    links = [
        f'<a href="{html.escape(path)}">{_text(name)}</a>'
        for name, path in result.files.items()
        if name in ("json", "traces")
    ]
    if links:
        parts.append(f"<p>The same numbers for programs: {', '.join(links)}.</p>")
    from pliant import __version__

    parts.append(f'<footer>pliant {__version__} \u00b7 <a href="{_INDEX}">all reports of this folder</a></footer>')
    return _page(result.title, parts)


def render_index(entries: Iterable[dict[str, Any]]) -> str:
    """Return the index page for reports given as their JSON."""
    rows = []
    entries = list(entries)
    for entry in entries:
        good = sum(bool(t.get("passed")) for t in entry["targets"])
        source = ", ".join(filter(None, (entry.get("paper", ""), _section(entry.get("section", "")))))
        link = html.escape(entry["files"].get("report", f"{entry['name']}.html"))
        rows.append(
            f'<tr><td><a href="{link}">{_text(entry.get("title") or entry["name"])}</a>'
            f"<small>{_text(source)}</small></td><td><code>{_text(entry['name'])}</code></td>"
            + "".join(f'<td class="n">{entry["verdicts"].get(str(v), 0) or ""}</td>' for v in Verdict)
            + f'<td class="n">{good} / {len(entry["targets"])}</td><td>{_badge(_checks(entry["passed"]))}</td></tr>'
        )
    passed = sum(bool(entry["passed"]) for entry in entries)
    total = {str(v): sum(int(entry["verdicts"].get(str(v), 0)) for entry in entries) for v in Verdict}
    facts = [*_counts(total), f"the checks of {passed} of {len(entries)} experiments pass"]
    from pliant import __version__

    parts = [
        '<header><p class="over">pliant</p><h1>Published experiments, reproduced</h1>',
        f'<div class="verdict"><span class="facts">{_text(_DOT.join(facts))}</span></div></header>',
        '<div class="scroll"><table><thead><tr><th>Experiment</th><th>Name</th>'
        + "".join(f'<th class="n">{_text(str(v))}</th>' for v in Verdict)
        + f'<th class="n">Checks</th><th></th></tr></thead><tbody>{"".join(rows)}</tbody></table></div>',
        "<h2>Run them again</h2><pre>pliant reproduce all</pre>",
        f"<footer>pliant {__version__}</footer>",
    ]
    return _page("Published experiments, reproduced", parts)


# -- parts of a page ------------------------------------------------------------------------------------


def _page(title: str, parts: list[str]) -> str:
    icon = "data:image/svg+xml," + (
        "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M2 13C6 13 4 3 8 3s2 10 6 10' "
        "fill='none' stroke='%230072b2' stroke-width='2.2' stroke-linecap='round'/%3E%3C/svg%3E"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{_text(title)} \u00b7 pliant</title>\n<link rel="icon" href="{icon}">\n'
        f"<style>{_CSS}</style>\n</head>\n<body>\n<main>\n" + "\n".join(parts) + "\n</main>\n</body>\n</html>\n"
    )


def _film(film: WrittenFilm) -> str:
    """Return a film, which is a file beside the report."""
    source, text = html.escape(film.file), _text(film.caption)
    if film.file.endswith(".gif"):
        shown = f'<img src="{source}" alt="{text}">'
    else:
        shown = f'<video src="{source}" controls loop muted playsinline preload="metadata" aria-label="{text}"></video>'
    return f"<figure>{shown}<figcaption>{text}</figcaption></figure>"


def _text(value: object) -> str:
    return html.escape(str(value))


def _rich(value: str) -> str:
    """Escape, and show `code` between back-ticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", _text(value))


def _section(section: str) -> str:
    if not section:
        return ""
    return f"section {section}" if section[0].isdigit() else section


def _word(passed: object) -> str:
    return "pass" if passed else "fail"


def _checks(passed: object) -> str:
    return f"checks {_word(passed)}"


def _badge(word: str) -> str:
    return f'<span class="badge {html.escape(word.replace(" ", "-"))}">{_text(word)}</span>'


def _overall(result: Result) -> str:
    """Return the badge of a whole report: that of its checks, or of a single verdict that all statements share."""
    given = [name for name, count in result.verdicts.items() if count]
    return _badge(given[0] if result.passed and len(given) == 1 else _checks(result.passed))


def _counts(verdicts: dict[str, int]) -> list[str]:
    """Return the verdicts that occur, with their numbers."""
    return [f"{count} {name}" for name, count in verdicts.items() if count]


def _statements(statements: Iterable[Statement]) -> str:
    rows = []
    for s in statements:
        rests = f"<small>Rests on: {_rich(s.rests_on)}</small>" if s.rests_on else ""
        missed = "".join(f"<small>{_text(target.difference)}</small>" for target in s.missed)
        rows.append(
            f"<tr{' class=failed' if s.missed else ''}><td>{_text(s.where)}</td><td>{_rich(s.what)}</td>"
            f"<td>{_rich(s.found)}{missed}{rests}</td><td>{_badge(str(s.verdict))}</td></tr>"
        )
    return (
        '<div class="scroll"><table><thead><tr><th>Where</th><th>The paper says</th><th>We get</th><th>Verdict</th>'
        f"</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _changes(changes: list[Change]) -> str:
    if not changes:
        return "<p>Against the default options no verdict changes.</p>"
    rows = [
        f"<tr><td>{_rich(c.name)}</td><td>{_badge(c.before)}<small>{_rich(c.found_before)}</small></td>"
        f"<td>{_badge(c.after)}<small>{_rich(c.found)}</small></td></tr>"
        for c in changes
    ]
    return (
        '<div class="scroll"><table><thead><tr><th></th><th>Default options</th><th>This run</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _settings(settings: Iterable[Setting]) -> str:
    rows = [
        f"<tr><td><code>{_text(s.name)}</code></td><td>{_text(f'{s.value} {s.unit}'.strip())}</td>"
        f"<td>{_text(f'{s.default} {s.unit}'.strip())}</td>"
        f"<td>{_rich(s.meaning)}{f'<small>Default: {_rich(s.source)}</small>' if s.source else ''}</td></tr>"
        for s in settings
    ]
    return (
        '<div class="scroll"><table><thead><tr><th>Option</th><th>This run</th><th>Default</th><th>Meaning</th></tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _list(items: Iterable[str]) -> str:
    cells = []
    for item in items:
        cells.append(f"<li><pre>{_text(item)}</pre></li>" if "\n" in item.strip() else f"<li>{_rich(item)}</li>")
    return f"<ul>{''.join(cells)}</ul>"


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
        badge = _badge(_word(good == len(members)))
        title = f"{_text(head or 'others')} <span class='facts'>{good} of {len(members)}</span> {badge}"
        parts.append(
            f"<details{'' if good == len(members) else ' open'}><summary>{title}</summary>"
            f"{_targets(members, strip=head)}</details>"
        )
    return "".join(parts)


def _targets(targets: Iterable[Target], strip: str = "") -> str:
    rows = []
    for target in targets:
        name = target.name.removeprefix(f"{strip}: ") if strip else target.name
        note = f"<small>{_rich(target.note)}</small>" if target.note else ""
        measured = "not measured" if target.measured is None else _cell(target.measured)
        rows.append(
            f"<tr{'' if target.passed else ' class=failed'}><td>{_text(name)}{note}</td>"
            f'<td class="n">{measured}</td><td class="n">{_text(target.expected)}</td><td>{_text(target.unit)}</td>'
            f"<td>{_text(target.source)}</td><td>{_badge(_word(target.passed))}</td></tr>"
        )
    return (
        '<div class="scroll"><table><thead><tr><th>What</th><th class="n">Measured</th><th class="n">Expected</th>'
        f"<th>Unit</th><th>Source</th><th></th></tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _table(table: Table) -> str:
    numeric = [
        bool(table.rows) and all(isinstance(row[i], int | float | np.number) or row[i] is None for row in table.rows)
        for i in range(len(table.columns))
    ]
    head = "".join(f"<th{' class=n' if n else ''}>{_text(c)}</th>" for c, n in zip(table.columns, numeric))
    body = "".join(
        "<tr>" + "".join(f"<td{' class=n' if n else ''}>{_cell(c)}</td>" for c, n in zip(row, numeric)) + "</tr>"
        for row in table.rows
    )
    caption = f"<caption>{_rich(table.note)}</caption>" if table.note else ""
    return f'<div class="scroll"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(value: object) -> str:
    if value is None:
        return "\u2013"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        if not math.isfinite(value):
            return _text(value)
        return _text(f"{value:.5g}").replace("-", "\u2212", 1) if value < 0 else _text(f"{value:.5g}")
    return _text(value)


def _figure(figure: Figure, svg: str, png: bytes) -> str:
    title, dot, rest = figure.caption.partition(". ")
    caption = f"<b>{_rich(title + ('.' if dot else ''))}</b> {_rich(rest)}"
    if svg:
        picture = _inline(svg, title)
    else:
        data = base64.b64encode(png).decode("ascii")
        picture = f'<img alt="{html.escape(title)}" src="data:image/png;base64,{data}">'
    return f"<figure>{picture}<figcaption>{caption}</figcaption></figure>"


# -- figures ---------------------------------------------------------------------------------------------


def _picture(figure: Figure) -> tuple[str, bytes]:
    """Return the figure as SVG with the page's colours in place of ink and grid ("" for a bitmap), and as PNG."""
    if isinstance(figure.figure, bytes | bytearray | memoryview):
        return "", bytes(figure.figure)
    vector, bitmap = io.BytesIO(), io.BytesIO()
    with saving():
        figure.figure.savefig(vector, format="svg", metadata={"Date": None, "Creator": None})
        figure.figure.savefig(bitmap, format="png", dpi=160, facecolor="white")
    text = vector.getvalue().decode("utf-8")
    for color, name in ((INK, "--ink"), (GRID, "--line"), (MUTED, "--muted")):
        text = text.replace(color, f"var({name})")
    return text, bitmap.getvalue()


def _with_colors(svg: str) -> str:
    """Return the SVG for use outside a page."""
    for color, name in ((INK, "--ink"), (GRID, "--line"), (MUTED, "--muted")):
        svg = svg.replace(f"var({name})", color)
    return svg


def _inline(svg: str, title: str) -> str:
    start = svg.index("<svg")
    body = svg[start:]
    # Scales with the page: the view box stays, the fixed size goes.
    head, _, rest = body.partition(">")
    head = re.sub(r'\s(width|height)="[^"]*"', "", head)
    return f'{head} role="img" aria-label="{html.escape(title)}">{rest}'


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
