"""Every regular expression of pliant takes time that grows in proportion to a text, whatever the text is."""

import ast
import re
import time
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "pliant"
LENGTH = 3000
LONGEST_S = 0.02
"""Processor time for one text [s]: a linear pattern takes about 50 us, a quadratic one 50 to 100 ms."""
REPEATED = ["0", "a", " ", ".", "-", "_", "/", ":", "<", "(", "[", '"', "\\", "\n", "0.", "a.", "a ", "<a ", "a=", ", "]
"""What a text repeats."""
ENDS = ["", "x", "!", "\0", '"', "\n>"]


def patterns():
    """Yield file and line of each call of `re` with a text that stands there, its functions and the pattern."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    for path, code in texts.items():
        for node in ast.walk(ast.parse(code if re.search(r"\bre\b", code) else "")):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
                continue
            first = node.args[0]
            of_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
            if of_re and isinstance(first, ast.Constant) and isinstance(first.value, (str, bytes)):
                text = first.value if isinstance(first.value, str) else first.value.decode("latin-1")
                kinds = {node.func.attr}
                if kinds == {"compile"}:
                    name = re.match(r"\s*(\w+)\b.*=", code.splitlines()[node.lineno - 1])
                    used = rf"\b{name[1]}\.(fullmatch|match|search|sub|split|finditer|findall)\b" if name else "$^"
                    using = [other for other in texts.values() if name and f"{name[1]}." in other]
                    kinds = {kind for other in using for kind in re.findall(used, other)}
                yield (
                    f"{path.relative_to(SOURCE)}:{node.lineno}",
                    (
                        (kinds & {"fullmatch", "match"})
                        | ({"search"} if kinds - {"fullmatch", "match"} or not kinds else set()),
                        text,
                    ),
                )


def beginnings(pattern):
    """Return texts from which a pattern may begin: none, and its literal beginning."""
    literal = re.match(r"[\w<>:/ ]*", pattern)[0]
    return ["", literal[:-1] if re.match(r"[*+?{]", pattern[len(literal) :]) else literal, "<", "0", "a", '"']


def slowest(kinds, pattern):
    """Return the longest time of a text [s], and its parts."""
    compiled, worst = re.compile(pattern, re.DOTALL), (0.0, "")
    for begin in dict.fromkeys(beginnings(pattern)):
        for unit in REPEATED:
            for end in ENDS:
                text = begin + unit * (LENGTH // len(unit)) + end
                for call in (getattr(compiled, kind) for kind in kinds):
                    start = time.thread_time()
                    call(text)
                    worst = max(
                        worst, (time.thread_time() - start, f"{call.__name__}({begin!r} + {unit!r} * n + {end!r})")
                    )
                    if worst[0] > 20 * LONGEST_S:
                        return worst
    return worst


ALL = dict(patterns())


def test_the_patterns_of_pliant_are_found():
    assert len(ALL) > 80


def test_a_pattern_that_is_not_linear_is_found():
    assert slowest({"match"}, r"(\d+\.?\d*|\.\d+)\Z")[0] > LONGEST_S


@pytest.mark.parametrize("place", ALL)
def test_no_text_takes_more_than_time_in_proportion_to_its_length(place):
    seconds, text = slowest(*ALL[place])
    assert seconds < LONGEST_S, text
