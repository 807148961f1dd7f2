"""The script of `pliant completion`, with which a shell completes commands, options and names on Tab."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pliant.base.errors import PliantError, nearest
from pliant.base.wing import offers
from pliant.cli.options import robots_and_files

if TYPE_CHECKING:
    from cyclopts import App

SHELLS = ("bash", "zsh", "fish")
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
@OF_OPTION@
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
FISH = """# Completion of the command pliant, printed by `pliant completion fish`.
function __pliant_words
    set before (commandline -opc)
    set current (commandline -ct)
    set key $before[2]
    if test (count $before) -eq 1
        printf '%s\\n' @COMMANDS@
        return
    end
    switch $key
@GROUPS@
    end
    switch $before[-1]
@OF_OPTION@
            case --scenario
                switch "$before[3]"
@SCENARIOS@
                end
                __fish_complete_path $current
                return
            case @VALUES@
                __fish_complete_path $current
                return
    end
    if string match -q -- '-*' $current
        switch $key
@OPTIONS@
        end
        return
    end
    switch $key
@NAMES@
    end
    __fish_complete_path $current
end
complete -c pliant -e
complete -c pliant -f -a '(__pliant_words)'
"""


def completion_script(app: App, shell: str) -> str:
    """Return the script with which a shell completes a command line.

    Args:
        app: the program, whose commands are all imported.
        shell: bash, zsh or fish.

    Raises:
        PliantError: another shell.
    """
    if shell not in SHELLS:
        raise PliantError(f"there is no completion for {shell!r}; {nearest(shell, SHELLS)}", field="shell")
    known = _known(app)
    return _fish(known) if shell == "fish" else (ZSH if shell == "zsh" else "") + _bash(known)


@dataclass(frozen=True)
class _Known:
    """Words that can be completed; a key is a command, or a group with its command."""

    groups: dict[str, list[str]]
    """Group of commands -> its commands."""
    options: dict[str, list[str]]
    """Key -> options."""
    valued: list[str]
    """Options that take a value."""
    names: dict[str, tuple[list[str], bool]]
    """Key -> names that it takes, and whether files are as good."""
    of_option: dict[str, list[str]]
    """Option -> its values."""
    scenarios: dict[tuple[str, ...], list[str]]
    """Scenarios -> robots that they fit."""
    commands: list[str]


def _known(app: App) -> _Known:
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
        if entry.scenarios:
            fitting.setdefault(entry.scenarios, []).extend(entries[entry.name])
    robots, _ = robots_and_files()
    further = {offer.key: [row.name for row in offer.load()()] for offer in offers("lists")}
    listed = [name for found in further.values() for name in found]
    of_commands = {offer.key: offer.load()() for offer in offers("arguments")}
    names = {
        "completion": (list(SHELLS), False),
        "list": ([*robots, *listed, *registered_laws(), *list_bridges()], False),
        **dict.fromkeys(("run", "check"), (robots, True)),
        **{
            key: words for start, words in of_commands.items() for key in arguments if f"{key} ".startswith(f"{start} ")
        },
    }
    of_option = {"--bridge": list_bridges(), "--law": list(registered_laws())}
    values = {n for found in arguments.values() for a in found if a.hint is not bool for n in a.names if n[0] == "-"}
    return _Known(
        groups=groups,
        options={key: _options(found) for key, found in arguments.items()},
        valued=sorted(values - {*of_option, "--scenario"}),
        names=names,
        of_option={option: list(words) for option, words in of_option.items()},
        scenarios=fitting,
        commands=commands,
    )


def _bash(known: _Known) -> str:
    pad = " " * 28
    groups = (
        f'            {name})\n                if [ "$COMP_CWORD" -eq 2 ]; then words={_words(parts)}\n'
        f'                else key="{name} ${{COMP_WORDS[2]}}"; fi ;;'
        for name, parts in known.groups.items()
    )
    scenarios = (
        f"{pad[:20]}{'|'.join(map(shlex.quote, robots))}) words={_words(scenarios)} ;;"
        for scenarios, robots in known.scenarios.items()
    )
    names = (
        f'{pad}"{key}") words={_words(words)}{"; files=yes" if also else ""} ;;'
        for key, (words, also) in known.names.items()
    )
    return (
        SCRIPT.replace("@COMMANDS@", _words(known.commands))
        .replace("@GROUPS@", "\n".join(groups))
        .replace("@OF_OPTION@", "\n".join(f"{pad[:12]}{o}) words={_words(w)} ;;" for o, w in known.of_option.items()))
        .replace("@SCENARIOS@", "\n".join(scenarios))
        .replace("@VALUES@", "|".join(known.valued))
        .replace("@OPTIONS@", "\n".join(f'{pad}"{k}") words={_words(w)} ;;' for k, w in known.options.items()))
        .replace("@NAMES@", "\n".join(names))
    )


def _fish(known: _Known) -> str:
    pad = " " * 12
    groups = (
        f"        case {name}\n            test (count $before) -eq 2; and printf '%s\\n' {_quoted(parts)}; and "
        f"return\n"
        f'            set key "{name} $before[3]"'
        for name, parts in known.groups.items()
    )
    of_option = (f"{pad}case {o}\n{pad}    printf '%s\\n' {_quoted(w)}; return" for o, w in known.of_option.items())
    scenarios = (
        f"{pad}        case {_quoted(robots)}\n{pad}            printf '%s\\n' {_quoted(words)}"
        for words, robots in known.scenarios.items()
    )
    names = (
        f"{pad}case {shlex.quote(key)}\n{pad}    printf '%s\\n' {_quoted(words)}"
        f"{'' if also else f'{chr(10)}{pad}    return'}"
        for key, (words, also) in known.names.items()
    )
    return (
        FISH.replace("@COMMANDS@", _quoted(known.commands))
        .replace("@GROUPS@", "\n".join(groups))
        .replace("@OF_OPTION@", "\n".join(of_option))
        .replace("@SCENARIOS@", "\n".join(scenarios))
        .replace("@VALUES@", _quoted(known.valued))
        .replace(
            "@OPTIONS@",
            "\n".join(
                f"{pad}case {shlex.quote(k)}\n{pad}    printf '%s\\n' {_quoted(w)}" for k, w in known.options.items()
            ),
        )
        .replace("@NAMES@", "\n".join(names))
    )


def _options(arguments: list[Any]) -> list[str]:
    named = [name for a in arguments for name in a.names if a.index is None and name.startswith("--")]
    return [*named, "--quiet", "--help"]


def _quoted(words: Iterable[str]) -> str:
    return " ".join(shlex.quote(word) for word in words)


def _words(words: Iterable[str]) -> str:
    """Return words as one quoted text of bash, one word a line."""
    return "$'" + "\\n".join(words) + "'"
