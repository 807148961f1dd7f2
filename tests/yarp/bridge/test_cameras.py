"""Images as the plugins of cameras ask for them."""

from types import SimpleNamespace

import numpy as np
import pytest

from pliant.base.errors import WireError
from pliant.camera.model import CameraModel
from pliant.devices.base import Sample
from pliant.yarp.bridge.camera import changed, serve_camera, serve_joined_cameras
from pliant.yarp.bridge.camera_calls import CameraCalls
from pliant.yarp.bridge.served import Served
from pliant.yarp.model.services import CameraImages, ImageServer, YarpInterface
from pliant.yarp.wire import Vocab, bottle, decode_bottle, format_bottle, parse_bottle
from pliant.yarp.wire.images import encode_image
from pliant.yarp.wire.records import PROTOCOL_VERSION

PIXELS = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)


@pytest.mark.parametrize(
    ("flips", "expected"),
    [
        ({}, [[0, 1], [2, 3]]),
        ({"flip_vertical": True}, [[2, 3], [0, 1]]),
        ({"flip_horizontal": True}, [[1, 0], [3, 2]]),
        ({"flip_vertical": True, "flip_horizontal": True}, [[3, 2], [1, 0]]),
    ],
)
def test_rows_and_columns_are_reversed(flips, expected):
    images = CameraImages(name="c", sensors=("c",), **flips)
    assert (changed(PIXELS, "image", images)[:, :, 0] // 3).tolist() == expected


def test_depth_is_rounded_to_its_digits_and_colours_are_not():
    images = CameraImages(name="c", sensors=("c",), depth=True, depth_quantum=1)
    depth = np.array([[0.26, np.inf]], dtype=np.float32)
    assert changed(depth, "depth", images).tolist() == [[pytest.approx(0.3), np.inf]]
    assert np.array_equal(changed(PIXELS, "image", images), PIXELS)


def test_a_camera_is_served_at_the_name_and_period_of_its_server():
    opened = []
    yarp = YarpInterface(
        devices=(CameraImages(name="eye_dev", sensors=("eye",)),),
        servers=(ImageServer(name="eye_nws", port="/sim/cam/left", period=0.05, device="eye_dev"),),
    )
    served = SimpleNamespace(
        robot=None,
        interface=yarp,
        full_name=lambda *parts: "/r/" + "/".join(parts),
        publish=lambda name, kind, device, encode, *, period, **options: opened.append((name, period)),
        input=lambda name, kind, **options: opened.append((name, "calls")),
    )
    shape = SimpleNamespace(shape=(2, 2, 3))
    source = SimpleNamespace(samples={"image": shape}, sample_period_ns=50_000_000)
    serve_camera(served, "eye", source)
    source.samples["depth"] = SimpleNamespace(shape=(2, 2))
    serve_camera(served, "other", source)
    assert opened[:2] == [("/sim/cam/left", 0.05), ("/sim/cam/left/rpc", "calls")]
    assert opened[2:] == [
        ("/r/other/rgbImage:o", 0.0),
        ("/r/other/depthImage:o", 0.0),
        ("/r/other/rpc:i", "calls"),
    ]


LENS = CameraModel(fx=100.0, fy=100.0, cx=99.5, cy=49.5, width=200, height=100, k1=0.1, p1=0.2)
CALLS = CameraCalls(width=200, height=100, lens=LENS, rate=30.0, depth=(0.1, 8.0))


@pytest.mark.parametrize(
    ("call", "values"),
    [
        ("[fgi] [get] [w]", "[fgi] [w] [is] 200"),
        ("[fgi] [get] [h]", "[fgi] [h] [is] 100"),
        ("[visr] [get] [w]", "[visr] [w] [is] 200"),
        ("[visr] [get] [res]", "[visr] [res] [is] 200 100"),
        ("[visr] [get] [fov]", "[visr] [fov] [is] 90.0 53.13010235415598"),  # 2 atan(1) and 2 atan(1/2)
        ("[visr] [get] [mirr]", "[visr] [mirr] [is] 0"),
        ("[visr] [get] [conf]", "[visr] [conf] [is] 1 200 100 30.0 [rgb]"),
        ("[visr] [set] [fov] 3.0 4.0", "[visr] [set] 0"),
        ("[visd] [get] [h]", "[visd] [h] [is] 100"),
        ("[visd] [get] [clip]", "[visd] [clip] [is] 0.1 8.0"),
        ("[visd] [get] [acrc]", "[visd] [acrc] [is] 1e-05"),
        ("[rgdb] [get] [prot]", "[rgdb] [prot] [is] 1 0"),
        ("[rgdb] [get] [stat]", "[rgdb] [stat] [is] 2"),
        ("rgdb get mess", '[rgdb] [mess] [is] ""'),
    ],
)
def test_calls_of_clients_of_cameras_are_answered(call, values):
    assert format_bottle(decode_bottle(CALLS.answer(parse_bottle(call)), 3)) == values


@pytest.mark.parametrize("interface", ["visr", "visd"])
def test_the_lens_of_a_camera_is_told(interface):
    (intrinsics,) = decode_bottle(CALLS.answer(parse_bottle(f"[{interface}] [get] [intp]")), 3).items[3:]
    found = {pair[0]: pair[1] for pair in intrinsics}
    assert [found[key] for key in ("focalLengthX", "focalLengthY", "principalPointX", "principalPointY")] == [
        100.0, 100.0, 99.5, 49.5,
    ]  # fmt: skip
    assert [found[key] for key in ("k1", "k2", "t1", "t2", "k3")] == [0.1, 0.0, 0.2, 0.0, 0.0]
    assert found["distortionModel"] == "plumb_bob"
    assert found["rectificationMatrix"].items == (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("call", "values"),
    [
        ("getHeightRPC", "([ok]) 100"),
        ("getWidthRPC", "([ok]) 200"),
        ("getRgbWidthRPC", "([ok]) 200"),
        ("getRgbHeightRPC", "([ok]) 100"),
        ("getRgbResolutionRPC", "([ok]) 200 100"),
        ("getRgbMirroringRPC", "([ok]) [fail]"),
        ("getDepthResolutionRPC", "([ok]) 200 100"),
        ("getDepthMirroringRPC", "([ok]) [fail]"),
        ("getSensorStatusRPC", "([ok]) 2"),
        ("getLastErrorMsgRPC", '([ok]) "" (0 0.0)'),
        ("setRgbResolutionRPC 200 100", "[err2]"),
        ("setDepthAccuracyRPC 0.1", "[err2]"),
    ],
)
def test_calls_by_records_of_clients_of_yarp_4_are_answered(call, values):
    assert format_bottle(decode_bottle(CALLS.answer(parse_bottle(call)), 4)) == values


@pytest.mark.parametrize("kind", ["Rgb", "Depth"])
def test_records_tell_the_same_numbers_as_vocabularies(kind):
    def ask(text, dialect):
        return decode_bottle(CALLS.answer(parse_bottle(text)), dialect).items

    interface = {"Rgb": "visr", "Depth": "visd"}[kind]
    pairs = {"FOV": "fov", "IntrinsicParam": "intp"} | (
        {"ClipPlanes": "clip", "Accuracy": "acrc"} if kind == "Depth" else {}
    )
    for name, word in pairs.items():
        assert ask(f"get{kind}{name}RPC", 4)[1:] == ask(f"[{interface}] [get] [{word}]", 3)[3:]
    if kind == "Rgb":
        (((width, height, rate, code),),) = ask("getRgbSupportedConfigurationsRPC", 4)[1:]
        assert (width, height, rate) == ask("[visr] [get] [conf]", 3)[4:7]
        assert Vocab(code) == Vocab.of("rgb")


def test_a_client_of_a_camera_is_told_the_version_of_its_calls_before_it_opens():
    assert CALLS.answer(parse_bottle("getRemoteProtocolVersion")) == PROTOCOL_VERSION


def test_calls_that_a_camera_has_no_answer_to_are_refused():
    plain = CameraCalls(width=200, height=100)
    for typed in (
        "[fgi] [get] [imgr]",
        "[visd] [get] [w]",
        "[rgdb] [get] [prot]",
        "[fgc] [get] [camd]",
        "nonsense",
        "",
    ):
        with pytest.raises(WireError, match="a camera has no call"):
            plain.answer(parse_bottle(typed))
    assert decode_bottle(plain.answer(parse_bottle("[visr] [get] [fov]")), 3) == bottle(Vocab.of("fail"))


@pytest.mark.parametrize("vertical", [False, True])
def test_images_of_several_cameras_are_sent_as_one_where_they_are_of_one_time(vertical):
    sent = []
    pair = CameraImages(name="eyes", sensors=("left", "right"), vertical=vertical)
    server = ImageServer(name="nws", port="/sim/stereo", period=0.1, device="eyes")
    camera = SimpleNamespace(samples={"image": SimpleNamespace(shape=(2, 2, 3))})
    port = SimpleNamespace(active=True, write=lambda encode, envelope: sent.append((encode(3), envelope)))
    served = SimpleNamespace(
        interface=YarpInterface(devices=(pair,), servers=(server,)),
        collect=lambda names: Served.collect(served, names),
        devices={"left": camera, "right": camera},
        writers={"left": [], "right": []},
        output=lambda name, kind, queue, on_data: port,
        input=lambda name, kind, *, is_rpc, on_data: calls.update({name: on_data}),
    )
    calls = {}
    assert serve_joined_cameras(served) == {"left", "right"}
    sizes = [
        calls["/sim/stereo/rpc"](SimpleNamespace(bottle=lambda key=key: parse_bottle(f"[fgi] [get] [{key}]")))
        for key in "wh"
    ]
    assert [decode_bottle(size, 3)[3] for size in sizes] == ([2, 4] if vertical else [4, 2])
    for stamp in (100_000_000, 200_000_000):
        for name, pixels in (("left", PIXELS), ("right", PIXELS + 100)):
            sample = Sample(name, 0, stamp, {"image": pixels})
            for write in served.writers[name]:
                write(sample)
    assert [envelope for _, envelope in sent] == ["1 0.1", "2 0.2"]
    assert sent[0][0] == encode_image(np.concatenate([PIXELS, PIXELS + 100], axis=0 if vertical else 1), "rgb")
