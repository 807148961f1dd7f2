"""Pages of HTML that need no other file: one style, light or dark, with tables, badges and figures as SVG.

The reports of experiments and of identified joints are such pages:

    parts = ["<h2>Values</h2>", table(["parameter", "value"], [("law.k", 5.0)])]
    path.write_text(page("A joint", parts))
"""

from __future__ import annotations

import base64
import html
import io
import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.figures import GRID, INK, MUTED, saving

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def page(title: str, parts: Iterable[str]) -> str:
    """Return a page as text.

    Args:
        title: title of the page; escaped.
        parts: contents, as HTML.
    """
    icon = "data:image/svg+xml," + (
        "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M2 13C6 13 4 3 8 3s2 10 6 10' "
        "fill='none' stroke='%230072b2' stroke-width='2.2' stroke-linecap='round'/%3E%3C/svg%3E"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{escaped(title)} \u00b7 pliant</title>\n<link rel="icon" href="{icon}">\n'
        f"<style>{_CSS}</style>\n</head>\n<body>\n<main>\n" + "\n".join(parts) + "\n</main>\n</body>\n</html>\n"
    )


def escaped(value: object) -> str:
    """Return a value as text that cannot become a part of the page."""
    return html.escape(str(value))


def rich(value: str) -> str:
    """Escape, and show `code` between back-ticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped(value))


def badge(word: str) -> str:
    """Return a word in a coloured frame; its class is the word, such as ``pass``."""
    return f'<span class="badge {html.escape(word.replace(" ", "-"))}">{escaped(word)}</span>'


def bullets(items: Iterable[str]) -> str:
    """Return a list; text of several lines keeps its lines."""
    cells = (f"<pre>{escaped(item)}</pre>" if "\n" in item.strip() else rich(item) for item in items)
    return f"<ul>{''.join(f'<li>{cell}</li>' for cell in cells)}</ul>"


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], note: str = "") -> str:
    """Return a table; columns of numbers are aligned at the right.

    Args:
        columns: headings.
        rows: cells; texts with code between back-ticks, numbers, or None for what there is not.
        note: caption below the table.
    """
    numeric = [
        bool(rows) and all(isinstance(row[i], int | float | np.number) or row[i] is None for row in rows)
        for i in range(len(columns))
    ]
    head = "".join(f"<th{' class=n' if n else ''}>{escaped(c)}</th>" for c, n in zip(columns, numeric, strict=True))
    body = "".join(
        "<tr>"
        + "".join(f"<td{' class=n' if n else ''}>{cell(c)}</td>" for c, n in zip(row, numeric, strict=True))
        + "</tr>"
        for row in rows
    )
    caption = f"<caption>{rich(note)}</caption>" if note else ""
    return f'<div class="scroll"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def cell(value: object) -> str:
    """Return the content of a cell: five digits of a number, a dash for None."""
    if value is None:
        return "\u2013"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        if not math.isfinite(value):
            return escaped(value)
        return escaped(f"{value:.5g}").replace("-", "\u2212", 1) if value < 0 else escaped(f"{value:.5g}")
    return escaped(value)


def figure(caption: str, svg: str, png: bytes = b"") -> str:
    """Return a figure with its caption, whose first sentence is bold.

    Args:
        caption: what it shows.
        svg: the picture as `picture_of` gives it; "" for a bitmap.
        png: the bitmap.
    """
    title, dot, rest = caption.partition(". ")
    said = f"<b>{rich(title + ('.' if dot else ''))}</b> {rich(rest)}"
    if svg:
        picture = _inline(svg, title)
    else:
        data = base64.b64encode(png).decode("ascii")
        picture = f'<img alt="{html.escape(title)}" src="data:image/png;base64,{data}">'
    return f"<figure>{picture}<figcaption>{said}</figcaption></figure>"


def picture_of(drawing: Figure) -> str:
    """Return a figure as SVG with the page's colours in place of ink, grid and muted lines."""
    vector = io.BytesIO()
    with saving():
        drawing.savefig(vector, format="svg", metadata={"Date": None, "Creator": None})
    text = vector.getvalue().decode("utf-8")
    for color, name in ((INK, "--ink"), (GRID, "--line"), (MUTED, "--muted")):
        text = text.replace(color, f"var({name})")
    return text


def _inline(svg: str, title: str) -> str:
    start = svg.index("<svg")
    body = svg[start:]
    # Scales with the page: the view box stays, the fixed size goes.
    head, _, rest = body.partition(">")
    head = re.sub(r'\s(width|height)="[^"]*"', "", head)
    return f'{head} role="img" aria-label="{html.escape(title)}">{rest}'
