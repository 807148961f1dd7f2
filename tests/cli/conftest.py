"""What the tests of the command line share."""

import pytest
from arm import MODEL

from pliant.cli import main


@pytest.fixture
def robot_file(tmp_path):
    """A robot with one compliant joint, "elbow"."""
    (tmp_path / "arm.xml").write_text(MODEL)
    path = tmp_path / "arm.yaml"
    path.write_text("model: arm.xml\nactuators:\n  elbow: {law: qbmove, mode: 6}\n")
    return str(path)


@pytest.fixture
def call(capsys):
    """Run the command line in this process; returns (exit code, standard output, standard error)."""

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return int(end.value.code or 0), out, err

    return run
