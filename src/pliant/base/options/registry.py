"""A registry of things by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from pliant.base.errors import PliantError, nearest
from pliant.base.options.places import place_of

T = TypeVar("T")


class Registry(Generic[T]):
    """Things of one kind by name; a second one under a taken name is refused, with both places.

    Args:
        kind: what is registered, for messages: "bridge", "law".
        error: the exception to raise.
    """

    def __init__(self, kind: str, error: Callable[..., PliantError] = PliantError) -> None:
        self._kind, self._error = kind, error
        self._things: dict[str, T] = {}
        self._places: dict[str, str] = {}

    def add(self, name: str, thing: T, *, place: str = "") -> T:
        """Register a thing and return it; the same thing from the same place may be registered again.

        Args:
            name: its name.
            thing: the thing.
            place: where it is declared; "" takes `place_of` it.

        Raises:
            PliantError: the name is taken by another one; of the type of the registry.
        """
        where = place or place_of(thing)
        if name in self._things and self._places[name] != where:
            raise self._error(
                f"the {self._kind} {name!r} is registered twice, at {self._places[name]} and {where}; "
                "give one of them another name",
                field=name,
            )
        self._things[name] = thing
        self._places[name] = where
        return thing

    def __getitem__(self, name: str) -> T:
        if name not in self._things:
            raise self._error(f"no {self._kind} {name!r}; {nearest(name, self._things, limit=40)}", field=self._kind)
        return self._things[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._things

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._things))

    def __len__(self) -> int:
        return len(self._things)

    def items(self) -> Iterable[tuple[str, T]]:
        """Return names and things, by name."""
        return sorted(self._things.items())

    def place(self, name: str) -> str:
        """Return where the thing of a name is declared."""
        self[name]
        return self._places[name]
