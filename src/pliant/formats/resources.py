"""Find the files that addresses of robot descriptions name: package://, model://, file:// and paths."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from pliant.base.documents.files import is_file
from pliant.base.errors import ModelError

MODEL_PATHS = ("GAZEBO_MODEL_PATH", "GZ_SIM_RESOURCE_PATH", "IGN_GAZEBO_RESOURCE_PATH", "SDF_PATH")
"""Environment variables with folders of models, as Gazebo classic, Gazebo and libsdformat read them."""


def find_resource(
    uri: str,
    file: str | Path | None,
    package_paths: Iterable[str | Path] = (),
    meshdir: str = "",
    is_there: Callable[[Path], bool] = is_file,
) -> tuple[Path | None, list[str]]:
    """Find the file that an address means.

    ``package://NAME/rest`` and ``model://NAME/rest`` are looked for in the given folders, then in those of
    ROS_PACKAGE_PATH (for models, of `MODEL_PATHS` too), in share/ below those of AMENT_PREFIX_PATH, then in the folders
    above the file. A folder counts where it holds NAME, or is NAME.

    Args:
        uri: package://, model:// or file:// address, or a path.
        file: the description, whose folder relative paths refer to.
        package_paths: folders to search first.
        meshdir: the description's own folder of meshes.
        is_there: whether a path is what is looked for.

    Returns:
        (path or None, the places that were searched).

    Raises:
        ModelError: an address of a kind that is not read, such as http://, or one that leaves its folder by "..".
    """
    base = Path(file).resolve().parent if file is not None else Path.cwd()
    scheme, _, rest = uri.partition("://")
    if not rest:
        scheme, rest = "", uri
    if scheme not in ("", "file", "package", "model"):
        raise ModelError(f"{uri!r} is an address of kind {scheme}://; must be package://, model://, file:// or a path")
    searched: list[str] = []

    def there(path: Path) -> bool:
        searched.append(str(path.parent))
        return is_there(path)

    if scheme in ("", "file"):
        plain = Path(rest)
        candidates = [plain] if plain.is_absolute() else [base / meshdir / plain, base / plain]
        for candidate in candidates:
            if there(candidate):
                return candidate, searched
        return None, _unique(searched)

    rest = rest.lstrip("/")  # package:///NAME/... is seen, too
    parts = rest.split("/")
    if parts[0] in ("", ".", "..") or os.path.normpath(rest).split("/")[0] != parts[0]:
        raise ModelError(f"{uri!r} climbs out of the folder of its model or package; must be NAME/... without '..'")
    package, inside = parts[0], "/".join(parts[1:]).lstrip("/")
    folders = [Path(p).expanduser() for p in package_paths]
    variables = ["ROS_PACKAGE_PATH", *(MODEL_PATHS if scheme == "model" else ())]
    for variable in variables:
        folders += [Path(p) for p in os.environ.get(variable, "").split(os.pathsep) if p]
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        if prefix:
            folders.append(Path(prefix) / "share")
    folders += [base, *(folder for folder in base.parents if folder != Path(folder.anchor))]
    for folder in folders:
        for root in (folder / package, folder) if folder.name == package else (folder / package,):
            if there(root / inside):
                return root / inside, searched
    return None, _unique(str(folder) for folder in folders)


def _unique(places: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(places))
