"""The page of pictures: everything of the catalogue is on it, and its pictures are there and small."""

import re
from pathlib import Path

import gallery
from PIL import Image

from pliant.experiments.runner import list_experiments
from pliant.robots import list_robots

DOCS = Path(__file__).resolve().parents[1] / "docs"
MAX_TOTAL = 4_000_000
CATALOGUE = [(robot.name, robot.summary) for robot in list_robots()]
"""Robots before any test has added one of its own."""


def test_the_page_is_what_the_catalogue_says():
    text = (DOCS / "gallery.md").read_text()
    for name, summary in CATALOGUE:
        assert f"`{name}`: {summary}" in text, "run tests/helpers/gallery.py page"


def test_every_picture_of_the_page_is_there_and_small_and_no_other():
    named = set(re.findall(r"images/gallery/([\w.-]+\.webp)", (DOCS / "gallery.md").read_text()))
    files = {path.name: path.stat().st_size for path in (DOCS / "images" / "gallery").iterdir()}
    assert named == set(files)
    assert max(files.values()) <= gallery.LARGEST
    assert sum(files.values()) <= MAX_TOTAL


def test_every_experiment_has_a_figure():
    named = set(re.findall(r"images/gallery/experiment-([\w-]+)\.webp", (DOCS / "gallery.md").read_text()))
    missing = {e.name for e in list_experiments() if e.function.__module__.startswith("pliant.")} - named
    assert not missing


def test_a_report_is_shown_by_its_chosen_figure_and_a_run_without_it_leaves_the_picture(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(gallery, "FOLDER", tmp_path / "pictures")
    for experiment, name, width in (
        ("box", "frames", 30), ("box", "sweep", 40), ("yarp-impedance", "move", 50), ("yarp-impedance", "push", 60),
        ("softfoot-walk", "rates", 70),
    ):  # fmt: skip
        (tmp_path / "reports" / experiment).mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (width, 20)).save(tmp_path / "reports" / experiment / f"{name}.png")
    gallery.experiments(tmp_path / "reports")
    drawn = {path.stem: Image.open(path).size[0] for path in (tmp_path / "pictures").iterdir()}
    assert drawn == {"experiment-box": 30, "experiment-yarp-impedance": 60}
    assert "softfoot-walk: the picture stays" in capsys.readouterr().out


def test_chosen_figures_are_of_experiments_that_exist():
    assert set(gallery.FIGURES) <= {e.name for e in list_experiments()}


def test_every_playable_scene_is_on_the_page_and_comes_from_an_experiment_with_a_film():
    from scenes import SCENES

    from pliant.experiments import find_experiment

    text = (DOCS / "gallery.md").read_text()
    for name, (experiment, _, picture, said) in SCENES.items():
        assert f'![{said}](images/gallery/{picture}.webp){{ .playable data-scene="{name}" }}' in text
        assert callable(find_experiment(experiment).films)
