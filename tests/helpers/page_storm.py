"""Sixteen browsers that come, do whatever can be done on a page at random, and go again.

    python tests/helpers/page_storm.py http://localhost:8080/ SECONDS SEED [LABEL ...]

Each one reads which controls, bodies, handles and buttons for files the page has, then types into boxes (one message a
keystroke, as a browser gives them), presses buttons, drags bodies and handles, and gives files. Controls with the given
labels are left alone. Prints what was sent.
"""

import asyncio
import contextlib
import json
import math
import random
import sys
from importlib.metadata import version

import msgspec
import zstandard
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus, WebSocketException

CLIENTS = 16
KEYS = "0123456789.-e"
PAUSE_S = 0.08
"""Mean time between two things that one browser does [s]."""
FILES = (b"q1,q2,q3,q4,q5,q6\n0,0,0,0,0,0\n0.01,0,0,0,0,0\n", b"x,y\n1\n", b"\xff\xfe\x00", b"name: [", b"")

CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": [1, 0, 0, 0], "position": [0, 0, 1], "fov": 1.0, "near": 0.1, "far": 9.0,
    "image_height": 100, "image_width": 100, "look_at": [0, 0, 0], "up_direction": [0, 0, 1],
}  # fmt: skip
"""What a browser sends first; before it, it is not one of the server's clients."""


def read(data: bytes) -> list[dict]:
    """Return the messages of one bundle of the server."""
    size = int.from_bytes(data[8:16], "little")
    return msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(data[16 : 16 + size]))["messages"]


class Browser:
    """One browser after another, in one place."""

    def __init__(self, url: str, seed: int, spared: list[str]) -> None:
        self._url, self._chance = url.replace("http", "ws", 1), random.Random(seed)
        self._spared = spared
        self.sent: dict[str, int] = {}
        self.pages, self.refused = 0, 0

    async def live(self, seconds: float) -> None:
        """Open and close pages for some time."""
        end = asyncio.get_running_loop().time() + seconds
        while (now := asyncio.get_running_loop().time()) < end:
            stay = min(self._chance.uniform(0.5, 6.0), end - now)
            try:
                async with connect(self._url, subprotocols=[f"viser-v{version('viser')}"], max_size=None) as page:
                    self.pages += 1
                    await self._visit(page, stay)
            except InvalidStatus as error:  # the page that was left before is not closed yet
                self.refused += error.response.status_code != 503
                await asyncio.sleep(0.2)
            except (OSError, TimeoutError, WebSocketException):
                self.refused += 1
                await asyncio.sleep(0.2)

    async def _visit(self, page, seconds: float) -> None:
        seen: dict[str, list] = {"box": [], "body": [], "handle": [], "file": []}

        async def listen() -> None:
            async for data in page:
                if len(seen["box"]) == 0 or len(data) > 3000:
                    self._note(read(data), seen)

        await page.send(msgspec.msgpack.encode(CAMERA))
        listening = asyncio.ensure_future(listen())
        until = asyncio.get_running_loop().time() + seconds
        try:
            while asyncio.get_running_loop().time() < until:
                await asyncio.sleep(self._chance.expovariate(1.0 / PAUSE_S))
                kinds = [kind for kind, found in seen.items() if found]
                if not kinds:
                    continue
                kind = self._chance.choice(kinds)
                for message in getattr(self, f"_{kind}")(self._chance.choice(seen[kind])):
                    await page.send(msgspec.msgpack.encode(message))
                    self.sent[kind] = self.sent.get(kind, 0) + 1
        finally:
            listening.cancel()
            with contextlib.suppress(asyncio.CancelledError, WebSocketException):
                await listening

    def _note(self, messages: list[dict], seen: dict[str, list]) -> None:
        for m in messages:
            kind = m["type"]
            if kind == "GuiUploadButtonMessage":
                seen["file"].append(m["uuid"])
            elif kind.startswith("Gui") and isinstance(m.get("props"), dict) and "label" in m["props"]:
                if m["props"]["label"] not in self._spared:
                    seen["box"].append(m)
            elif kind == "TransformControlsMessage":
                seen["handle"].append(m["name"])
            elif kind == "GlbMessage" and m["name"].startswith("/body/"):
                seen["body"].append(m["name"])

    def _box(self, control: dict):
        """Type a number key by key, choose, tick, or press."""
        props, chance, value = control["props"], self._chance, control.get("value")
        values: list = []
        if isinstance(value, bool):
            values = [chance.random() < 0.5]
        elif isinstance(value, int | float):
            if chance.random() < 0.5 and props.get("min") is not None and props.get("max") is not None:
                values = [chance.uniform(props["min"], props["max"])]
            else:
                text = ""
                for _ in range(chance.randrange(1, 7)):
                    text += chance.choice(KEYS)
                    with contextlib.suppress(ValueError):
                        values.append(float(text))
                values.append(chance.choice([math.nan, math.inf, -1e308, 1e9]))
        elif "options" in props:
            values = [chance.choice([*props["options"], "no such thing"])]
        elif isinstance(value, str):
            values = ["".join(chance.choice(KEYS) for _ in range(chance.randrange(1, 30)))]
        else:
            values = [True]
        return [{"type": "GuiUpdateMessage", "uuid": control["uuid"], "updates": {"value": v}} for v in values]

    def _body(self, name: str):
        """Drag a body along random places, and let go, or go away while it is held."""
        chance = self._chance
        phases = ["start", *["update"] * chance.randrange(1, 6), *(["end"] if chance.random() < 0.8 else [])]
        start = [chance.uniform(-0.5, 0.5) for _ in range(3)]
        for phase in phases:
            end = [chance.gauss(0.0, 10.0 ** chance.randrange(-2, 3)) for _ in range(3)]
            yield {
                "type": "SceneNodeDragMessage", "phase": phase, "name": name, "instance_index": None,
                "start_position": start, "start_screen_pos": [0.5, 0.5], "end_position": end,
                "end_screen_pos": [0.4, 0.6], "button": "left", "modifier": None, "owner": "",
            }  # fmt: skip

    def _handle(self, name: str):
        """Drag a handle, also to where nothing can follow."""
        chance = self._chance
        for _ in range(chance.randrange(1, 5)):
            where = [chance.choice([chance.gauss(0.0, 0.3), math.nan, 1e12]) for _ in range(3)]
            turn = [1.0, chance.gauss(0.0, 0.3), 0.0, chance.choice([0.0, math.nan])]
            yield {"type": "TransformControlsUpdateMessage", "name": name, "wxyz": turn, "position": where, "owner": ""}

    def _file(self, uuid: str):
        """Give a file, whole, in part, or of another size than was said."""
        chance = self._chance
        content, name = chance.choice(FILES), chance.choice(["a.csv", "../a.yaml", "a.exe", "x" * 300])
        transfer = f"{chance.getrandbits(64):x}"
        size = chance.choice([len(content), len(content), 10**9, -1])
        yield {
            "type": "FileTransferStartUpload", "source_component_uuid": uuid, "transfer_uuid": transfer,
            "filename": name, "mime_type": "text/plain", "part_count": 1, "size_bytes": size,
        }  # fmt: skip
        if chance.random() < 0.8:
            yield {
                "type": "FileTransferPart", "source_component_uuid": uuid, "transfer_uuid": transfer, "part_index": 0,
                "content": content,
            }  # fmt: skip


async def main() -> None:
    url, seconds, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    browsers = [Browser(url, 100 * seed + k, sys.argv[4:]) for k in range(CLIENTS)]
    await asyncio.gather(*(browser.live(seconds) for browser in browsers))
    sent: dict[str, int] = {}
    for browser in browsers:
        for kind, count in browser.sent.items():
            sent[kind] = sent.get(kind, 0) + count
    pages, refused = (sum(getattr(b, name) for b in browsers) for name in ("pages", "refused"))
    print(json.dumps({"sent": sent, "pages": pages, "refused": refused}))


if __name__ == "__main__":
    asyncio.run(main())
