"""Limits of what an MJCF file may expand to, checked before MuJoCo compiles it."""

from __future__ import annotations

import math
from pathlib import Path

from pliant.base.documents.files import MAX_BYTES, check_file, exists, open_file, read_file
from pliant.base.documents.xml_tree import Node, line_of, parse_xml
from pliant.base.errors import ModelError
from pliant.formats.mesh_file import check_faces

MAX_GENERATED = 8_000
"""Most elements that ``<replicate>`` may generate. The time to compile grows with the square: 5,000 geoms take 1.4 s,
20,000 take 40 s."""
MAX_POINTS = 3_000
"""Most points that ``<flexcomp>`` may generate. 4,900 points take 6 s to compile."""
MAX_PIXELS = 2**26
"""Most pixels of a texture, and most samples of a height field."""
MAX_TEXTURES = 2**28
"""Most pixels of all textures together."""
MAX_ELEMENTS = 25_000
"""Most elements of a description with its includes. 20,000 geoms take 2 s to compile."""
MAX_BODIES = 5_000
"""Most bodies. 4,000 with a joint each take 1.4 s to compile, 10,000 more than 9 s."""
MAX_FACETS = 500
"""Largest number of a built-in mesh's ``params``: two of them multiply to its number of vertices."""
MAX_RAYS = 10_000
"""Most pixels of a camera from which a rangefinder measures."""
MAX_DEPTH = 20
"""Deepest nesting of includes."""
MAX_COUNT = 1_000_000
"""Largest other count that allocates memory, such as ``nuserdata`` or the ``dim`` of a user sensor."""
MAX_ASSET_BYTES = 4 * MAX_BYTES
"""Largest mesh, texture, height field or skin [bytes]."""
MAX_INCLUDES = 1_000
"""Most files of ``<include>`` and ``<model>``."""

_COUNTS = ("nuserdata", "nkey", "nuser_body", "nuser_jnt", "nuser_geom", "nuser_site", "nuser_cam", "nuser_tendon",
           "nuser_actuator", "nuser_sensor", "dim", "nsample", "actdim")  # fmt: skip
_ASSETS = {"mesh": "meshdir", "skin": "meshdir", "texture": "texturedir", "hfield": "meshdir", "flexcomp": "meshdir"}
_FACES = ("file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")
_ARCHIVES = (".zip", ".mjz")
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_PNG = b"\x89PNG\r\n\x1a\n"


def check_budget(root: Node, path: Path) -> None:
    """Refuse a description that generates more elements or data than a robot needs, or names files that are no files.

    Args:
        root: root element of the file.
        path: the file; included files are searched in its folder.

    Raises:
        ModelError: a count is too large, or a file that it names is no regular file or too large; the message names
            file, line and attribute.
    """
    _Budget(path).add(root, path)


class _Budget:
    """Sums over a description and the files that it includes."""

    def __init__(self, path: Path) -> None:
        self.folder = path.parent
        self.generated = 0
        self.points = 0
        self.pixels = 0
        self.elements = 0
        self.bodies = 0
        self.files = 0
        self.directories: dict[str, str] = {}
        self.cameras: dict[str, Node] = {}
        self.measured: set[str] = set()
        self.chain: list[Path] = []

    def add(self, root: Node, file: Path) -> None:
        self.chain.append(file.resolve())
        self._add(root, file)
        self.chain.pop()
        for name in self.measured & self.cameras.keys():
            self._pixel_count(self.cameras[name], file, "resolution", MAX_RAYS)

    def _add(self, root: Node, file: Path) -> None:
        for compiler in root.iter("compiler"):
            for key in ("assetdir", "meshdir", "texturedir"):
                if compiler.get(key) is not None:
                    self.directories[key] = compiler.get(key, "")
        stack: list[tuple[Node, int]] = [(root, 1)]
        while stack:
            element, copies = stack.pop()
            self._element(element, copies, file)
            if element.tag == "replicate":
                copies *= max(1, _integer(element, "count", 1))
            stack.extend((child, copies) for child in element)

    def _element(self, element: Node, copies: int, file: Path) -> None:
        self.elements += 1
        self.bodies += element.tag == "body"
        for count, most, what in ((self.elements, MAX_ELEMENTS, "elements"), (self.bodies, MAX_BODIES, "bodies")):
            if count > most:
                raise _fault(element, file, f"the description has more than {most} {what}", element.tag)
        if copies > 1:
            self.generated += copies
            if self.generated > MAX_GENERATED:
                raise _fault(element, file, f"<replicate> generates more than {MAX_GENERATED} elements", "count")
        for key in _COUNTS:
            if _integer(element, key, 0) > MAX_COUNT:
                raise _fault(element, file, f"{key} is {element.get(key)}; must be at most {MAX_COUNT}", key)
        if element.tag != "default" and "%" in element.get("class", ""):  # MuJoCo prints an unknown one as a format
            raise _fault(element, file, f"class is {element.get('class')!r}; must have no %", "class")
        if element.tag == "flexcomp":
            counts = [max(1.0, n) for n in _numbers(element, "count")] or [1.0]
            self.points += int(min(math.prod(counts), 1e9)) * copies
            if self.points > MAX_POINTS:
                raise _fault(element, file, f"<flexcomp> generates more than {MAX_POINTS} points", "count")
        if element.get("builtin") and max(_numbers(element, "params"), default=0.0) > MAX_FACETS:
            raise _fault(element, file, f"params is {element.get('params')}; must be at most {MAX_FACETS}", "params")
        if element.tag == "camera":
            self.cameras[element.get("name", "")] = element
        if element.tag == "rangefinder" and element.get("camera"):
            self.measured.add(element.get("camera", ""))
        if element.tag == "texture":
            self._pixels(element, file, ("width", "height"), 6 if element.get("type") in ("cube", "skybox") else 1)
        if element.tag == "hfield":
            self._pixels(element, file, ("nrow", "ncol"), 1)
        if element.tag in ("include", "model"):
            self._included(element, file)
        elif element.tag in _ASSETS:
            self._asset(element, file)

    def _pixel_count(self, element: Node, file: Path, key: str, most: int) -> None:
        sides = _numbers(element, key)
        if math.prod(sides) > most:
            raise _fault(
                element, file, f"{key} is {element.get(key)}; the product must be at most {most} for a rangefinder", key
            )

    def _pixels(self, element: Node, file: Path, keys: tuple[str, str], faces: int) -> None:
        sides = [_integer(element, key, 0) for key in keys]
        if max(sides) > MAX_PIXELS or faces * sides[0] * max(sides[1], 1) > MAX_PIXELS:
            raise _fault(
                element,
                file,
                f"<{element.tag}> has {keys[0]} {sides[0]} and {keys[1]} {sides[1]}; the product must be at most "
                f"{MAX_PIXELS // faces}",
                keys[0],
            )
        if element.tag == "texture":
            self._textured(element, file, faces * sides[0] * max(sides[1], 1), keys[0])

    def _textured(self, element: Node, file: Path, pixels: int, key: str) -> None:
        self.pixels += pixels
        if self.pixels > MAX_TEXTURES:
            raise _fault(element, file, f"all textures together have more than {MAX_TEXTURES} pixels", key)

    def _included(self, element: Node, file: Path) -> None:
        name = element.get("file", "")
        place = self.folder / name
        if not name or not exists(place):
            return  # MuJoCo says so
        self._no_archive(element, file, place)
        self.files += 1
        if self.files > MAX_INCLUDES:
            raise _fault(element, file, f"more than {MAX_INCLUDES} files are included", "file")
        if place.resolve() in self.chain:
            raise _fault(element, file, f"{name!r} includes itself", "file")
        if len(self.chain) > MAX_DEPTH:
            raise _fault(element, file, f"files include each other deeper than {MAX_DEPTH}", "file")
        if place.suffix.lower() in (".xml", ".mjcf", ".urdf", ""):
            self.add(parse_xml(read_file(place), place), place)
        else:
            check_file(place, max_bytes=MAX_ASSET_BYTES)

    def _asset(self, element: Node, file: Path) -> None:
        folder = self.directories.get(_ASSETS[element.tag], self.directories.get("assetdir", ""))
        for key in _FACES:
            name = element.get(key)
            place = self.folder / folder / name if name else None
            if place is None or not exists(place):
                continue
            self._no_archive(element, file, place)
            with open_file(place, max_bytes=MAX_ASSET_BYTES) as stream:
                head = stream.read(24)
            if element.tag == "flexcomp" and (element.get("content_type") or place.suffix).lower().endswith("obj"):
                check_faces(place)
            width, height = int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
            if head.startswith(_PNG) and element.tag == "texture":
                self._textured(element, file, width * height, key)
            if head.startswith(_PNG) and width * height > MAX_PIXELS:
                raise ModelError(
                    f"the picture has {width} x {height} pixels; must be at most {MAX_PIXELS}", file=place, field=key
                )

    def _no_archive(self, element: Node, file: Path, place: Path) -> None:
        """Refuse what MuJoCo would unpack: an archive expands to any size."""
        zipped = place.suffix.lower() in _ARCHIVES or "zip" in element.get("content_type", "").lower()
        if not zipped:
            with open_file(place, max_bytes=MAX_ASSET_BYTES) as stream:
                zipped = stream.read(4) in _ZIP
        if zipped:
            raise _fault(element, file, f"{place.name!r} is an archive; must be a file that is unpacked", "file")


def _numbers(element: Node, key: str) -> list[float]:
    try:
        numbers = [float(word) for word in element.get(key, "").split()]
    except ValueError:
        return []  # MuJoCo says so
    return [1e9 if math.isnan(n) else min(n, 1e9) for n in numbers]


def _integer(element: Node, key: str, default: int) -> int:
    numbers = _numbers(element, key)
    return int(max(numbers[0], -1e9)) if numbers else default


def _fault(element: Node, file: Path, message: str, key: str) -> ModelError:
    return ModelError(message, file=file, line=line_of(element), field=key)
