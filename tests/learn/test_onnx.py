"""Policies as ONNX files: what another program computes from them, what is read back, and files that are refused."""

import itertools
import json

import numpy as np
import pytest

from pliant.learn import onnx
from pliant.learn.onnx import Network, OnnxError, read_network, write_network
from pliant.learn.policy import Policy, PolicyError


def policy(activation="tanh", output="clip", layers=3):
    rng = np.random.default_rng(4)
    sizes = [4, 8, 6, 2][: layers + 1] if layers == 3 else [4, 2]
    return Policy(
        robot="bench",
        observations=("joint/position", "arm/q[1]", "input/target", "clock/0.5/sin"),
        commands=("joint/equilibrium_position", "arm/dq_c[0]"),
        low=[-2.0, -0.5],
        high=[4.0, 0.5],
        layers=tuple((rng.normal(size=(m, n)), rng.normal(size=m)) for n, m in itertools.pairwise(sizes)),
        period=0.1,
        mean=rng.normal(size=4),
        scale=rng.uniform(0.5, 2.0, 4),
        activation=activation,
        output=output,
        range_low=[-1.0] * 4,
        range_high=[1.0] * 4,
        start=[0.1, 0.0],
        settings={"load_mass": 0.3},
    )


KINDS = [("tanh", "clip", 3), ("relu", "tanh", 3), ("elu", "clip", 3), ("tanh", "tanh", 1)]


@pytest.mark.parametrize(("activation", "output", "layers"), KINDS)
def test_the_runtime_of_onnx_computes_what_the_policy_does(tmp_path, activation, output, layers):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install onnxruntime")
    made = policy(activation, output, layers)
    session = runtime.InferenceSession(str(made.save(tmp_path / "p.onnx")), providers=["CPUExecutionProvider"])
    for row in np.random.default_rng(1).normal(size=(20, 4)):
        found = session.run(None, {"observation": row[None].astype(np.float32)})[0][0]
        np.testing.assert_allclose(found, made.act(row), atol=2e-5)


@pytest.mark.parametrize(("activation", "output", "layers"), KINDS)
def test_a_file_gives_the_same_policy_back_within_single_precision(tmp_path, activation, output, layers):
    made = policy(activation, output, layers)
    found = Policy.load(made.save(tmp_path / "p.onnx"))
    for row in np.random.default_rng(1).normal(size=(20, 4)):
        np.testing.assert_allclose(found.act(row), made.act(row), atol=2e-5)
    for name in ("robot", "observations", "commands", "period", "activation", "output", "settings"):
        assert getattr(found, name) == getattr(made, name)
    for name in ("low", "high", "mean", "scale", "range_low", "range_high", "start"):
        np.testing.assert_array_equal(getattr(found, name), getattr(made, name))


def test_a_network_of_another_program_gives_its_layers_for_an_export():
    rng = np.random.default_rng(2)
    layers = [(rng.normal(size=(5, 3)), rng.normal(size=5)), (rng.normal(size=(1, 5)), rng.normal(size=1))]
    data = write_network(Network(np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 4.0]), layers, "elu"))
    found = read_network(data)
    assert (found.activation, found.output, found.header) == ("elu", "", "")
    np.testing.assert_allclose(found.mean, [0.1, 0.2, 0.3], rtol=1e-6)
    np.testing.assert_allclose(found.scale, [1.0, 2.0, 4.0])
    for (weight, bias), (other, offset) in zip(found.layers, layers, strict=True):
        np.testing.assert_allclose(weight, other, rtol=1e-6)
        np.testing.assert_allclose(bias, offset, rtol=1e-6)


def test_a_file_without_names_says_how_to_give_them(tmp_path):
    file = tmp_path / "p.onnx"
    file.write_bytes(write_network(Network(np.zeros(1), np.ones(1), [(np.ones((1, 1)), np.zeros(1))])))
    with pytest.raises(PolicyError, match=r"of another program, .*export_policy\(task, read_network"):
        Policy.load(file)


def test_files_that_are_no_network_are_refused_by_name(tmp_path):
    good = write_network(Network(np.zeros(2), np.ones(2), [(np.ones((1, 2)), np.zeros(1))], output="clip"))
    for data, words in (
        (b"", "version 0; must be 7 to 23"),
        (good[:-1] + b"\x63", "version 99; must be 7 to 23"),
        (good.replace(b"Gemm", b"Conv"), "operator 'Conv'; must be of Gemm"),
        (good[:60], "ends in the middle"),
        (b"\x07", "a field of the kind 7"),
        (good.replace(b"observation", b"observatiom", 1), "not the next of one chain"),
    ):
        with pytest.raises(OnnxError, match=words):
            read_network(data)
        file = tmp_path / "p.onnx"
        file.write_bytes(data)
        with pytest.raises(PolicyError, match=r"not an ONNX file of a feed-forward network|the file is empty"):
            Policy.load(file)


def test_a_policy_of_other_shapes_than_its_names_is_refused(tmp_path):
    made = policy()
    data = made.save(tmp_path / "p.onnx").read_bytes()
    header = read_network(data).header
    fewer = json.dumps({**json.loads(header), "observations": ["joint/position"]})
    network = read_network(data)
    network.header = fewer
    (tmp_path / "q.onnx").write_bytes(write_network(network))
    with pytest.raises(PolicyError, match=r"mean has shape \(4,\); must be \(1,\)"):
        Policy.load(tmp_path / "q.onnx")


def test_mutated_files_are_read_or_refused():
    rng = np.random.default_rng(3)
    good = write_network(Network(np.zeros(2), np.ones(2), [(np.ones((1, 2)), np.zeros(1))], output="clip", header="{}"))
    read = 0
    for _ in range(2000):
        data = bytearray(good)
        for _ in range(rng.integers(1, 5)):
            data[rng.integers(len(data))] = rng.integers(256)
        try:
            with np.errstate(all="ignore"):
                read_network(bytes(data))
            read += 1
        except OnnxError:
            pass
    assert 0 < read < 2000


REFERENCE = {
    "Tanh": np.tanh,
    "Relu": lambda x: np.maximum(x, 0.0),
    "Elu": lambda x: np.where(x > 0.0, x, np.expm1(np.minimum(x, 0.0))),
    "Clip": lambda x: np.clip(x, -1.0, 1.0),
    "Identity": lambda x: x,
    "Cast": np.trunc,
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "MatMul": np.matmul,
}


def random_chain(rng):
    """Return a file with some operators in a random order, and the function of a row that they compute."""
    widths, nodes, constants, steps, value = 3, [], [], [], "x"
    for k in range(rng.integers(2, 9)):
        kind = str(rng.choice(list(REFERENCE), p=[0.1, 0.06, 0.04, 0.1, 0.05, 0.03, 0.12, 0.05, 0.12, 0.03, 0.3]))
        arrays, attributes = [], []
        if kind == "MatMul":
            arrays = [np.round(rng.normal(size=(widths, widths)), 3)]
        elif kind in ("Add", "Sub", "Mul", "Div"):
            shapes = [(widths,), (1, widths), (1,), (), (widths, 1)]
            arrays = [np.round(rng.uniform(0.5, 2.0, shapes[rng.choice(5, p=[0.4, 0.3, 0.15, 0.1, 0.05])]), 3)]
        elif kind == "Cast":
            attributes = [onnx._text(1, "to") + onnx._number(3, int(rng.choice([1, 6])))]
        elif kind == "Clip":
            arrays = [np.array(-1.0), np.array(1.0)]
        names = [f"c{k}_{j}" for j in range(len(arrays))]
        constants += [onnx._tensor(name, array) for name, array in zip(names, arrays, strict=True)]
        nodes.append(onnx._node(kind, [value, *names], f"v{k}", *attributes))
        steps.append((kind, [array.astype(np.float32).astype(float) for array in arrays], attributes))
        value = f"v{k}"
    outputs = [f"v{rng.integers(len(nodes))}"] if rng.random() < 0.1 else [value]
    ends = b"".join(onnx._value(12, name, widths) for name in outputs)
    graph = b"".join(nodes) + b"".join(constants) + onnx._value(11, "x", widths) + ends
    data = onnx._number(1, 8) + onnx._text(7, graph) + onnx._text(8, onnx._number(2, 13))

    def reference(x):
        for k, (kind, arrays, attributes) in enumerate(steps):
            if kind == "Cast" and attributes[0].endswith(b"\x01"):
                pass
            elif kind == "Clip":
                x = np.clip(x, -1.0, 1.0)
            else:
                x = REFERENCE[kind](x, *arrays)
            if f"v{k}" == outputs[0]:
                return x
        raise AssertionError

    return data, reference


def evaluated(network, x):
    """Return what the parts of a network say that it computes."""
    activations = {"tanh": np.tanh, "relu": REFERENCE["Relu"], "elu": REFERENCE["Elu"]}
    x = (x - network.mean) / network.scale
    for k, (weight, bias) in enumerate(network.layers):
        x = activations[network.activation](x) if k else x
        x = x @ weight.T + bias
    x = {"": lambda y: y, "clip": REFERENCE["Clip"], "tanh": np.tanh}[network.output](x)
    return x * (1.0 if network.half is None else network.half) + (0.0 if network.middle is None else network.middle)


def test_operators_in_any_order_are_read_as_what_they_compute_or_refused():
    rng = np.random.default_rng(11)
    read = 0
    for _ in range(4000):
        data, reference = random_chain(rng)
        try:
            network = read_network(data)
        except OnnxError:
            continue
        read += 1
        x = rng.normal(size=(1, 3))
        np.testing.assert_allclose(evaluated(network, x), reference(x), rtol=1e-6, atol=1e-6)
    assert read > 100


def test_a_network_of_another_program_is_exported_with_all_that_it_computes():
    pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'pliant[learn]'")
    from pliant.learn.envs.export import export_policy
    from pliant.learn.envs.tasks import touch

    rng = np.random.default_rng(5)
    scaling = {"half": np.array([0.5, 0.2]), "middle": np.array([0.1, -0.3])}
    layers = [(rng.normal(size=(5, 4)), rng.normal(size=5)), (rng.normal(size=(2, 5)), rng.normal(size=2))]
    for activation, kept, rest in (
        ("elu", layers, scaling),
        ("", layers[:1], {}),
        ("relu", layers, {"output": "tanh"}),
    ):
        if not activation:
            kept = [(rng.normal(size=(2, 4)), rng.normal(size=2))]
        network = read_network(
            write_network(Network(rng.normal(size=4), rng.uniform(1, 2, 4), kept, activation, **rest))
        )
        made = export_policy(touch.task(), network, touch.NAMES)
        x = rng.normal(size=4)
        action = np.clip(evaluated(network, x), -1.0, 1.0)
        np.testing.assert_allclose(made.act(x), made.low + 0.5 * (made.high - made.low) * (action + 1.0), atol=1e-6)
    with pytest.raises(OnnxError, match="scaled after tanh; must be actions of -1 to 1"):
        export_policy(touch.task(), Network(np.zeros(4), np.ones(4), layers, "elu", "tanh", **scaling), touch.NAMES)
