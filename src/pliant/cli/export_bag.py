"""`pliant export bag`: a recording, or a bag of another kind, as a bag of ROS."""

from __future__ import annotations

from pathlib import Path

from pliant.cli.output import emit, make_console, plain, print_table
from pliant.cli.progress import Bar
from pliant.errors import PliantError

__all__ = ["write_bag"]


def write_bag(source: Path, output: Path | None, *, namespace: str, overwrite: bool, json: bool) -> int:
    """Write a bag and say what is in it.

    Args:
        source: a recording or a bag.
        output: a .bag, .mcap or .db3 file, or a folder.
        namespace: prefix of the toolbox's topics; "" takes the recorded robot's.
        overwrite: replace what is there.
        json: print one JSON object.

    Raises:
        PliantError: it cannot be read or written.
    """
    from pliant.bridges.bag import export_bag

    if output is None:
        raise PliantError(
            f"where to? pliant export bag {source} OUT, with OUT a .bag (ROS 1), .mcap or .db3 file (ROS 2), or the "
            "name of a new folder",
            field="output",
        )
    console = make_console(quiet=json)
    with Bar(console, "writing", "s", shown=not json) as bar:
        topics = export_bag(source, output, namespace=namespace, overwrite=overwrite, progress=bar)
    if json:
        emit({"recording": str(source), "output": str(output), "topics": topics})
        return 0
    from rich.table import Table

    table = Table(box=None)
    for name in ("topic", "type", "messages"):
        table.add_column(name, justify="right" if name == "messages" else "left")
    for topic in topics:
        table.add_row(plain(topic.topic), plain(topic.type), str(topic.count))
    print_table(console, table)
    console.print(f"written: {output}", soft_wrap=True, markup=False)
    return 0
