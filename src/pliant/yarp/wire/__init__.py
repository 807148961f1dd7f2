"""The bytes of YARP 3 and YARP 4: Bottles, records, connections and the name server's text, without sockets."""

from pliant.yarp.wire.binary import Dialect, decode_bottle, decode_either, encode_bottle, read_bottle
from pliant.yarp.wire.connection import (
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
from pliant.yarp.wire.nameserver import Contact, Query
from pliant.yarp.wire.objects import Stamp
from pliant.yarp.wire.text import format_bottle, parse_bottle
from pliant.yarp.wire.values import Bottle, Incomplete, Value, Vocab, bottle

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
