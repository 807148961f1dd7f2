"""`pliant export bag`: write a recording, or a bag of another kind, as a ROS bag."""

from __future__ import annotations

from pathlib import Path

from pliant.base.errors import PliantError
from pliant.cli.output import emit, make_console, plain, print_table
from pliant.cli.progress import Bar


def write_bag(source: Path, output: Path | None, *, namespace: str, overwrite: bool, json: bool) -> int:
    """Write a bag and print its topics.

    Args:
        source: a recording or a bag.
        output: a .bag, .mcap or .db3 file, or a folder.
        namespace: prefix of the toolbox's topics; "" takes the recorded robot's.
        overwrite: replace an existing bag.
        json: print one JSON object.

    Raises:
        PliantError: the source cannot be read, or the bag cannot be written.
    """
    from pliant.bags.node import export_bag

    if output is None:
        raise PliantError(
            f"the output is missing: pliant export bag {source} OUTPUT, where OUTPUT must be a .bag (ROS 1), .mcap or "
            ".db3 file (ROS 2), or a new folder",
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
