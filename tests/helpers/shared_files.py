"""Files of others that are no part of the repository: recordings, originals and specifications in ``../shared``.

A test that reads one is marked ``shared``; `conftest.py` fails one that is not. Where the files are absent, as in most
checkouts, these tests are skipped with a message.
"""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared"


def shared_file(name: str) -> Path:
    """Return the path of a file or folder in ``../shared``; skips the test where it is absent.

    Args:
        name: path below the folder, such as "data/yarp_golden.json".
    """
    if not (SHARED / name).exists():
        pytest.skip(f"{SHARED / name} is not there; this test compares with files of others beside the checkout")
    return SHARED / name
