"""Feed-forward networks as ONNX files: written and read without a library, as layers and nothing that is run.

Source of the numbers of fields: onnx.proto of ONNX 1.16, https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import PliantError

OPSET = 13
"""Version of the operators of a file that is written."""
OPSETS = range(7, 24)
"""Versions whose operators of `READ` mean what they mean here."""
READ = ("Gemm", "MatMul", "Add", "Sub", "Div", "Mul", "Tanh", "Relu", "Elu", "Clip", "Identity", "Flatten", "Cast")
"""Operators that are read, in one chain from the input to the output."""
METADATA = "pliant"
"""Key of the policy's header in the metadata of a file."""
_TYPES = {1: np.dtype("<f4"), 11: np.dtype("<f8")}
_MAX_NODES = 1000

Pair = tuple[NDArray[np.float64], NDArray[np.float64]]


class OnnxError(PliantError):
    """A file is no ONNX model, or no feed-forward network."""


@dataclass(slots=True)
class Network:
    """The layers of a file: commands = middle + half * limit(layers((x - mean) / scale))."""

    mean: NDArray[np.float64]
    """Subtracted from the input, shape (inputs,)."""
    scale: NDArray[np.float64]
    """Divides the input, shape (inputs,)."""
    layers: list[Pair] = field(default_factory=list)
    """Weights (outputs, inputs) and biases (outputs,)."""
    activation: str = ""
    """Activation between the layers; "" if there is one layer only."""
    output: str = ""
    """Limit of the last layer: ``clip``, ``tanh``, or "" for none."""
    middle: NDArray[np.float64] | None = None
    """Added to the output, shape (outputs,); None for 0."""
    half: NDArray[np.float64] | None = None
    """Multiplies the output, shape (outputs,); None for 1."""
    header: str = ""
    """Header of a policy in the metadata; "" for a file of another program."""

    def actor(self) -> list[Pair]:
        """Return the layers with what follows them, for outputs that are actions of -1 to 1.

        Raises:
            OnnxError: the outputs are limited first and scaled afterwards, so that they are something else.
        """
        weight, bias = self.layers[-1]
        half = np.ones(len(bias)) if self.half is None else self.half
        middle = np.zeros(len(bias)) if self.middle is None else self.middle
        if self.output and ((half != 1.0).any() or middle.any()):
            raise OnnxError(f"its outputs are scaled after {self.output}; must be actions of -1 to 1", field="output")
        return [*self.layers[:-1], (half[:, None] * weight, half * bias + middle)]


# -- writing -----------------------------------------------------------------------------------------------------------


def _varint(value: int) -> bytes:
    out = bytearray()
    while True:
        low, value = value & 0x7F, value >> 7
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _text(number: int, value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _node(kind: str, inputs: Sequence[str], output: str, *attributes: bytes) -> bytes:
    parts = [_text(1, name) for name in inputs] + [_text(2, output), _text(3, output), _text(4, kind)]
    return _text(1, b"".join([*parts, *(_text(5, attribute) for attribute in attributes)]))


def _tensor(name: str, values: NDArray[np.float64]) -> bytes:
    dims = b"".join(_number(1, n) for n in values.shape)
    return _text(5, dims + _number(2, 1) + _text(8, name) + _text(9, values.astype("<f4").tobytes()))


def _value(number: int, name: str, size: int) -> bytes:
    shape = _text(1, _number(1, 1)) + _text(1, _number(1, size))
    return _text(number, _text(1, name) + _text(2, _text(1, _number(1, 1) + _text(2, shape))))


def write_network(network: Network) -> bytes:
    """Return an ONNX file of a network in float32: input ``observation``, output ``commands``, of shape (1, n)."""
    constants: list[bytes] = []
    nodes: list[bytes] = []
    value = "observation"

    def then(kind: str, *arrays: NDArray[np.float64], name: str = "", attributes: Sequence[bytes] = ()) -> None:
        nonlocal value
        names = [f"{kind.lower()}_{len(nodes)}_{k}" for k in range(len(arrays))]
        constants.extend(_tensor(n, np.asarray(a, dtype=float)) for n, a in zip(names, arrays))
        output = name or f"value_{len(nodes)}"
        nodes.append(_node(kind, [value, *names], output, *attributes))
        value = output

    then("Sub", network.mean)
    then("Div", network.scale)
    transposed = _text(1, "transB") + _number(3, 1) + _number(20, 2)
    for k, (weight, bias) in enumerate(network.layers):
        if k:
            then(network.activation.capitalize())
        then("Gemm", weight, bias, attributes=(transposed,))
    if network.output:
        limits = (np.array(-1.0), np.array(1.0)) if network.output == "clip" else ()
        then(network.output.capitalize(), *limits)
    outputs = len(network.layers[-1][1])
    then("Mul", np.ones(outputs) if network.half is None else network.half)
    then("Add", np.zeros(outputs) if network.middle is None else network.middle, name="commands")
    inputs = _value(11, "observation", len(network.mean)) + _value(12, "commands", outputs)
    graph = b"".join(nodes) + _text(2, "policy") + b"".join(constants) + inputs
    metadata = _text(14, _text(1, METADATA) + _text(2, network.header)) if network.header else b""
    return _number(1, 8) + _text(2, "pliant") + _text(7, graph) + _text(8, _number(2, OPSET)) + metadata


# -- reading -----------------------------------------------------------------------------------------------------------


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield number and value of each field: whole numbers, bytes, or 4 and 8 bytes of a float."""
    at, end = 0, len(data)

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            if at >= end or shift > 63:
                raise OnnxError("it ends in the middle of a number")
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value

    while at < end:
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
            continue
        if kind not in (1, 2, 5):
            raise OnnxError(f"it has a field of the kind {kind}")
        size = varint() if kind == 2 else 8 if kind == 1 else 4
        if at + size > end:
            raise OnnxError("it ends in the middle of a field")
        yield key >> 3, data[at : at + size]
        at += size


def _bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise OnnxError("a field is a number where a message must be")
    return value


def _decoded(value: int | bytes) -> str:
    return _bytes(value).decode("utf-8", "replace")


def _read_tensor(data: bytes) -> tuple[str, NDArray[np.float64]]:
    dims: list[int] = []
    kind, name, raw, packed = 0, "", b"", b""
    for number, value in _fields(data):
        if number == 1 and isinstance(value, int):
            dims.append(value)
        elif number == 1:
            raise OnnxError("a tensor has packed sizes")
        elif number == 2:
            kind = value
        elif number == 8:
            name = _decoded(value)
        elif number == 9:
            raw = _bytes(value)
        elif number in (4, 10):
            packed += _bytes(value)
    dtype = _TYPES.get(kind)
    if dtype is None:
        return name, np.zeros(0)
    data = raw or packed
    count = 1
    for size in dims:
        count *= size
    if count * dtype.itemsize != len(data):
        raise OnnxError(f"the tensor {name!r} has {len(data)} bytes; must be {count * dtype.itemsize}")
    return name, np.frombuffer(data, dtype=dtype).reshape(dims).astype(float)


def _read_node(data: bytes) -> tuple[str, list[str], list[str], dict[str, Any]]:
    inputs, outputs, kind, attributes = [], [], "", {}
    for number, value in _fields(data):
        if number == 1:
            inputs.append(_decoded(value))
        elif number == 2:
            outputs.append(_decoded(value))
        elif number == 4:
            kind = _decoded(value)
        elif number == 5:
            name, found = "", None
            for inner, part in _fields(_bytes(value)):
                if inner == 1:
                    name = _decoded(part)
                elif inner == 2:
                    found = struct.unpack("<f", _bytes(part))[0]
                elif inner == 3:
                    found = part
                elif inner == 5:
                    found = _read_tensor(_bytes(part))[1]
            attributes[name] = found
    return kind, inputs, outputs, attributes


def read_network(data: bytes) -> Network:
    """Return the layers of an ONNX file.

    Raises:
        OnnxError: it is no ONNX file, its operators are of another version, or it is no chain of `READ`.
    """
    try:
        return _read_network(data)
    except OnnxError:
        raise
    except (IndexError, TypeError, ValueError, OverflowError, struct.error) as error:
        raise OnnxError(f"a field has not the form that it must have: {error}") from None


def _read_network(data: bytes) -> Network:
    graph, header, opset = b"", "", 0
    for number, value in _fields(data):
        if number == 7:
            graph = _bytes(value)
        elif number == 8:
            found = dict(_fields(_bytes(value)))
            opset = found.get(2, 0) if not found.get(1) else opset
        elif number == 14:
            entry = dict(_fields(_bytes(value)))
            if _decoded(entry.get(1, b"")) == METADATA:
                header = _decoded(entry.get(2, b""))
    if not graph or opset not in OPSETS:
        raise OnnxError(f"it has operators of the version {opset}; must be {OPSETS[0]} to {OPSETS[-1]}")
    constants: dict[str, NDArray[np.float64]] = {}
    nodes, inputs, outputs = [], [], []
    for number, value in _fields(graph):
        if number == 5:
            name, array = _read_tensor(_bytes(value))
            constants[name] = array
        elif number == 1:
            nodes.append(_read_node(_bytes(value)))
        elif number in (11, 12):
            (inputs if number == 11 else outputs).append(_decoded(dict(_fields(_bytes(value))).get(1, b"")))
    chain = _Chain(constants, [name for name in inputs if name not in constants])
    if len(nodes) > _MAX_NODES:
        raise OnnxError(f"it has {len(nodes)} operators; must be at most {_MAX_NODES}")
    for node in nodes:
        chain.take(*node)
    return chain.finished(header, outputs)


def _row(owner: str, array: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a constant that is added to or multiplied with one row of numbers, shape (1,) or (n,)."""
    if array.ndim and array.size != array.shape[-1]:
        raise OnnxError(f"{owner} has a constant of shape {array.shape}; must be one row")
    return array.reshape(-1)


class _Chain:
    """Follows the operators from the input to the output."""

    def __init__(self, constants: dict[str, NDArray[np.float64]], inputs: list[str]) -> None:
        if len(inputs) != 1:
            raise OnnxError(f"it has the inputs {', '.join(inputs[:4]) or 'none'}; must be one")
        self._constants, self._value = constants, inputs[0]
        self._steps: list[tuple[str, Any]] = []

    def take(self, kind: str, inputs: list[str], outputs: list[str], attributes: Mapping[str, Any]) -> None:
        """Take the next operator."""
        if kind == "Constant" and isinstance(attributes.get("value"), np.ndarray):
            self._constants[outputs[0]] = attributes["value"]
            return
        if kind not in READ:
            raise OnnxError(f"it has the operator {kind!r:.40}; must be of {', '.join(READ)}")
        others = [name for name in inputs if name and name != self._value]
        if self._value not in inputs or not outputs or any(name not in self._constants for name in others):
            raise OnnxError(f"the operator {kind} is not the next of one chain from the input to the output")
        arrays = [self._constants[name] for name in others]
        for name, array in zip(others, arrays):
            if not array.size:
                raise OnnxError(f"the constant {name!r:.40} is empty, or not of float32 or float64")
        if inputs[0] != self._value and kind not in ("Add", "Mul"):
            raise OnnxError(f"the operator {kind} takes the value as its second input")
        self._value = outputs[0]
        if kind == "Gemm":
            if attributes.get("alpha", 1.0) != 1.0 or attributes.get("beta", 1.0) != 1.0 or attributes.get("transA"):
                raise OnnxError("a Gemm has alpha, beta or transA; must be without")
            weight = arrays[0] if attributes.get("transB") else arrays[0].T
            self._layer(weight, arrays[1] if len(arrays) > 1 else np.zeros(len(weight)))
        elif kind == "MatMul":
            self._layer(arrays[0].T, np.zeros(arrays[0].shape[-1]))
        elif kind == "Clip":
            low, high = (*arrays, None, None)[:2] if arrays else (attributes.get("min"), attributes.get("max"))
            if low is None or high is None or (float(np.ravel(low)[0]), float(np.ravel(high)[0])) != (-1.0, 1.0):
                raise OnnxError("a Clip has other limits than -1 and 1")
            self._steps.append(("clip", None))
        elif kind in ("Tanh", "Relu", "Elu"):
            if kind == "Elu" and attributes.get("alpha", 1.0) != 1.0:
                raise OnnxError(f"an Elu has alpha {attributes['alpha']}; must be 1")
            self._steps.append((kind.lower(), None))
        elif kind == "Cast" and attributes.get("to") not in _TYPES:
            raise OnnxError(f"a Cast is to the type {attributes.get('to')}; must be float32 or float64")
        elif kind in ("Add", "Sub", "Mul", "Div"):
            if len(arrays) != 1:
                raise OnnxError(f"the operator {kind} has {len(arrays)} constants; must be one")
            self._steps.append((kind, _row(kind, arrays[0])))

    def _layer(self, weight: NDArray[np.float64], bias: NDArray[np.float64]) -> None:
        if weight.ndim != 2 or bias.size != len(weight):
            raise OnnxError(f"a layer has weights of shape {weight.shape} and {bias.size} biases")
        self._steps.append(("layer", (weight, _row("a layer", bias))))

    def finished(self, header: str, outputs: Sequence[str]) -> Network:
        """Return the network; ``outputs`` are the names of the graph's outputs."""
        if list(outputs) != [self._value]:
            raise OnnxError(
                f"its outputs are {', '.join(map(repr, outputs[:4])) or 'none'}; must be {self._value!r:.40}, the end "
                "of the chain"
            )
        places = [k for k, (kind, _) in enumerate(self._steps) if kind == "layer"]
        if not places:
            raise OnnxError("it has no layer, that is no Gemm and no MatMul")
        first, last = places[0], places[-1]
        n = self._steps[first][1][0].shape[1]
        mean, scale = np.zeros(n), np.ones(n)
        for kind, array in self._steps[:first]:
            if kind not in ("Sub", "Add", "Div", "Mul") or array.size not in (1, n):
                raise OnnxError(f"{kind} stands before the first layer; must be Sub, Add, Div or Mul of {n} numbers")
            if kind in ("Sub", "Add"):
                mean = mean + (array if kind == "Sub" else -array) * scale
            else:
                if not array.all():
                    raise OnnxError(f"{kind} has a zero before the first layer")
                scale = scale * (array if kind == "Div" else 1.0 / array)
        network = Network(mean, scale, header=header)
        between: list[str] = []
        for kind, array in self._steps[first : last + 1]:
            fresh = len(network.layers) > len(between)  # no activation has followed the last layer
            if kind == "layer" and not fresh:
                network.layers.append(array)
            elif kind == "Add" and fresh and array.size in (1, len(network.layers[-1][1])):
                weight, bias = network.layers[-1]
                network.layers[-1] = (weight, bias + array)
            elif kind in ("tanh", "relu", "elu") and fresh:
                between.append(kind)
            else:
                raise OnnxError(f"{kind} stands between two layers; must be biases, then one Tanh, Relu or Elu")
        if len(set(between)) > 1:
            raise OnnxError(f"the activations are {', '.join(sorted(set(between)))}; must be one kind, everywhere")
        network.activation = between[0] if between else ""
        self._tail(network, self._steps[last + 1 :])
        return network

    def _tail(self, network: Network, steps: list[tuple[str, Any]]) -> None:
        """Read what follows the last layer: a bias, a limit, and the range of the commands."""
        m = len(network.layers[-1][1])
        for kind, array in steps:
            if kind in ("clip", "tanh") and not network.output and network.half is None:
                network.output = kind
            elif kind in ("Add", "Mul") and array.size in (1, m):
                values = np.broadcast_to(array, (m,)).astype(float)
                if kind == "Add" and not network.output and network.half is None:
                    weight, bias = network.layers[-1]
                    network.layers[-1] = (weight, bias + values)
                elif kind == "Mul":
                    network.half = values if network.half is None else network.half * values
                    network.middle = None if network.middle is None else network.middle * values
                else:
                    network.middle = values if network.middle is None else network.middle + values
            else:
                raise OnnxError(f"{kind} stands after the last layer; must be Add, Mul, Clip or Tanh")
