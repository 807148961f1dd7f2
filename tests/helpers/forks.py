"""A process that has imported what takes long, and runs code of tests in forks of it, one after the other."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

LIMIT_S = 300.0
"""Longest run of one fork [s]; after that the whole process ends."""


class Forks:
    """The process, as a test sees it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, code: str, folder: Path, *arguments: str) -> str:
        """Run code as a program in a folder; return what it printed, errors included. One that fails is an error."""
        printed = Path(f"{folder}.printed")
        printed.unlink(missing_ok=True)
        limit = threading.Timer(LIMIT_S, self._process.kill)
        limit.start()
        print(json.dumps([code, str(folder), *arguments]), file=self._process.stdin, flush=True)
        status = self._process.stdout.readline()
        limit.cancel()
        text = printed.read_text(encoding="utf-8")
        assert status == "0\n", text[-6000:]
        return text


@contextlib.contextmanager
def forks(*modules: str, environment: Mapping[str, str] | None = None) -> Iterator[Forks]:
    """Yield a process that has imported modules, also those of the tests."""
    command, pipe = [sys.executable, str(Path(__file__).resolve()), *modules], subprocess.PIPE
    with subprocess.Popen(
        command, env=environment, stdin=pipe, stdout=pipe, text=True, start_new_session=True
    ) as process:
        yield Forks(process)
        os.killpg(process.pid, signal.SIGKILL)  # a fork that was given up on is of its group


def serve() -> None:
    """Run the code that each line of standard input gives, in a fork; answer with its exit code."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    for module in sys.argv[1:]:
        import_module(module)
    for line in sys.stdin:
        code, folder, *arguments = json.loads(line)
        child = os.fork()
        if child == 0:
            status = 1
            with Path(f"{folder}.printed").open("w") as printed, Path(os.devnull).open() as nothing:
                os.dup2(nothing.fileno(), 0)
                os.dup2(printed.fileno(), 1)
                os.dup2(printed.fileno(), 2)
            try:
                os.chdir(folder)
                sys.argv = ["-c", *arguments]
                exec(code, {"__name__": "__main__"})
                status = 0
            except BaseException:
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    serve()
