"""The document that a browser loads first: viser's own, with the robot's name in its tab and a line while it loads."""

from __future__ import annotations

import html
import json
from functools import lru_cache
from pathlib import Path

from pliant.page.uploads import MAX_DROPPED_BYTES

READY = '<span class="pliant-ready" hidden></span>'
"""A mark in a panel: once it is there, the line about the loading goes."""
# Gray text of the original has a contrast of 3.3 to white, less than the 4.5 that small text needs.
STYLE = """<style>
:root { --mantine-color-gray-6: #5c6670 !important; }
:root[data-mantine-color-scheme="dark"] { --mantine-color-dimmed: #b8bec4 !important;
  --mantine-color-dark-2: #b8bec4 !important; }
.pliant-phone, #pliant-drop { display: none; }
@media (max-width: 600px) {
  [data-dock-root="true"] > div:first-child { bottom: 52% !important; }
  .mantine-Paper-root[style*="position: fixed"] { width: 100% !important; max-height: 52% !important; }
  .mantine-Paper-root[style*="position: fixed"] .mantine-ScrollArea-content > div { width: 100% !important; }
  .pliant-phone { display: block; }
}
#pliant-loading { display: none; }
@supports selector(:has(a)) {
  #pliant-loading { display: flex; position: fixed; inset: 0; z-index: 1000; align-items: center;
    justify-content: center; background: #fff; color: #26323a; font: 1.1rem system-ui, sans-serif; }
  #pliant-drop { position: fixed; inset: 1rem; z-index: 900; align-items: center; justify-content: center;
    border: 3px dashed #00788c; border-radius: 0.6rem; background: #fffc; color: #26323a; font: 1.1rem system-ui; }
  #root:has(.pliant-ready) + #pliant-loading { display: none; }
}
</style>"""
SCRIPT = """<script>
(() => {
  let due = false;
  const give = () => {
    due = false;
    for (const e of document.querySelectorAll('[role=slider], input:not([type=hidden])')) {
      if (e.getAttribute("aria-label") || (e.labels && e.labels.length)) continue;
      for (let p = e.parentElement, k = 0; p && k < 9; p = p.parentElement, k++) {
        const label = p.querySelector("label");
        if (label) { e.setAttribute("aria-label", label.textContent); break; }
      }
    }
    for (const e of document.querySelectorAll("button.mantine-ActionIcon-root:not([aria-label])"))
      if (!e.innerText && !e.title) e.setAttribute("aria-label", "view settings");
  };
  new MutationObserver(() => { if (!due) { due = true; setTimeout(give, 200); } })
    .observe(document.documentElement, {childList: true, subtree: true});
})();
</script>"""
"""Gives the label of its row to each control that has none of its own, for readers of the screen."""
DROP_SCRIPT = """<script>
(() => {
  const LINE = DROP_LINE, NONE = DROP_NONE, MOST = DROP_MOST;
  const files = e => e.dataTransfer && [...e.dataTransfer.types].includes("Files");
  const note = (text, ms) => {
    const line = document.getElementById("pliant-drop");
    if (!line) return;
    line.textContent = text;
    line.style.display = text ? "flex" : "none";
    if (ms) setTimeout(() => { if (line.textContent === text) line.style.display = "none"; }, ms);
  };
  const found = async (entry, path, all) => {
    if (entry.isFile) all.push([path + entry.name, await new Promise((ok, no) => entry.file(ok, no))]);
    else for (const reader = entry.createReader(); all.length <= 2000;) {
      const some = await new Promise((ok, no) => reader.readEntries(ok, no));
      if (!some.length) break;
      for (const one of some) if (!one.name.startsWith(".")) await found(one, path + entry.name + "/", all);
    }
    return all;
  };
  const table = Array.from({length: 256}, (_, n) => {
    for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
    return n;
  });
  const zip = async all => {
    const parts = [], index = [];
    let at = 0, size = 0;
    for (const [path, file] of all) {
      const data = new Uint8Array(await file.arrayBuffer()), name = new TextEncoder().encode(path);
      let crc = -1;
      for (let k = 0; k < data.length; k++) crc = table[(crc ^ data[k]) & 255] ^ (crc >>> 8);
      const common = [20, 0x800, 0, 0, 33, [~crc], [data.length], [data.length], name.length, 0];
      const head = fields([[0x04034b50], ...common]);
      const entry = fields([[0x02014b50], 20, ...common, 0, 0, 0, [0], [at]]);
      parts.push(head, name, data);
      index.push(entry, name);
      at += head.length + name.length + data.length;
      size += entry.length + name.length;
    }
    return [...parts, ...index, fields([[0x06054b50], 0, 0, all.length, all.length, [size], [at], 0])];
  };
  const fields = values => new Uint8Array(values.flatMap(value => {
    const number = typeof value === "number" ? value : value[0], count = typeof value === "number" ? 2 : 4;
    return Array.from({length: count}, (_, k) => (number >>> (8 * k)) & 255);
  }));
  const give = async (input, all) => {
    let file = all[0][1];
    if (all.length > 1 || all[0][0].includes("/")) {
      const size = all.reduce((sum, one) => sum + one[1].size, 0);
      if (size > MOST) return note(`The files have ${size} bytes; must be at most ${MOST}`, 6000);
      file = new File(await zip(all), all[0][0].split("/")[0].replace(/[.].*/, "") + ".zip");
    }
    const one = new DataTransfer();
    one.items.add(file);
    input.files = one.files;
    input.dispatchEvent(new Event("change", {bubbles: true}));
  };
  addEventListener("dragover", e => { if (files(e)) { e.preventDefault(); note(LINE); } });
  addEventListener("dragleave", e => { if (!e.relatedTarget) note(""); });
  addEventListener("drop", async e => {
    if (!files(e)) return;
    e.preventDefault();
    note("");
    const input = document.querySelector("input[type=file]"), all = [];
    const given = [...e.dataTransfer.items].map(i => i.webkitGetAsEntry && i.webkitGetAsEntry());
    const plain = [...e.dataTransfer.files];
    if (!input) return note(NONE, 6000);
    if (given.length && given.every(Boolean)) for (const entry of given) await found(entry, "", all);
    else for (const file of plain) all.push([file.name, file]);
    if (all.length) await give(input, all);
  });
})();
</script>"""
"""Gives what is dropped on the page to its button for files: a file as it is, several or a folder as a zip archive."""
DROP_LINE = "Drop to open: a robot, alone or with its meshes, a recording, or a table of poses"
DROP_NONE = "This page shows one run. `pliant view FILE` opens a robot, `pliant replay FILE --view` a recording."
ENTER_SCRIPT = """<script>
(() => {
  const AFTER_MS = 150;
  let box = null, held = null, done = "", until = 0;
  const original = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (data, ...rest) {
    const message = data && data.type === "send" ? data.message : null;
    const number = message && message.type === "GuiUpdateMessage" && typeof message.updates.value === "number";
    if (number && box !== null) held = {worker: this, data};
    else if (!number || message.uuid !== done || performance.now() > until) original.call(this, data, ...rest);
  };
  const give = rest => {
    if (box === null) return;
    const value = box.value.trim() === "" ? NaN : Number(box.value);
    box = null;
    if (held !== null && Number.isFinite(value)) {
      const message = held.data.message;
      original.call(held.worker, {...held.data, message: {...message, updates: {value}}});
      done = message.uuid;
      until = rest ? performance.now() + AFTER_MS : 0;
    }
    held = null;
  };
  addEventListener("input", e => {
    if (e.target instanceof HTMLInputElement && e.target.matches(".mantine-NumberInput-input")) box = e.target;
  }, true);
  addEventListener("focusout", e => { if (e.target === box) give(true); }, true);
  addEventListener("keydown", e => {
    if (e.key === "Enter") give(true);
    else if (e.key === "ArrowUp" || e.key === "ArrowDown") give(false);
  }, true);
})();
</script>"""
"""Gives the number of a box when it is entered: with Enter, or when the box is left.

viser gives each keystroke: 1.57 would be 1, then 1.5. What it gives while a number is typed is held back, and so is
what it still gives, for an earlier keystroke or limited, shortly after.
"""
IN_SOFTWARE = "/drawn-in-software"
"""The path that a page asks for when its browser draws without a graphics card."""
SOFTWARE_SCRIPT = """<script>
(() => {
  const probe = document.createElement("canvas").getContext("webgl");
  const info = probe && probe.getExtension("WEBGL_debug_renderer_info");
  const renderer = info ? String(probe.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  if (probe) (probe.getExtension("WEBGL_lose_context") || {loseContext() {}}).loseContext();
  if (!/swiftshader|llvmpipe|softpipe|software|basic render/i.test(renderer)) return;
  const original = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, wishes) {
    const fast = /^webgl/.test(kind) ? {antialias: false} : kind === "2d" ? {willReadFrequently: true} : {};
    return original.call(this, kind, {...(wishes || {}), ...fast});
  };
  TELL
  if (new URLSearchParams(location.search).has("fixedDpr")) return;
  let mine = null, moving = true, count = 0, wait = 0, drew = [];
  const tick = setInterval(() => {
    const viser = window.__viserTestpoints, canvas = window.__viserMutable && window.__viserMutable.canvas;
    if (!viser || !viser.devSettings || !viser.rendererInfo || !canvas || !canvas.clientWidth) return;
    const chosen = viser.devSettings.get().fixedDpr, frame = viser.rendererInfo.render.frame;
    if (chosen !== null && chosen !== mine) { clearInterval(tick); return; }
    drew = [...drew, frame !== count].slice(-10);
    count = frame;
    const number = drew.filter(Boolean).length, last = drew.slice(-7);
    if (wait > 0) wait--;
    else if (moving ? last.length === 7 && last.filter(Boolean).length < 2 : number > 2) {
      moving = !moving; drew = []; wait = 3;
    }
    const full = Math.min(Math.max(devicePixelRatio, 1), 2);
    const part = Math.sqrt(PIXELS / (canvas.clientWidth * canvas.clientHeight));
    const ratio = moving ? Math.min(full, Math.max(0.25, Math.floor(20 * part) / 20)) : full;
    if (ratio !== chosen) viser.devSettings.set({fixedDpr: mine = ratio});
  }, 100);
})();
</script>"""
"""Makes drawing in software several times as fast (benchmarks/page.py).

There is no antialiasing, curves are drawn in memory, and a scene that moves is drawn with fewer pixels. It is sharp
again 0.7 s after the last change: viser draws only what changed, and once a second. Its developer settings, or the
address with ``?fixedDpr=1``, choose another number of pixels.
"""
MOVING_PIXELS = 250_000
"""Most pixels of a scene that moves, where the browser draws in software."""
TITLE = "<title>Viser</title>"
ROOT = '<div id="root"></div>'


NO_NOTICES = "<style>.mantine-Notification-root { display: none !important; }</style>"
"""Hides viser's notice about a missing graphics card, which lies over the scene."""


def document(title: str) -> bytes:
    """Return the HTML of the page.

    Args:
        title: name of the robot.
    """
    head, body = html.escape(_tab(title)), html.escape(_loading(title))
    drop = DROP_SCRIPT.replace("DROP_MOST", str(MAX_DROPPED_BYTES))
    for name, line in (("DROP_LINE", DROP_LINE), ("DROP_NONE", DROP_NONE)):
        drop = drop.replace(name, json.dumps(line))
    text = _original().replace(
        TITLE, f"<title>{head}</title>{STYLE}{_software(IN_SOFTWARE)}{SCRIPT}{ENTER_SCRIPT}{drop}", 1
    )
    loading = f'<div id="pliant-loading" role="status">{body}</div><div id="pliant-drop"></div>'
    text = text.replace(ROOT, f"{ROOT}{loading}", 1)
    return text.encode()


def player(title: str) -> str:
    """Return the HTML of a page that plays a recorded scene, without a server behind it.

    Args:
        title: name of what is played.
    """
    return _original().replace(TITLE, f"<title>{html.escape(title)}</title>{NO_NOTICES}{_software('')}", 1)


def _software(told: str) -> str:
    """Return the script for browsers that draw in software, which tells a path of the server."""
    script = SOFTWARE_SCRIPT.replace("PIXELS", str(MOVING_PIXELS))
    return script.replace("TELL", f'fetch("{told}");' if told else "")


def naming_script(title: str) -> str:
    """Return a script that gives a page that is open another name.

    Args:
        title: name of the robot.
    """
    return (
        f"document.title = {json.dumps(_tab(title))};"
        'const line = document.getElementById("pliant-loading");'
        f"if (line) line.textContent = {json.dumps(_loading(title))};"
    )


def _tab(title: str) -> str:
    return title if title == "pliant" else f"{title} - pliant"


def _loading(title: str) -> str:
    return "Loading ..." if title == "pliant" else f"Loading {title} ..."


@lru_cache(maxsize=1)
def _original() -> str:
    import viser

    return (Path(viser.__file__).parent / "client" / "build" / "index.html").read_text(encoding="utf-8")
