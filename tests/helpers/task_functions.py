"""Functions that tests run in other processes, which import them by name."""

import os
import signal
import time
from pathlib import Path

from pliant.base.errors import MissingDependency


def killed_once(folder, name):
    """Note the call; die in the first one of the name "1", by the signal of a system that is short of memory."""
    with (Path(folder) / name).open("a") as file:
        file.write(f"{os.getpid()}\n")
    if name == "1" and len((Path(folder) / name).read_text().split()) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return name


def leave():
    """End the process."""
    os._exit(5)


def return_a_function():
    """Return what cannot be sent."""
    return lambda: None


def raise_missing():
    """Raise an exception that cannot be sent."""
    raise MissingDependency("spam", command="pip install spam", purpose="breakfast")


def sleep(folder):
    """Note the process and sleep for long."""
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(600.0)
