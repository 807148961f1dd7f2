"""Build message packages with the rosidl of an environment from PyPI, so that its rclpy can use their types.

    PYTHON_WITH_RCLPY rosidl_build.py FOLDER PACKAGE_FOLDER ...

Each package folder has ``msg``, ``srv`` and ``action`` folders. FOLDER gets ``lib`` for LD_LIBRARY_PATH and ``python``
for PYTHONPATH, and ``hashes.json`` with the type hashes that rosidl computes. It does what ``colcon build`` does, with
gcc and without cmake.
"""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import types
from pathlib import Path

ROOT = Path(sys.prefix)


def prepare():
    """Let rosidl's command line run from wheels: their entry points stand there twice, and catkin_pkg is not needed."""
    import rosidl_cli.entry_points
    import rosidl_cli.extensions

    load = rosidl_cli.entry_points.load_entry_points
    lenient = lambda group, *, strict=False, **more: load(group, strict=False, **more)  # noqa: E731
    rosidl_cli.entry_points.load_entry_points = rosidl_cli.extensions.load_entry_points = lenient
    package = types.ModuleType("catkin_pkg.package")
    package.parse_package = package.package_exists_at = None
    sys.modules.update({"catkin_pkg": types.ModuleType("catkin_pkg"), "catkin_pkg.package": package})


def rosidl(*words):
    """Run the command rosidl."""
    from rosidl_cli.cli import main

    with contextlib.redirect_stdout(io.StringIO()):
        sys.argv = ["rosidl", *map(str, words)]
        code = main()
    if code:
        raise SystemExit(f"rosidl {words}: {code}")


def compile_all(output, sources, includes, libraries, folders):
    """Compile and link one shared library."""
    output.parent.mkdir(parents=True, exist_ok=True)
    words = ["g++", "-shared", "-fPIC", "-O0", "-w", "-std=c++17", "-o", output]
    objects = []
    for k, source in enumerate(sources):
        plain = source.suffix == ".c"
        objects.append(output.with_suffix(f".{k}.o"))
        compiler = ["gcc"] if plain else ["g++", "-std=c++17"]
        flags = ["-c", "-fPIC", "-O0", "-w", *(f"-I{i}" for i in includes)]
        subprocess.run([*compiler, *flags, source, "-o", objects[-1]], check=True)
    words += [*objects, *(f"-L{f}" for f in folders), *(f"-l{name}" for name in libraries)]
    subprocess.run([*map(str, words), "-Wl,--allow-shlib-undefined"], check=True)
    for item in objects:
        item.unlink()


def build(folder, package):
    """Build one package; return its hashes."""
    import numpy

    name = package.name
    files = [f"{package}:{f.relative_to(package)}" for kind in ("msg", "srv", "action")
             for f in sorted((package / kind).glob(f"*.{kind}"))]  # fmt: skip
    made = folder / "made" / name
    include = [word for path in (ROOT / "share", folder / "share") for word in ("-I", path)]
    # Packages that come later find the definitions of this one.
    rosidl("translate", "--to", "idl", "-o", folder / "share", name, *files)
    idl = folder / "share" / name
    idl.mkdir(parents=True, exist_ok=True)
    for kind in ("msg", "srv", "action"):
        for file in (folder / "share" / kind).glob("*.idl"):
            (idl / kind).mkdir(exist_ok=True)
            file.replace(idl / kind / file.name)
    files, messages = (
        [f"{idl}:{f.relative_to(idl)}" for f in sorted(idl.rglob(f"{kind}/*.idl"))] for kind in ("*", "msg")
    )
    supports = [word for kind in ("fastrtps_c", "introspection_c", "c") for word in ("-ts", kind)]
    rosidl("generate", "-o", made, "-t", "c", "-t", "py", *supports, *include, name, *files)
    # A message and an action of one name have had the description of the action.
    if messages:
        shutil.rmtree(made / "c" / "msg" / "detail")
        rosidl("generate", "-o", made / "c", "-t", "c", *include, name, *messages)
    headers = folder / "include"
    headers.mkdir(exist_ok=True)
    for part in ("c", "fastrtps_c", "introspection_c"):
        subprocess.run(["cp", "-rT", made / part, headers / name], check=True)
    includes = [headers, ROOT / "include", *(p for p in (ROOT / "include").iterdir() if p.is_dir()),
                sysconfig.get_paths()["include"], numpy.get_include()]  # fmt: skip
    lib, folders = folder / "lib", [folder / "lib", ROOT / "lib"]
    others = [p.name for p in (folder / "share").iterdir() if p.is_dir() and p.name != name]
    stock = {p.name.removeprefix("lib").partition("__")[0] for p in (ROOT / "lib").glob("lib*__rosidl_generator_c.so")}
    uses = [*(o for o in others if (lib / f"lib{o}__rosidl_generator_c.so").exists()), *sorted(stock)]

    def of(kind):
        return [f"{other}__{kind}" for other in uses]

    def sources(part, *patterns):
        return sorted(f for pattern in patterns for f in (made / part).rglob(pattern))

    base = ["rosidl_runtime_c", "rosidl_typesupport_c", "rcutils"]
    kinds = {
        "rosidl_generator_c": (sources("c", "*.c"), [*of("rosidl_generator_c"), *base]),
        "rosidl_typesupport_fastrtps_c": (
            sources("fastrtps_c", "*.cpp"),
            [f"{name}__rosidl_generator_c", *of("rosidl_typesupport_fastrtps_c"), *of("rosidl_generator_c"), *base,
             "rosidl_typesupport_fastrtps_c", "rosidl_typesupport_fastrtps_cpp", "fastcdr"],
        ),
        "rosidl_typesupport_introspection_c": (
            sources("introspection_c", "*.c"),
            [f"{name}__rosidl_generator_c", *of("rosidl_typesupport_introspection_c"), *of("rosidl_generator_c"), *base,
             "rosidl_typesupport_introspection_c"],
        ),
        "rosidl_typesupport_c": (
            sources("c", "*__type_support.cpp"),
            [f"{name}__rosidl_generator_c", f"{name}__rosidl_typesupport_fastrtps_c", *of("rosidl_typesupport_c"),
             *base],
        ),
        "rosidl_generator_py": (
            [f for f in sources("py", "*_s.c") if "_s.ep." not in f.name],
            [f"{name}__rosidl_generator_c", f"{name}__rosidl_typesupport_c", *of("rosidl_generator_py"),
             *of("rosidl_generator_c"), *base],
        ),
    }  # fmt: skip
    for kind, (found, libraries) in kinds.items():
        compile_all(lib / f"lib{name}__{kind}.so", found, includes, libraries, folders)
    python = folder / "python" / name
    python.parent.mkdir(exist_ok=True)
    subprocess.run(["cp", "-rT", made / "py", python], check=True)
    (python / "__init__.py").touch()
    entry = made / "py" / f"_{name}_s.ep.rosidl_typesupport_c.c"
    libraries = [f"{name}__rosidl_generator_py", f"{name}__rosidl_typesupport_c", f"{name}__rosidl_generator_c", *base]
    compile_all(python / f"{name}_s__rosidl_typesupport_c.so", [entry], includes, libraries, folders)
    hashes = {}
    for file in (made / "c").rglob("*.json"):
        for item in json.loads(file.read_text())["type_hashes"]:
            hashes[item["type_name"]] = item["hash_string"]
    return hashes


def main():
    """Build the packages of the command line, in their order."""
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["AMENT_PREFIX_PATH"] = str(ROOT)
    prepare()
    hashes = {}
    for package in sys.argv[2:]:
        hashes |= build(folder, Path(package).resolve())
    (folder / "hashes.json").write_text(json.dumps(hashes))


if __name__ == "__main__":
    main()
