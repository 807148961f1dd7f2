"""The bytes of YARP 3 and YARP 4: Bottles, records, connections and the name server's text, without sockets."""

from pliant.wire.yarp.binary import Dialect, decode_bottle, decode_either, encode_bottle, read_bottle
from pliant.wire.yarp.connection import (
    ACKNOWLEDGEMENT,
    Command,
    DatagramAssembler,
    Framer,
    Hello,
    LineFramer,
    Message,
    TextHello,
    TextMessage,
    carrier_of,
    encode_datagrams,
)
from pliant.wire.yarp.nameserver import Contact, Query
from pliant.wire.yarp.objects import Stamp
from pliant.wire.yarp.text import format_bottle, parse_bottle
from pliant.wire.yarp.values import Bottle, Incomplete, Value, Vocab, bottle

__all__ = [
    "ACKNOWLEDGEMENT",
    "Bottle",
    "Command",
    "Contact",
    "DatagramAssembler",
    "Dialect",
    "Framer",
    "Hello",
    "Incomplete",
    "LineFramer",
    "Message",
    "Query",
    "Stamp",
    "TextHello",
    "TextMessage",
    "Value",
    "Vocab",
    "bottle",
    "carrier_of",
    "decode_bottle",
    "decode_either",
    "encode_bottle",
    "encode_datagrams",
    "format_bottle",
    "parse_bottle",
    "read_bottle",
]
