"""The script of `pliant completion`, with which a shell completes commands, options and names on Tab."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pliant.base.errors import PliantError, nearest
from pliant.base.wing import offers

if TYPE_CHECKING:
    from cyclopts import App

__all__ = ["SHELLS", "completion_script"]

SHELLS = ("bash", "zsh")
ZSH = "autoload -U +X bashcompinit && bashcompinit\n"
SCRIPT = """# Completion of the command pliant, printed by `pliant completion`.
_pliant() {
    local IFS=$'\\n' cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"
    local key="${COMP_WORDS[1]}" words="" files=""
    if [ "$COMP_CWORD" -eq 1 ]; then
        words=@COMMANDS@
    else
        case "$key" in
@GROUPS@
        esac
    fi
    if [ -z "$words" ]; then
        case "$prev" in
            --bridge) words=@BRIDGES@ ;;
            --law) words=@LAWS@ ;;
            --scenario)
                files=yes
                case "${COMP_WORDS[2]}" in
@SCENARIOS@
                esac
                ;;
            @VALUES@) files=yes ;;
            *)
                case "$cur" in
                    -*)
                        case "$key" in
@OPTIONS@
                        esac
                        ;;
                    *)
                        case "$key" in
@NAMES@
                            *) files=yes ;;
                        esac
                        ;;
                esac
                ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    [ -z "$files" ] || COMPREPLY+=($(compgen -f -- "$cur"))
}
complete -o filenames -F _pliant pliant
"""


def completion_script(app: App, shell: str) -> str:
    """Return the script with which a shell completes a command line.

    Args:
        app: the program, whose commands are all imported.
        shell: bash or zsh.

    Raises:
        PliantError: another shell.
    """
    if shell not in SHELLS:
        raise PliantError(f"there is no completion for {shell!r}; {nearest(shell, SHELLS)}", field="shell")
    return (ZSH if shell == "zsh" else "") + _script(app)


def _script(app: App) -> str:
    from pliant.laws import registered_laws
    from pliant.robots import list_robots
    from pliant.simulation.bridges import list_bridges

    arguments: dict[str, list[Any]] = {}
    groups: dict[str, list[str]] = {}
    commands = [name for name in app if not name.startswith("-")]
    for name in commands:
        found: App = app[name]
        parts = [n for n in found if not n.startswith("-")]
        if parts:
            groups[name] = parts
        for key, one in [(f"{name} {n}", found[n]) for n in parts] or [(name, found)]:
            arguments[key] = list(one.assemble_argument_collection())
    entries = {entry.name: [entry.name, *entry.aliases] for entry in list_robots()}
    fitting: dict[tuple[str, ...], list[str]] = {}
    for entry in list_robots():
        fitting.setdefault(entry.scenarios, []).extend(entries[entry.name])
    robots = [name for names in entries.values() for name in names]
    further = {offer.key: [row.name for row in offer.load()()] for offer in offers("lists")}
    listed = [name for found in further.values() for name in found]
    of_commands = {offer.key: offer.load()() for offer in offers("arguments")}
    names = {
        "completion": (list(SHELLS), False),
        "list": ([*robots, *listed, *registered_laws(), *list_bridges()], False),
        "export": (["urdf", "mjcf", *(offer.key for offer in offers("exports")), *robots], True),
        **dict.fromkeys(("run", "check", "view", "sweep", "compare"), (robots, True)),
        **{
            key: words for start, words in of_commands.items() for key in arguments if f"{key} ".startswith(f"{start} ")
        },
    }
    values = {n for found in arguments.values() for a in found if a.hint is not bool for n in a.names if n[0] == "-"}
    pad = " " * 28
    return (
        SCRIPT.replace("@COMMANDS@", _words(commands))
        .replace(
            "@GROUPS@",
            "\n".join(
                f'            {name})\n                if [ "$COMP_CWORD" -eq 2 ]; then words={_words(parts)}\n'
                f'                else key="{name} ${{COMP_WORDS[2]}}"; fi ;;'
                for name, parts in groups.items()
            ),
        )
        .replace("@BRIDGES@", _words(list_bridges()))
        .replace("@LAWS@", _words(registered_laws()))
        .replace(
            "@SCENARIOS@",
            "\n".join(
                f"{pad[:20]}{'|'.join(map(shlex.quote, of))}) words={_words(scenarios)} ;;"
                for scenarios, of in fitting.items()
                if scenarios
            ),
        )
        .replace("@VALUES@", "|".join(sorted(values - {"--bridge", "--law", "--scenario"})))
        .replace("@OPTIONS@", "\n".join(f'{pad}"{k}") words={_words(_options(a))} ;;' for k, a in arguments.items()))
        .replace(
            "@NAMES@",
            "\n".join(
                f'{pad}"{k}") words={_words(w)}{"; files=yes" if also else ""} ;;' for k, (w, also) in names.items()
            ),
        )
    )


def _options(arguments: list[Any]) -> list[str]:
    named = [name for a in arguments for name in a.names if a.index is None and name.startswith("--")]
    return [*named, "--help"]


def _words(words: Iterable[str]) -> str:
    """Return words as one quoted text of the shell, one word a line."""
    return "$'" + "\\n".join(words) + "'"
