"""Listener for clients' requests: its methods run in threads of the SDK, never raise, and never touch the loop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pliant.base.errors import DeviceError, PliantError, nearest
from pliant.base.numerics import is_number
from pliant.foxglove.commands import CommandTopics
from pliant.simulation.live_parameters import LiveParameter

if TYPE_CHECKING:
    from foxglove.websocket import ChannelView, Client, ClientChannel

    from foxglove import Parameter

MAX_PARAMETERS = 1000
"""Most parameters in one request."""


class Listener:
    """The callbacks of the SDK's server.

    Args:
        commands: the topics of commands.
        parameters: name -> parameter.
        parameter_class: ``foxglove.Parameter``.
        subscribed: called with the topic when a client subscribes.
        refuse: called with what a client did wrong.
    """

    def __init__(
        self,
        commands: CommandTopics,
        parameters: Mapping[str, LiveParameter],
        parameter_class: type[Parameter],
        subscribed: Callable[[str], None],
        refuse: Callable[[str], None],
    ) -> None:
        self._commands, self._parameters, self._make = commands, parameters, parameter_class
        self._subscribed, self._refuse = subscribed, refuse
        self._lock = threading.Lock()
        self.clients: dict[int, int] = {}
        """Number of each client -> its subscriptions."""

    # ------------------------------------------------------------------ topics
    def on_subscribe(self, client: Client, channel: ChannelView) -> None:
        """Tell the bridge, which sends what does not change."""
        with self._lock:
            self.clients[client.id] = self.clients.get(client.id, 0) + 1
        self._subscribed(channel.topic)

    def on_unsubscribe(self, client: Client, channel: ChannelView) -> None:
        """Count; a client that leaves unsubscribes from everything."""
        with self._lock:
            left = self.clients.get(client.id, 0) - 1
            if left > 0:
                self.clients[client.id] = left
            else:
                self.clients.pop(client.id, None)

    # ------------------------------------------------------------------ commands
    def on_client_advertise(self, client: Client, channel: ClientChannel) -> None:
        """Remember which topic a client's channel is."""
        self._try(self._commands.advertise, client.id, channel.id, channel.topic, channel.encoding)

    def on_client_unadvertise(self, client: Client, client_channel_id: int) -> None:
        """Forget a client's channel."""
        self._commands.unadvertise(client.id, client_channel_id)

    def on_message_data(self, client: Client, client_channel_id: int, data: bytes) -> None:
        """Put a command into a mailbox."""
        self._try(self._commands.put, client.id, client_channel_id, data)

    # ------------------------------------------------------------------ parameters
    def on_get_parameters(
        self, client: object, param_names: list[str], request_id: str | None = None
    ) -> list[Parameter]:
        """Return the values of some parameters, of all if none is named."""
        names = param_names[:MAX_PARAMETERS] or list(self._parameters)
        return [self._value(name) for name in names if name in self._parameters]

    def on_set_parameters(
        self, client: object, parameters: list[Parameter], request_id: str | None = None
    ) -> list[Parameter]:
        """Set parameters, each by itself; return their values afterwards."""
        found = []
        for asked in parameters[:MAX_PARAMETERS]:
            self._try(self._set, asked.name, asked.get_value())
            if asked.name in self._parameters:
                found.append(self._value(asked.name))
        return found

    def on_parameters_subscribe(self, param_names: list[str]) -> None:
        """Do nothing: the SDK sends what others set."""

    def on_parameters_unsubscribe(self, param_names: list[str]) -> None:
        """Do nothing."""

    def _set(self, name: str, value: object) -> None:
        parameter = self._parameters.get(name)
        if parameter is None:
            raise DeviceError(f"there is no parameter {name!r}; {nearest(name, self._parameters)}", field=name)
        if not is_number(value) or (parameter.kind is int and value != value // 1):
            raise DeviceError(f"{name} is {value!r}; must be of type {parameter.kind.__name__}", field=name)
        with self._lock:
            parameter.change(parameter.check(parameter.kind(value)))

    def _value(self, name: str) -> Parameter:
        return self._make(name, value=self._parameters[name].read())

    def _try(self, action: Callable[..., None], *arguments: object) -> None:
        try:
            action(*arguments)
        except PliantError as error:
            self._refuse(str(error))
