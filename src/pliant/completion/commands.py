"""`pliant completion`: print the script with which a shell completes the command line."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from pliant.cli.options import Debug, Json
from pliant.cli.output import emit


def completion(
    shell: Annotated[str, Parameter(help="The shell: bash, zsh or fish.")],
    /,
    *,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Print a script with which bash, zsh or fish completes commands, options and names on Tab.

    Examples:
        pliant completion bash \\
            > ~/.local/share/bash-completion/completions/pliant
    """
    from pliant.cli.application import app, load_commands
    from pliant.completion.script import completion_script

    load_commands()
    text = completion_script(app, shell)
    if json:
        emit({"shell": shell, "script": text})
    else:
        print(text, end="")
    return 0
