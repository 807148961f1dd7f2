"""What the documentation site adds to its pages while it is built: equations, the version, and the order of the search.

An equation is a block with the language ``math``, in LaTeX, as GitHub draws it. The site writes it as MathML, which
browsers draw without a script.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

REFERENCE_BOOST = 0.3
"""Weight in the search of the pages written from the code; other pages have 1."""
REFERENCE = ("api", "options/")
"""What stands in the paths of those pages."""
FIRST_BOOST = 3.0
"""Weight in the search of the first page of a subject."""
FIRST = ("actuators.md", "franka/franka.md", "how-do-i.md", "ros/ros.md", "yarp/yarp.md")
"""Those pages."""


def equation(source: str, *_: Any, **__: Any) -> str:
    """Return a block of equations as MathML."""
    drawn = convert(source, display="block").replace(r"\_", "_")  # the converter keeps the backslash of text
    return f'<div class="equation">{drawn}</div>'


def on_config(config: Any) -> Any:
    """Draw blocks of the language ``math``, and show the version below each page."""
    blocks = config["mdx_configs"].setdefault("pymdownx.superfences", {}).setdefault("custom_fences", [])
    blocks.append({"name": "math", "class": "equation", "format": equation})
    text = (Path(config["config_file_path"]).parent / "src/pliant/__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    if found is None:
        raise ValueError("src/pliant/__init__.py has no __version__")
    config["copyright"] = f"pliant {found[1]}, Apache-2.0"
    return config


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let the first page of a subject come before others in the search, and the reference last."""
    if any(part in page.file.src_uri for part in REFERENCE):
        page.meta.setdefault("search", {"boost": REFERENCE_BOOST})
    elif page.file.src_uri in FIRST:
        page.meta.setdefault("search", {"boost": FIRST_BOOST})
    return markdown
