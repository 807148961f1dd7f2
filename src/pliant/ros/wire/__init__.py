"""The bytes of ROS 1 and ROS 2: message types, packed form, CDR, connection headers."""

from pliant.ros.wire.codec import CDR_LITTLE_ENDIAN, Codec, Template
from pliant.ros.wire.tcpros import Framer, decode_header, encode_header, service_response
from pliant.ros.wire.types import Field, MessageType, Registry, ServiceType, dds_type_name, registry

__all__ = [
    "CDR_LITTLE_ENDIAN",
    "Codec",
    "Field",
    "Framer",
    "MessageType",
    "Registry",
    "ServiceType",
    "Template",
    "dds_type_name",
    "decode_header",
    "encode_header",
    "registry",
    "service_response",
]
