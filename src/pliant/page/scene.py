"""The scene of a page: bodies of a MuJoCo model, floor, tendons, contact forces, and boxes for what has no shape.

Every body is a frame that carries its meshes, so that a picture costs one pose a body that moved. Paths in the scene
carry numbers only; names of a robot never become part of the page's structure.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from pliant.base.numerics import Array
from pliant.model.scene import (
    ARROW_RADIUS,
    ARROW_SHARE,
    CONTACT_COLOR,
    DEFAULT_RGBA,
    FORCE_COLOR,
    geom_colors,
    place_bodies,
    sky,
)
from pliant.page.shapes import Mesh, geom_mesh, inertia_box, textured

if TYPE_CHECKING:
    import viser

    from pliant.page.server import PageServer

PullHandler = Callable[[str, int, Array, Array], Awaitable[None]]
"""Called with "start", "update" or "end", the body, where it is held and where the pointer is [m, world]."""
SHOWN_GROUPS = 3
"""Geoms of groups 0 to 2 are seen; those above are shapes of collision."""
BODY_COLOURS = ((94, 129, 172), (163, 190, 140), (208, 135, 112), (180, 142, 173), (235, 203, 139), (136, 192, 208))
"""Colours of bodies without shapes, in turn."""
FLOOR_RGB = (232, 236, 238)
PLAIN_FLOOR = 2.0
"""Half the width of a floor without a grid, over the size of the robot."""
GHOST_COLOUR = (224, 122, 30)
GHOST_OPACITY = 0.45
AXIS_COLOUR = (0, 121, 140)
TENDON_COLOUR = (190, 70, 60)
THINNEST_TENDON, THICKEST_TENDON = 0.002, 0.006
"""Least and most thickness of a drawn tendon, over the size of the robot."""
MIN_MOVE = 1e-6
"""Smallest change of a position [m] or of an element of a rotation that is sent."""
WAYS = np.array([[1.0, -0.85, 0.5], [0.1, -1.3, 0.5], [-0.85, -1.0, 0.5], [-1.0, 0.85, 0.5], [0.85, 1.0, 0.5]])
"""Directions from the robot to the first place of the camera; the first one is usual."""
HEAD_SHARE = 0.03
"""Length of the head of an arrow, and least length of an arrow, over the size of the robot."""
MAX_HALF = 0.6
"""Largest half side of a shape that counts for the first view [m]: a floor may be made of a box."""


@dataclass(slots=True)
class Layers:
    """Layers drawn beside the bodies."""

    collision: bool = False
    """Shapes of collision of bodies that have other shapes as well."""
    inertia: bool = False
    """Boxes of the inertia of every body."""
    joints: bool = False
    """Axes of hinges and slides."""
    frames: bool = False
    """Axes of the frames of all bodies: x red, y green, z blue."""
    contacts: bool = False
    """Arrows of contact forces."""
    forces: bool = True
    """Arrows of forces from outside, such as those of the pointer and of scenarios."""
    tendons: bool = True
    """Tendons as lines."""
    shadows: bool = True
    """Shadows, which are slow without a graphics card."""


class Scene:
    """Draws a model on a page.

    Args:
        server: the page's server.
        model: the model; it is read, never written.
        pull: called while somebody drags a body; None: bodies cannot be dragged.
        bounds: corners of a box around what is seen, where more is drawn than the model; None: around the robot.
        plain_floor: draw the floor as a plate without a grid, which is fast without a graphics card.
        pose: joint positions of the first picture, shape (nq,); None: the first key frame, or the model's own.
        ghost: draw transparent bodies alone, beside those of the page's own scene.
    """

    def __init__(
        self,
        server: PageServer,
        model: mujoco.MjModel,
        pull: PullHandler | None = None,
        *,
        bounds: tuple[Array, Array] | None = None,
        plain_floor: bool = False,
        pose: Array | None = None,
        ghost: bool = False,
    ) -> None:
        self._server, self._model, self._pull, self._plain_floor = server, model, pull, plain_floor
        self._ghost, self._root = ghost, "/ghost" if ghost else ""
        self.layers = Layers()
        self.bodies: dict[int, viser.FrameHandle] = {}
        """Body -> its frame."""
        self._nodes: dict[str, list[viser.GlbHandle | viser.ArrowsHandle]] = {
            name: [] for name in ("seen", "collision", "inertia", "joints")
        }
        self._poses: dict[int, tuple[Array, Array]] = {}
        self._contacts: viser.ArrowsHandle | None = None
        self._forces: viser.ArrowsHandle | None = None
        self._tendons: viser.LineSegmentsHandle | None = None
        self._looks = self._appearance()
        data = mujoco.MjData(model)
        if model.nkey:
            mujoco.mj_resetDataKeyframe(model, data, 0)
        if pose is not None:
            data.qpos[:] = pose
        place_bodies(model, data)
        self.bare = [b for b in range(1, model.nbody) if not self._geoms(b, seen=True)]
        """Bodies without a shape that is meant to be seen."""
        self.naked = all(not self._geoms(b, seen=True) for b in range(1, model.nbody))
        """Whether no body at all has one: then boxes stand for the bodies, and joint axes are shown."""
        self.layers.joints = self.naked
        self.low, self.high = self._bounds(data) if bounds is None else bounds
        self.size = float(max(np.linalg.norm(self.high - self.low), 1e-3))
        """Diagonal of what is seen [m]."""
        self._way = self._first_way(data)
        self._spared = False
        if not ghost:
            self._light()
        for body in range(model.nbody):
            if not ghost or model.body_weldid[body] != 0:
                self._add_body(body)
        if not ghost:
            self._floor(data)
        self.update(data, None)

    def close(self) -> None:
        """Take everything away."""
        self._server.scene.reset()
        self._server.scene.set_up_direction("+z")

    # -- what is there ------------------------------------------------------------------------------------------

    def _appearance(self) -> tuple[Array, ...]:
        m = self._model
        return tuple(np.array(a) for a in (m.geom_rgba, m.geom_size, m.geom_type, m.geom_dataid, m.geom_pos))

    def _geoms(self, body: int, *, seen: bool) -> list[int]:
        m = self._model
        first = int(m.body_geomadr[body])
        mine = range(first, first + int(m.body_geomnum[body])) if first >= 0 else ()
        planes = int(mujoco.mjtGeom.mjGEOM_PLANE)
        opaque = geom_colors(m)[:, 3] > 0.01
        return [
            g
            for g in mine
            if (int(m.geom_group[g]) < SHOWN_GROUPS) == seen and int(m.geom_type[g]) != planes and opaque[g]
        ]

    def _bounds(self, data: mujoco.MjData) -> tuple[Array, Array]:
        """Return the corners of a box around the robot and its stand, without what is much larger than the rest."""
        m = self._model
        boxes: list[tuple[Array, Array]] = []
        bounded = np.flatnonzero(m.geom_rbound > 0.0)
        fixed = m.body_weldid[m.geom_bodyid[bounded]] == 0
        for g in bounded[~fixed] if not fixed.all() else bounded:
            boxes.append(self._box(data, int(g)))
        for b in range(1, m.nbody):
            box = inertia_box(m, b) if b in self.bare and self.naked else None
            half = 0.02 if box is None else float(np.linalg.norm(box[0] - m.body_ipos[b], axis=1).max())
            boxes.append((data.xipos[b] if box is not None else data.xpos[b], np.full(3, half)))
        for f in range(m.nflex):
            first = int(m.flex_vertadr[f])
            boxes += [(data.flexvert_xpos[v], np.full(3, 0.01)) for v in range(first, first + int(m.flex_vertnum[f]))]
        if not boxes:
            return np.full(3, -0.5), np.full(3, 0.5)
        low, high = _corners(boxes)
        size = float(np.linalg.norm(high - low))
        stands = [self._box(data, g) for g in bounded[fixed]]
        near = [
            box for box in stands if box[1].max() < size and (np.abs(box[0] - 0.5 * (low + high)) < 1.5 * size).all()
        ]
        return _corners([*boxes, *near])

    def _box(self, data: mujoco.MjData, geom: int) -> tuple[Array, Array]:
        """Return middle and half of the sides of a box around a geom, along the axes of the world [m]."""
        turn, box = data.geom_xmat[geom].reshape(3, 3), self._model.geom_aabb[geom]
        return data.geom_xpos[geom] + turn @ box[:3], np.minimum(np.abs(turn) @ box[3:], MAX_HALF)

    def _first_way(self, data: mujoco.MjData) -> Array:
        """Return the direction from the robot to the camera in which the least of the robot is hidden.

        What hides it is looked for by rays to its shapes and beside them: stands, which are part of the world, and
        objects that nothing holds. Where several directions are equal, such objects are behind the robot.
        """
        m = self._model
        kind = int(mujoco.mjtJoint.mjJNT_FREE)
        joints = np.bincount(m.body_rootid, weights=m.body_jntnum, minlength=m.nbody)
        free = [int(m.jnt_bodyid[j]) for j in range(m.njnt) if int(m.jnt_type[j]) == kind]
        loose = np.isin(m.body_rootid, [b for b in free if m.body_rootid[b] == b and joints[b] == 1])
        other = loose | (m.body_weldid == 0)
        robot = [g for g in range(m.ngeom) if not other[m.geom_bodyid[g]] and int(m.geom_group[g]) < SHOWN_GROUPS]
        robot = robot[:: max(1, len(robot) // 30)]
        if not robot or not other[m.geom_bodyid].any():
            return WAYS[0]
        centres = data.geom_xpos[robot]
        away = data.xpos[loose].mean(axis=0) - centres.mean(axis=0) if loose.any() else np.zeros(3)
        groups = np.array([k < SHOWN_GROUPS for k in range(6)], dtype=np.uint8)
        hit = np.zeros(1, dtype=np.int32)

        def cost(k: int) -> float:
            way = WAYS[k] / np.linalg.norm(WAYS[k])
            camera = 0.5 * (self.low + self.high) + 2.1 * self.size * way
            beside = 0.08 * self.size * np.cross([0.0, 0.0, 1.0], way) / np.hypot(way[0], way[1])
            hidden = 0
            points = np.concatenate([centres, centres + beside, centres - beside])
            for ray in points - camera:
                far = float(np.linalg.norm(ray))
                met = mujoco.mj_ray(m, data, camera, ray / far, groups, True, -1, hit)
                hidden += bool(0.0 <= met < far and other[m.geom_bodyid[hit[0]]])
            return hidden / len(points) + 0.1 * float(away @ way) / self.size + 0.005 * k

        return WAYS[min(range(len(WAYS)), key=cost)]

    def camera(self) -> tuple[Array, Array]:
        """Return where the camera stands and where it looks at first [m, world]."""
        middle = 0.5 * (self.low + self.high)
        sides = self.high - self.low
        flat = sides[2] < 0.15 * max(float(sides[0]), float(sides[1]))
        way = np.array([0.05, -0.35, 1.0]) if flat else self._way
        return middle + 2.1 * self.size * way / np.linalg.norm(way), middle

    def _light(self) -> None:
        scene = self._server.scene
        # A picture of the surroundings would hide the scene until it has loaded, and is slow without a graphics card.
        scene.configure_environment_map(None)
        scene.configure_default_lights(enabled=False)
        scene.set_background_image(sky(128, 8), format="png")
        far = 3.0 * self.size
        scene.add_light_hemisphere("/light/sky", sky_color=(240, 247, 255), ground_color=(168, 160, 150), intensity=1.7)
        self._sun = scene.add_light_directional(
            "/light/sun", color=(255, 250, 240), intensity=2.2, cast_shadow=True, position=(0.5 * far, -0.3 * far, far)
        )

    def _floor(self, data: mujoco.MjData) -> None:
        m = self._model
        planes = [g for g in range(m.ngeom) if int(m.geom_type[g]) == int(mujoco.mjtGeom.mjGEOM_PLANE)]
        cell = 10.0 ** np.floor(np.log10(max(self.size, 1e-3)))
        cell = float(cell / 5.0 if self.size / cell < 3.0 else cell / 2.0)
        places = [(data.geom_xpos[g], data.geom_xmat[g]) for g in planes[:4]]
        if not places:
            down = min(float(self.low[2]), 0.0) if self.low[2] > -0.05 * self.size else float(self.low[2])
            places = [(np.array([0.0, 0.0, down]), np.eye(3).ravel())]
        for k, (position, turn) in enumerate(places):
            quaternion = np.zeros(4)
            mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(turn))
            if self._plain_floor:
                half = PLAIN_FLOOR * self.size
                corners = np.array([[-half, -half, 0.0], [half, -half, 0.0], [half, half, 0.0], [-half, half, 0.0]])
                self._server.scene.add_mesh_simple(
                    f"/floor/{k}", corners, np.array([[0, 1, 2], [0, 2, 3]]), color=FLOOR_RGB, flat_shading=True,
                    cast_shadow=False, position=position, wxyz=quaternion,
                )  # fmt: skip
                continue
            self._server.scene.add_grid(
                f"/floor/{k}", width=40.0 * self.size, height=40.0 * self.size, infinite_grid=True, cell_size=cell,
                section_size=5.0 * cell, cell_thickness=0.5, section_thickness=0.9, cell_color=(190, 199, 205),
                section_color=(160, 171, 179), fade_distance=7.0 * self.size, shadow_opacity=0.35,
                plane_color=FLOOR_RGB, plane_opacity=0.8,
                position=position, wxyz=quaternion,
            )  # fmt: skip

    def _add_body(self, body: int) -> None:
        path = f"{self._root}/body/{body}"
        self.bodies[body] = self._server.scene.add_frame(
            path, show_axes=self.layers.frames and body != 0, axes_length=0.08 * self.size,
            axes_radius=0.003 * self.size, origin_radius=0.005 * self.size,
        )  # fmt: skip
        seen, hidden = self._geoms(body, seen=True), self._geoms(body, seen=False)
        self._add_geoms(body, seen, "seen", 1.0)
        # A body without any other shape shows its shapes of collision.
        stands_in = not seen and bool(hidden) and body != 0
        self._add_geoms(body, hidden, "seen" if stands_in else "collision", 1.0 if stands_in else 0.35)
        if body != 0:
            box = inertia_box(self._model, body)
            if box is not None:
                empty = self.naked and not hidden
                self._add_mesh(
                    body, "box", box, BODY_COLOURS[body % len(BODY_COLOURS)], 1.0 if empty else 0.5,
                    "seen" if empty else "inertia",
                )  # fmt: skip
            self._add_axes(body)

    def _add_geoms(self, body: int, geoms: list[int], layer: str, opacity: float) -> None:
        colours = geom_colors(self._model)
        parts: dict[tuple[float, ...], list[Mesh]] = {}
        for g in geoms:
            picture = None if self._ghost else textured(self._model, g)
            if picture is not None:
                node = self._server.scene.add_mesh_trimesh(f"{self._root}/body/{body}/picture{g}", picture)
                self._keep(node, body, layer)
                continue
            mesh = geom_mesh(self._model, g, fine=len(geoms) < 40 and self._model.ngeom < 200)
            if mesh is not None and len(mesh[1]):
                parts.setdefault(tuple(colours[g].tolist()), []).append(mesh)
        for k, (rgba, meshes) in enumerate(parts.items()):
            counts = np.cumsum([0, *(len(v) for v, _ in meshes)])
            vertices = np.concatenate([v for v, _ in meshes])
            faces = np.concatenate([f + start for (_, f), start in zip(meshes, counts)])
            colour = tuple(round(255 * min(max(c, 0.0), 1.0)) for c in rgba[:3])
            if rgba == DEFAULT_RGBA and body != 0:  # nobody chose a colour
                colour = BODY_COLOURS[body % len(BODY_COLOURS)]
            self._add_mesh(body, f"{layer}{k}", (vertices, faces), colour, opacity * rgba[3], layer)

    def _add_mesh(self, body: int, name: str, mesh: Mesh, colour: tuple[int, ...], opacity: float, layer: str) -> None:
        if self._ghost:
            colour, opacity = GHOST_COLOUR, GHOST_OPACITY * opacity
        node = self._server.scene.add_glb(
            f"{self._root}/body/{body}/{name}", _glb(mesh, colour, opacity), cast_shadow=opacity > 0.999,
            receive_shadow=False, visible=layer == "seen" or getattr(self.layers, layer),
        )  # fmt: skip
        self._keep(node, body, layer)

    def _keep(self, node: viser.GlbHandle, body: int, layer: str) -> None:
        self._nodes[layer].append(node)
        if self._pull is None or body == 0 or self._model.body_weldid[body] == 0:
            return
        pull = self._pull

        async def dragged(event: viser.SceneNodeDragEvent) -> None:
            await pull(event.phase, body, np.array(event.start_position), np.array(event.end_position))

        node.on_drag("left")(dragged)

    def _add_axes(self, body: int) -> None:
        m = self._model
        first = int(m.body_jntadr[body])
        kinds = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
        for j in range(first, first + int(m.body_jntnum[body])):
            if int(m.jnt_type[j]) not in kinds:
                continue
            half = 0.12 * self.size * m.jnt_axis[j]
            points = np.array([[m.jnt_pos[j] - half, m.jnt_pos[j] + half]])
            node = self._server.scene.add_arrows(
                f"{self._root}/body/{body}/axis{j}", points, AXIS_COLOUR, shaft_radius=0.004 * self.size,
                head_radius=0.01 * self.size, head_length=0.03 * self.size, visible=self.layers.joints,
            )  # fmt: skip
            self._nodes["joints"].append(node)

    # -- what changes -------------------------------------------------------------------------------------------

    def show(self, layer: str, on: bool) -> None:
        """Show or hide a layer."""
        setattr(self.layers, layer, on)
        if layer == "shadows":
            self._sun.cast_shadow = on
        for node in self._nodes.get(layer, ()):
            node.visible = on
        if layer == "frames":
            for body, frame in self.bodies.items():
                frame.show_axes = on and body != 0
        for name, arrows in (("contacts", self._contacts), ("forces", self._forces)):
            if layer == name and not on and arrows is not None:
                arrows.visible = False
        if layer == "tendons" and self._tendons is not None:
            self._tendons.visible = on

    def empty(self, layer: str) -> bool:
        """Whether a model has nothing that a layer could show."""
        return not self._model.ntendon if layer == "tendons" else layer in self._nodes and not self._nodes[layer]

    def spare(self) -> bool:
        """Switch the shadows off, once, where a browser draws without a graphics card; return whether it was done.

        They halve the pictures a second of such a browser (benchmarks/page.py).
        """
        if self._spared or not self._server.in_software:
            return False
        self._spared = True
        self.show("shadows", False)
        return True

    def refresh(self) -> None:
        """Draw anew what has changed its shape or its colour, such as an object that was made while it runs."""
        if not self._model.ngeom:
            return
        fresh = self._appearance()
        changed = np.zeros(self._model.ngeom, dtype=bool)
        for old, new in zip(self._looks, fresh):
            changed |= (old != new).any(axis=tuple(range(1, old.ndim)))
        if not changed.any():
            return
        self._looks = fresh
        for body in {int(b) for b in self._model.geom_bodyid[changed]}:
            self._server.scene.remove_by_name(f"{self._root}/body/{body}")
            for nodes in self._nodes.values():
                nodes[:] = [node for node in nodes if not node.name.startswith(f"{self._root}/body/{body}/")]
            self._poses.pop(body, None)
            self._add_body(body)

    def update(self, data: mujoco.MjData, contacts: Array | None) -> None:
        """Draw a state whose kinematics are known.

        Args:
            data: positions of bodies, tendons.
            contacts: point and force of each contact, shape (n, 6) [m, N, world]; None where they are not shown.
        """
        positions, turns = data.xpos, data.xquat
        with self._server.viser.atomic():
            for body, frame in self.bodies.items():
                p, q = positions[body], turns[body]
                old = self._poses.get(body)
                if old is not None and np.abs(p - old[0]).max() < MIN_MOVE and np.abs(q - old[1]).max() < MIN_MOVE:
                    continue
                self._poses[body] = (p.copy(), q.copy())
                frame.position = tuple(p.tolist())
                frame.wxyz = tuple(q.tolist())
            if self._model.ntendon and self.layers.tendons:
                self._draw_tendons(data)
            if contacts is not None and self.layers.contacts:
                points, forces = contacts[:, :3], contacts[:, 3:]
                self._contacts = self._draw_arrows("contacts", self._contacts, CONTACT_COLOR, points, forces)

    def _draw_tendons(self, data: mujoco.MjData) -> None:
        parts = []
        points = data.wrap_xpos.reshape(-1, 3)
        for t in range(self._model.ntendon):
            first, number = int(data.ten_wrapadr[t]), int(data.ten_wrapnum[t])
            line = points[first : first + number]
            if number >= 2:
                parts.append(np.stack([line[:-1], line[1:]], axis=1))
        if not parts:
            return
        segments = np.concatenate(parts).astype(np.float32)
        if self._tendons is None:
            width = 2.0 * float(self._model.tendon_width[data.ten_wrapnum >= 2].max())
            thickness = min(max(width, THINNEST_TENDON * self.size), THICKEST_TENDON * self.size)
            self._tendons = self._server.scene.add_line_segments(
                f"{self._root}/tendons", segments, np.array(TENDON_COLOUR), thickness=thickness
            )
        else:
            if len(segments) != len(self._tendons.points):
                self._tendons.colors = np.broadcast_to(np.array(TENDON_COLOUR, dtype=np.uint8), segments.shape)
            self._tendons.points = segments

    def draw_forces(self, wrenches: Array, data: mujoco.MjData) -> None:
        """Draw the forces that act from outside at the centres of mass of the bodies.

        Args:
            wrenches: force and torque of each body, shape (nbody, 6) [N, N m, world].
            data: positions of the bodies.
        """
        if self.layers.forces:
            self._forces = self._draw_arrows("forces", self._forces, FORCE_COLOR, data.xipos, wrenches[:, :3])

    def _draw_arrows(
        self, name: str, node: viser.ArrowsHandle | None, colour: tuple[float, ...], points: Array, forces: Array
    ) -> viser.ArrowsHandle | None:
        """Draw forces as arrows, the largest of them `ARROW_SHARE` of the robot long; return their node.

        No arrow is shorter than its head, which would begin behind the point: in the ground.
        """
        sizes = np.linalg.norm(forces, axis=1)
        some = sizes > 1e-6
        if not some.any():
            if node is not None:
                node.visible = False
            return node
        length = ARROW_SHARE * self.size / sizes.max()
        head = HEAD_SHARE * self.size
        scales = np.maximum(length, head / sizes[some])[:, None]
        arrows = np.stack([points[some], points[some] + scales * forces[some]], axis=1).astype(np.float32)
        if node is None:
            return self._server.scene.add_arrows(
                f"/{name}", arrows, tuple(round(255 * part) for part in colour[:3]),  # type: ignore[arg-type]
                shaft_radius=ARROW_RADIUS * self.size, head_radius=2.0 * ARROW_RADIUS * self.size,
                head_length=head,
            )  # fmt: skip
        node.points = arrows  # one colour for all: a browser refuses colours that do not fit the number of arrows
        node.visible = True
        return node


def _corners(boxes: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return the corners of a box around boxes, each with its middle and half of its sides."""
    middles, halves = (np.array(parts) for parts in zip(*boxes))
    return (middles - halves).min(axis=0), (middles + halves).max(axis=0)


def _glb(mesh: Mesh, colour: tuple[int, ...], opacity: float) -> bytes:
    """Return a mesh of one colour with the normals of its vertices, so that its sharp edges stay sharp."""
    import trimesh
    from trimesh.visual import TextureVisuals
    from trimesh.visual.material import PBRMaterial

    clear = opacity < 0.999
    material = PBRMaterial(
        baseColorFactor=[*colour, round(255 * opacity)], metallicFactor=0.0, roughnessFactor=0.55,
        alphaMode="BLEND" if clear else "OPAQUE", doubleSided=not clear,
    )  # fmt: skip
    drawn = trimesh.Trimesh(mesh[0], mesh[1], process=False, visual=TextureVisuals(material=material))
    found = drawn.export(file_type="glb", include_normals=True)
    return bytes(found)  # type: ignore[arg-type]
