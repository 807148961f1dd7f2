"""What a person asks for while the run ends is answered with a sentence, not with an exception on the console."""

from concurrent.futures import Future
from pathlib import Path

import pytest

import pliant
from pliant.page.controls import guarded
from pliant.simulation.answers import answered

PAGES = sorted(
    path for path in Path(pliant.__file__).parent.rglob("*.py") if "page" in path.parts or path.name.startswith("page")
)


def test_a_request_that_the_end_of_the_run_cancels_is_told():
    told, ended = [], Future()
    ended.cancel()
    guarded(told.append, lambda _: answered(ended, 1.0))()
    assert told == ["the run ended before this was done"]


def test_a_request_that_nobody_answers_is_told_and_taken_back():
    told, pending = [], Future()
    guarded(told.append, lambda _: answered(pending, 0.01))()
    assert "did not answer within 0.01 s" in told[0]
    assert pending.cancelled()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_page_waits_for_the_loop_in_one_way(path):
    assert ".result(" not in path.read_text(encoding="utf-8")
