"""`pliant design`."""

from __future__ import annotations

import json

import pytest

from pliant.cli import main


def run(*words: str) -> object:
    with pytest.raises(SystemExit) as ended:
        main(["design", *words])
    return ended.value.code or 0


def test_a_search_prints_the_best_writes_a_figure_and_goes_on_from_its_folder(capsys, tmp_path):
    words = ["3RR", "--vary", "radius=0.0008:0.0012", "--maximise", "stiffness", "--output", str(tmp_path)]
    figure = tmp_path / "search.png"
    assert run(*words, "--starts", "2", "--figure", str(figure), "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["values"]["radius"] == pytest.approx(1.2e-3)
    assert (data["same_optimum"], data["starts"], data["unit"]) == (2, 2, "N/m")
    assert figure.stat().st_size > 10_000
    assert run(*words, "--starts", "2") == 0
    assert "2 of 2 starts ended in the best optimum" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--vary", "radius=1", "--maximise", "stiffness"], "NAME=LOWEST:HIGHEST"),
        (["--vary", "radius=1:2", "--vary", "radius=1:3", "--maximise", "stiffness"], "given twice"),
        (["--vary", "radius=0.001:0.002", "--maximise", "workspace", "--pose", "0,0.5,0"], "the home pose"),
        (["--vary", "radus=0.001:0.002", "--maximise", "stiffness"], "did you mean"),
    ],
)
def test_wrong_options_are_named(words, message, capsys):
    assert run("3RR", *words) == 1
    printed = capsys.readouterr()
    assert message in " ".join((printed.out + printed.err).split())
