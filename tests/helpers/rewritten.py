"""Rewrite the assertions of the tests with several processes, each file once; kept where pytest keeps them itself.

``python tests/helpers/rewritten.py PROCESSES`` prints how many files it rewrote. In a clean clone every worker of
pytest-xdist would rewrite all of them by itself; those that are up to date cost nothing here.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from _pytest.assertion.rewrite import PYC_TAIL, _read_pyc, _rewrite_test, _write_pyc, assertstate_key, get_cache_dir
from _pytest.config import _prepareconfig

TESTS = Path(__file__).resolve().parents[1]
AT_ONCE = 20
"""Files that a process takes at a time."""


def rewrite(paths: list[Path]) -> int:
    """Rewrite those files whose rewritten code is missing or of another source; return their number."""
    state = None
    count = 0
    for path in paths:
        folder = get_cache_dir(path)
        kept = folder / f"{path.stem}{PYC_TAIL}"
        if _read_pyc(path, kept) is None:
            if state is None:
                config = _prepareconfig(["--noconftest", str(TESTS)], [])
                state = config.stash[assertstate_key]
            folder.mkdir(exist_ok=True)
            digest, code = _rewrite_test(path, config)
            count += _write_pyc(state, code, digest, kept)
    return count


def main(processes: int) -> None:
    paths = sorted(p for p in TESTS.rglob("*.py") if p.name.startswith("test_") or p.name == "conftest.py")
    parts = [paths[k : k + AT_ONCE] for k in range(0, len(paths), AT_ONCE)]
    with ProcessPoolExecutor(processes) as pool:
        print(f"{sum(pool.map(rewrite, parts))} of {len(paths)} files of tests were rewritten")


if __name__ == "__main__":
    main(int(sys.argv[1]))
