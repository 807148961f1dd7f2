"""Machine code on disk: where it lies, what it belongs to, and whether it is whole.

Code that lies in the cache is run, so three things are checked before it is used.

- The folder belongs to the user, and nobody else can write to it (`private_folder`).
- The name of a file contains a digest of all code and constants that take part (`pliant.base.fingerprint`).
- Each file begins with a digest of its contents (`read_text`, `write_text`, `CodeFiles`). A file that was cut off or
  changed is compiled again.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import logging
import os
import pickle
import shutil
import stat
import tempfile
import types
from collections.abc import Callable, Mapping
from pathlib import Path

from pliant.base import shipped
from pliant.base.compiling import follow_numba
from pliant.base.errors import LawError
from pliant.base.fingerprint import fingerprint, fingerprints
from pliant.base.numba_arrays import register_arrays
from pliant.base.numba_types import Dispatcher, PythonFunction, Returned
from pliant.base.replacing import replacing

log = logging.getLogger("pliant")

_FORMAT = b"pliant 1 sha256 "
"""First bytes of a file with machine code, before its digest."""


# -- the folder -----------------------------------------------------------------------------------------------


def _fault(folder: Path) -> str:
    """Return why code in a folder must not be run, "" if it may."""
    if not hasattr(os, "getuid"):
        return "" if os.access(folder, os.W_OK) else f"{folder} cannot be written"
    state = folder.stat()
    if not stat.S_ISDIR(state.st_mode):
        return f"{folder} is not a folder"
    if state.st_uid != os.getuid():
        return f"{folder} belongs to the user {_user(state.st_uid)}, not to {_user(os.getuid())}"
    if state.st_mode & 0o022:
        mode = stat.S_IMODE(state.st_mode)
        return f"{folder} can be written by other users (mode {mode:03o}); `chmod go-w {folder}` prevents it"
    return "" if os.access(folder, os.W_OK | os.X_OK) else f"{folder} cannot be written"


def _user(number: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def cache_folder() -> Path:
    """Return the folder of compiled code. It exists, belongs to the user and can be written by nobody else.

    If the user's own folder cannot be used, a temporary folder is returned, which only costs the time of a compilation.

    Raises:
        LawError: ``PLIANT_CACHE`` names a folder that cannot be used.
    """
    wanted = os.environ.get("PLIANT_CACHE")
    try:
        if wanted:
            folder = Path(wanted)
        elif os.environ.get("XDG_CACHE_HOME"):
            folder = Path(os.environ["XDG_CACHE_HOME"]) / "pliant"
        else:
            folder = Path.home() / ".cache" / "pliant"
        _make(folder)
        fault = _fault(folder)
    except (OSError, RuntimeError) as error:  # RuntimeError: the user has no home
        if wanted:
            raise LawError(f"the cache folder PLIANT_CACHE={wanted} cannot be written; name another one") from None
        return temporary_cache(str(error))
    if fault and wanted:
        raise LawError(f"PLIANT_CACHE={wanted}: {fault}. Compiled code is run from this folder; name another one")
    return temporary_cache(fault) if fault else folder


def private_folder(name: str) -> Path:
    """Return a folder inside the cache that nobody else can write to.

    Args:
        name: "laws", "derived" or "numba".

    Raises:
        LawError: it belongs to somebody else or others can write to it.
    """
    folder = cache_folder() / name
    try:
        _make(folder)
        fault = _fault(folder)
    except OSError as error:
        fault = str(error)
    if fault:
        raise LawError(
            f"{fault}. Compiled code is run from this folder; delete it, or name another one in PLIANT_CACHE"
        )
    return folder


def _make(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)


_temporary: list[Path] = []


def temporary_cache(reason: str = "") -> Path:
    """Return a folder for compiled code where the user's cache cannot be used; logs a warning, once.

    Args:
        reason: why it cannot be used.
    """
    if _temporary and _temporary[0].is_dir():
        return _temporary[0]
    # Code in this folder is run: a folder or a link that somebody else made is not used.
    folder = Path(tempfile.gettempdir()) / f"pliant-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        if stat.S_ISLNK(folder.lstat().st_mode) or _fault(folder):
            raise PermissionError(folder)
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="pliant-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    log.warning(
        "the cache of compiled code cannot be used%s; %s is used, so code may be compiled again "
        "(PLIANT_CACHE names another folder)",
        f" ({reason})" if reason else "",
        folder,
    )
    _temporary[:] = [folder]
    return folder


# -- files with a digest --------------------------------------------------------------------------------------


def _seal(data: bytes) -> bytes:
    return _FORMAT + hashlib.sha256(data).hexdigest().encode() + b"\n" + data


def _unseal(data: bytes) -> bytes | None:
    """Return the contents of a file, None if its digest is missing or wrong."""
    head, _, rest = data.partition(b"\n")
    return rest if head == _FORMAT + hashlib.sha256(rest).hexdigest().encode() else None


def _read(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            if hasattr(os, "getuid") and (state.st_uid != os.getuid() or state.st_mode & 0o022):
                log.warning("%s belongs to another user or can be written by others: not used", path)
                return None
            data = file.read()
    except OSError:
        return None
    return data


def _write(path: Path, data: bytes) -> None:
    """Write a file so that another process sees the old one or the whole new one; raises OSError."""
    with (
        replacing(path) as beside,
        os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file,
    ):
        file.write(data)
    _told.discard(path)


_told: set[Path] = set()
"""Damaged files that were warned about and not written again since."""


def _damaged(path: Path) -> None:
    """Warn about a damaged file, once: it may be looked at before it is read."""
    if path not in _told:
        _told.add(path)
        log.warning("%s is damaged: compiling again", path)


def _not_kept(path: Path, error: OSError) -> None:
    if path.is_dir():
        log.warning("%s is a folder, so compiled code cannot be kept there for later runs: delete it", path)
    else:
        log.warning("compiled code cannot be kept for later runs: %s", error)


def read_text(path: Path, comment: str) -> str | None:
    """Return the text of a cached file, None if there is none that is whole.

    Args:
        path: the file.
        comment: sign that begins a comment in its language.
    """
    data = _read(path)
    return None if data is None else _text_of(data, comment, path)


def _text_of(data: bytes, comment: str, path: Path) -> str | None:
    lead = comment.encode() + b" "
    contents = _unseal(data[len(lead) :]) if data.startswith(lead) else None
    if contents is None:
        _damaged(path)
        return None
    return contents.decode()


def write_text(path: Path, text: str, comment: str) -> None:
    """Write a cached file with its digest. A disk that is full costs a compilation later, nothing else.

    Args:
        path: the file.
        text: its contents.
        comment: sign that begins a comment in its language.
    """
    try:
        _write(path, comment.encode() + b" " + _seal(text.encode()))
    except OSError as error:
        _not_kept(path, error)


# -- code that comes with the package -------------------------------------------------------------------------


def read_shipped(name: str, comment: str) -> str | None:
    """Return the text of a file that came with the package, None if there is none that is whole.

    Args:
        name: name of the file.
        comment: sign that begins a comment in its language.
    """
    folder = shipped.folder()
    if folder is None or shipped.receiving() is not None:
        return None
    try:
        data = (folder / name).read_bytes()
    except OSError:
        return None
    return _text_of(data, comment, folder / name)


def ship_text(name: str, text: str, comment: str) -> None:
    """Write a text for the package that is being built; does nothing outside a build."""
    folder = shipped.receiving()
    if folder is not None:
        _write(folder / name, comment.encode() + b" " + _seal(text.encode()))


# -- numba ----------------------------------------------------------------------------------------------------


def _code_name(stem: str, key: object) -> str:
    return f"{stem}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.code"


class CodeFiles:
    """Files of one compiled function in place of numba's index and data files: each has its digest.

    numba's own cache notices a change of the file that holds the function, and nothing that the function reaches.

    Args:
        folder: where they lie.
        base: begin of their names.
        function: the function.
        options: with which it is compiled, as text.
    """

    def __init__(self, folder: str, base: str, function: types.FunctionType, options: str = "") -> None:
        self._folder, self._base, self._function, self._options = Path(folder), base, function, options

    @functools.cached_property
    def _stem(self) -> str:
        return f"{self._base}-{fingerprint([self._function], extra=self._options)}"

    def _path(self, key: object) -> Path:
        return self._folder / _code_name(self._stem, key)

    @functools.cached_property
    def _shipped_stem(self) -> str:
        digest = fingerprints([self._function], extra=self._options)[1]
        return f"{self._base.rpartition('.')[0]}-{digest}" if digest else ""

    def _shipped(self, folder: Path | None, key: object) -> Path | None:
        """Return the file of a key among the code that came with the package, or goes into it."""
        if folder is None or not self._shipped_stem:
            return None
        return folder / _code_name(self._shipped_stem, key)

    def load(self, key: object) -> object:
        """Return what was kept under a key, None if there is nothing that is whole."""
        path = self._shipped(shipped.folder(), shipped.translated(key)) if shipped.receiving() is None else None
        if path is not None and path.is_file() and shipped.fits():
            found = self._loaded(path)
            if found is not None:
                return found
        return self._loaded(self._path(key))

    def _loaded(self, path: Path) -> object:
        try:
            data = path.read_bytes()
        except OSError:
            return None
        contents = _unseal(data)
        if contents is not None:
            if b"numba.np.arraymath" in contents:  # what is unpickled imports it
                register_arrays()
            with contextlib.suppress(Exception):  # written by another version of numba
                return pickle.loads(contents)
        _damaged(path)
        return None

    def save(self, key: object, data: object) -> None:
        """Keep compiled code under a key; what was kept of older versions of the function is deleted."""
        from numba.core.serialize import dumps

        path = self._path(key)
        sealed = _seal(dumps(data))
        given = self._shipped(shipped.receiving(), key)
        if given is not None:
            _write(given, sealed)
        try:
            _write(path, sealed)
            for old in self._folder.glob(f"{self._base}-*.code"):
                if not old.name.startswith(f"{self._stem}."):
                    old.unlink(missing_ok=True)
        except OSError as error:
            _not_kept(path, error)

    def flush(self) -> None:
        """Delete all that was kept."""
        for old in self._folder.glob(f"{self._base}-*.code"):
            old.unlink(missing_ok=True)


class PartFiles(CodeFiles):
    """Files of a function that is a part of others, and whose name has its fingerprint; no package has them."""

    @functools.cached_property
    def _stem(self) -> str:
        return self._function.__qualname__

    @functools.cached_property
    def _shipped_stem(self) -> str:
        return ""


class Compiled:
    """A function that numba compiles, or loads from the cache, at its first call; numba is imported only then.

    Compiled functions may call it. Everything but the fields below is the dispatcher's.

    Args:
        function: the function.
        options: of `numba.njit`, without ``cache``.
    """

    def __init__(self, function: PythonFunction, options: Mapping[str, bool | str]) -> None:
        self._options = options
        self.py_func = function
        """The function in Python."""
        self.targetoptions = {**options, "nopython": True, "boundscheck": None}
        """Options as numba keeps them."""
        functools.update_wrapper(self, function)

    @functools.cached_property
    def dispatcher(self) -> Dispatcher:
        """numba's function, with a cache whose files are checked (`CodeFiles`)."""
        return _dispatcher(self.py_func, self._options)

    def __call__(self, *args: object) -> Returned:
        return self.dispatcher(*args)

    def __getattr__(self, name: str) -> Returned:
        if name.startswith("__") or name == "dispatcher":
            raise AttributeError(name)
        return getattr(self.dispatcher, name)


def njit(**options: bool | str) -> Callable[[PythonFunction], Compiled]:
    """Return a decorator as `numba.njit` with these options; the function is `Compiled` at its first call.

    numba keeps compiled functions beside their source, or in the user's cache folder. Where it can write to neither, a
    temporary folder is used, which only costs the time of a compilation.

    Args:
        options: of `numba.njit`, without ``cache``.
    """
    return lambda function: Compiled(function, options)


@functools.cache
def _cache_class() -> type:
    """Return numba's cache of functions, less what only a compilation needs; tell numba what `Compiled` is."""
    from numba.core.caching import FunctionCache
    from numba.core.runtime.nrt import rtsys
    from numba.extending import typeof_impl

    follow_numba()
    typeof_impl.register(Compiled)(lambda value, context: typeof_impl(value.dispatcher, context))

    class Cache(FunctionCache):
        def load_overload(self, sig: object, target_context: object) -> object:
            """Load without the registries of functions, which only a compilation needs; it fills them itself."""
            rtsys.initialize(target_context)
            with self._guard_against_spurious_io_errors():
                found = self._load_overload(sig, target_context)
                if found is not None:
                    return found
            register_arrays()
            return None

    return Cache


def part_dispatcher(function: types.FunctionType, options: Mapping[str, bool | str]) -> Dispatcher:
    """Return numba's dispatcher of a function that only compiled functions call; its code is kept as `PartFiles`.

    Args:
        function: the function; its qualified name has its fingerprint.
        options: of `numba.njit`, without ``cache``.
    """
    import numba

    decorator: PythonFunction = numba.njit  # of more options than the types of numba join
    dispatcher: Dispatcher = decorator(**options)(function)
    with contextlib.suppress(RuntimeError):  # numba found no place for a cache
        cache = _cache_class()(function)
        cache._cache_file = PartFiles(str(private_folder("laws")), "", function)
        dispatcher._cache = cache
    return dispatcher


def _dispatcher(function: PythonFunction, options: Mapping[str, bool | str]) -> Dispatcher:
    import numba
    from numba.core import config

    make = _cache_class()

    def attach(dispatcher: Dispatcher) -> Dispatcher:
        cache = make(dispatcher.py_func)
        base = cache._impl.filename_base
        chosen = repr(sorted((key, repr(value)) for key, value in options.items()))
        cache._cache_file = CodeFiles(cache._cache_path, base, dispatcher.py_func, chosen)
        dispatcher._cache = cache
        return dispatcher

    decorator: PythonFunction = numba.njit  # of more options than the types of numba join
    dispatcher = decorator(**options)(function)
    try:
        return attach(dispatcher)
    except RuntimeError:  # numba found no place for a cache
        # For all that follow, too: numba asks for this folder first.
        config.__dict__["CACHE_DIR"] = str(temporary_cache() / "numba")
        return attach(dispatcher)
