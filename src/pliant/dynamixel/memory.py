"""The memory of one servo: the bytes of its control table, with the checks of reads and writes."""

from __future__ import annotations

import struct
from collections.abc import Callable

from pliant.base.errors import WireError
from pliant.dynamixel.models import ServoModel
from pliant.dynamixel.table import Item, control_table
from pliant.dynamixel.wire import Error

_FORMATS = {
    (1, False): "B",
    (1, True): "b",
    (2, False): "H",
    (2, True): "h",
    (4, False): "I",
    (4, True): "i",
}


class Refused(WireError):
    """An instruction that a servo refuses.

    Attributes:
        number: the error of the status packet.
    """

    def __init__(self, number: Error, message: str) -> None:
        super().__init__(message)
        self.number = number


class Memory:
    """The values of a control table.

    Args:
        model: the servo.
    """

    def __init__(self, model: ServoModel) -> None:
        table = control_table(model)
        self.items = table.items
        self._owners = table.owners
        self._data = bytearray(len(table.owners))
        # Address of indirect data -> item with the address that it stands for.
        self._indirect = {
            self.items[f"Indirect Data {name.removeprefix('Indirect Address ')}"].address: item
            for name, item in self.items.items()
            if name.startswith("Indirect Address ")
        }
        self._codes = {
            name: (struct.Struct("<" + _FORMATS[item.size, item.signed]), item.address)
            for name, item in self.items.items()
        }
        self._first_indirect = min(self._indirect)
        self.restart(factory=True)

    def restart(self, *, factory: bool = False, keep: tuple[str, ...] = ()) -> None:
        """Give every item of the RAM area its initial value.

        Args:
            factory: whether the items of the EEPROM area get theirs too.
            keep: names of items that stay as they are.
        """
        for item in self.items.values():
            if (factory or not item.eeprom) and item.name not in keep:
                self[item.name] = item.initial

    def __getitem__(self, name: str) -> int:
        code, address = self._codes[name]
        return code.unpack_from(self._data, address)[0]

    def __setitem__(self, name: str, value: int) -> None:
        code, address = self._codes[name]
        code.pack_into(self._data, address, value)

    def _target(self, address: int) -> int:
        """Return the address that an address stands for; an indirect address is followed once."""
        item = self._indirect.get(address)
        if item is None:
            return address
        return self._data[item.address] | self._data[item.address + 1] << 8

    def read(self, address: int, length: int) -> bytes:
        """Return bytes of the table; a gap between two items reads as 0.

        Raises:
            Refused: the first or the last byte belongs to no item, or nothing is asked for.
        """
        owners = self._owners
        if length == 0:
            raise Refused(Error.DATA_LENGTH, f"a read of 0 bytes at {address}; must be at least 1")
        last = address + length - 1
        if last >= len(owners) or owners[address] is None or owners[last] is None:
            raise Refused(Error.ACCESS, f"a read of addresses {address} to {last}, which are no items of the table")
        if last < self._first_indirect:
            return bytes(self._data[address : last + 1])
        return bytes(self._data[self._target(a)] for a in range(address, last + 1))

    def check_write(
        self, address: int, data: bytes, locked: bool, limit: Callable[[Item, int], None]
    ) -> list[tuple[Item, int]]:
        """Return the items that a write changes, with their values; nothing is changed.

        Args:
            address: first address.
            data: the bytes.
            locked: whether the EEPROM area may not be written.
            limit: raises `Refused` if the servo does not take a value at present.

        Raises:
            Refused: an address is no item or read-only, an item is given incompletely, or a value is out of range.
        """
        if not data:
            raise Refused(Error.DATA_LENGTH, f"a write of 0 bytes at {address}; must be at least 1")
        targets = [self._target(a) for a in range(address, address + len(data))]
        found, i = [], 0
        while i < len(targets):
            start = targets[i]
            item = self._owners[start] if start < len(self._owners) else None
            if item is None or not item.writable:
                what = "no item of the table" if item is None else f"{item.name}, which is read-only"
                raise Refused(Error.ACCESS, f"a write at address {start}: {what}")
            if item.eeprom and locked:
                raise Refused(Error.ACCESS, f"{item.name} cannot be written while Torque Enable is 1")
            if targets[i : i + item.size] != list(range(item.address, item.address + item.size)):
                raise Refused(
                    Error.DATA_LENGTH,
                    f"{item.name} has {item.size} bytes from address {item.address}; all must be written at once",
                )
            value = self._codes[item.name][0].unpack_from(data, i)[0]
            if not item.valid(value):
                raise Refused(Error.DATA_RANGE, f"{item.name} is {value}; must be {item.valid_text}")
            limit(item, value)
            found.append((item, value))
            i += item.size
        return found
