"""The model library that clients of protocol versions 4 to 9 fetch from the robot and load: compiled on demand.

The client asks for its own architecture and gets a shared object with 30 C functions (mass, Coriolis and gravity
vectors, poses and Jacobians of nine frames). The source below is generated from the arm's parameters and built with
the machine's C compiler into the user's cache; nothing is shipped as a binary.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from pliant.base.codecache import private_folder
from pliant.base.errors import BridgeError, MissingDependency
from pliant.base.replacing import replacing
from pliant.franka.device.dynamics import link_table
from pliant.franka.device.parameters import D_FLANGE, DH, Arm

ARCHITECTURES = {"x86_64": 0, "amd64": 0, "i686": 1, "i386": 1, "armv7l": 2, "aarch64": 3, "arm64": 3}
"""`platform.machine()` -> the number that LoadModelLibrary asks for."""

_BODY = r"""
typedef double V[3];
typedef double M3[3][3];

static void cross(const double *a, const double *b, double *c) {
  double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
  c[0] = x; c[1] = y; c[2] = z;
}
static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static void turn(const M3 R, const double *a, double *b) {
  double t[3] = {dot(R[0], a), dot(R[1], a), dot(R[2], a)};
  b[0] = t[0]; b[1] = t[1]; b[2] = t[2];
}

/* rotations and origins of links 1 to 7, the flange (7), in the base */
static void frames(const double *q, M3 R[8], V p[8]) {
  M3 A = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  V o = {0, 0, 0};
  for (int i = 0; i < 8; ++i) {
    double ca = COS_ALPHA[i], sa = SIN_ALPHA[i];
    double c = i < 7 ? cos(q[i]) : 1.0, s = i < 7 ? sin(q[i]) : 0.0;
    for (int r = 0; r < 3; ++r) {
      double x = A[r][0], y = ca * A[r][1] + sa * A[r][2], z = ca * A[r][2] - sa * A[r][1];
      o[r] += LENGTH[i] * x + OFFSET[i] * z;
      A[r][0] = c * x + s * y;
      A[r][1] = c * y - s * x;
      A[r][2] = z;
    }
    memcpy(R[i], A, sizeof(M3));
    memcpy(p[i], o, sizeof(V));
  }
}

/* mass, first moment and tensor about the link's origin, the client's payload in the last link */
static void body(int i, const double *I, double m, const double *c, double *mass, double *h, double J[3][3]) {
  const double *t = LINK[i];
  *mass = t[0];
  h[0] = t[1]; h[1] = t[2]; h[2] = t[3];
  J[0][0] = t[4]; J[0][1] = J[1][0] = t[5]; J[0][2] = J[2][0] = t[6];
  J[1][1] = t[7]; J[1][2] = J[2][1] = t[8]; J[2][2] = t[9];
  if (i == 6 && m > 0.0) {
    double d[3] = {c[0], c[1], c[2] + FLANGE}, dd = dot(d, d);
    *mass += m;
    for (int r = 0; r < 3; ++r) {
      h[r] += m * d[r];
      for (int k = 0; k < 3; ++k) J[r][k] += I[3 * k + r] + m * ((r == k ? dd : 0.0) - d[r] * d[k]);
    }
  }
}

/* recursive Newton-Euler: base acceleration a0 (minus gravity), any of dq and ddq may be null */
static void inverse_dynamics(const double *q, const double *dq, const double *ddq, const double *a0,
                             const double *I, double m, const double *c, double *tau) {
  M3 R[8];
  V p[8], f[7], n[7], w = {0, 0, 0}, dw = {0, 0, 0}, a = {a0[0], a0[1], a0[2]}, at = {0, 0, 0};
  frames(q, R, p);
  for (int i = 0; i < 7; ++i) {
    V d, t, u, z = {R[i][0][2], R[i][1][2], R[i][2][2]};
    for (int r = 0; r < 3; ++r) d[r] = p[i][r] - at[r];
    cross(w, d, t); cross(w, t, t); cross(dw, d, u);
    for (int r = 0; r < 3; ++r) { a[r] += t[r] + u[r]; at[r] = p[i][r]; }
    double v = dq ? dq[i] : 0.0, b = ddq ? ddq[i] : 0.0;
    cross(w, z, t);
    for (int r = 0; r < 3; ++r) { dw[r] += b * z[r] + v * t[r]; w[r] += v * z[r]; }
    double mass, h[3], J[3][3], H[3], Jw[3], Jd[3], l[3];
    body(i, I, m, c, &mass, h, J);
    turn(R[i], h, H);
    /* angular parts in link axes */
    for (int r = 0; r < 3; ++r) l[r] = R[i][0][r] * w[0] + R[i][1][r] * w[1] + R[i][2][r] * w[2];
    for (int r = 0; r < 3; ++r) Jw[r] = dot(J[r], l);
    for (int r = 0; r < 3; ++r) l[r] = R[i][0][r] * dw[0] + R[i][1][r] * dw[1] + R[i][2][r] * dw[2];
    for (int r = 0; r < 3; ++r) Jd[r] = dot(J[r], l);
    turn(R[i], Jw, Jw); turn(R[i], Jd, Jd);
    cross(dw, H, t); cross(w, H, u); cross(w, u, u);
    for (int r = 0; r < 3; ++r) f[i][r] = mass * a[r] + t[r] + u[r];
    cross(w, Jw, t); cross(H, a, u);
    for (int r = 0; r < 3; ++r) n[i][r] = Jd[r] + t[r] + u[r];
  }
  V F = {0, 0, 0}, N = {0, 0, 0};
  for (int i = 6; i >= 0; --i) {
    V t, z = {R[i][0][2], R[i][1][2], R[i][2][2]};
    if (i < 6) {
      V d = {p[i + 1][0] - p[i][0], p[i + 1][1] - p[i][1], p[i + 1][2] - p[i][2]};
      cross(d, F, t);
      for (int r = 0; r < 3; ++r) N[r] += t[r];
    }
    for (int r = 0; r < 3; ++r) { F[r] += f[i][r]; N[r] += n[i][r]; }
    tau[i] = dot(z, N);
  }
}

void M_NE(const double *q, const double *I, double m, const double *c, double *M) {
  static const double none[3] = {0, 0, 0};
  for (int j = 0; j < 7; ++j) {
    double e[7] = {0};
    e[j] = 1.0;
    inverse_dynamics(q, 0, e, none, I, m, c, M + 7 * j);
  }
}
void c_NE(const double *q, const double *dq, const double *I, double m, const double *c, double *out) {
  static const double none[3] = {0, 0, 0};
  inverse_dynamics(q, dq, 0, none, I, m, c, out);
}
void g_NE(const double *q, const double *g, double m, const double *c, double *out) {
  static const double none[9] = {0};
  double up[3] = {-g[0], -g[1], -g[2]};
  inverse_dynamics(q, 0, 0, up, none, m, c, out);
}

/* frame 0 to 6: links, 7: flange, 8: end effector (column-major F_T_EE) */
static void place(const double *q, int n, const double *tool, M3 R[8], V p[8], M3 A, V o) {
  frames(q, R, p);
  int k = n < 7 ? n : 7;
  memcpy(A, R[k], sizeof(M3));
  memcpy(o, p[k], sizeof(V));
  if (n == 8) {
    for (int r = 0; r < 3; ++r) {
      o[r] = p[7][r] + dot(R[7][r], tool + 12);
      for (int c = 0; c < 3; ++c) A[r][c] = dot(R[7][r], tool + 4 * c);
    }
  }
}
static void transform(const double *q, int n, const double *tool, double *T) {
  M3 R[8], A;
  V p[8], o;
  place(q, n, tool, R, p, A, o);
  for (int c = 0; c < 3; ++c) {
    for (int r = 0; r < 3; ++r) T[4 * c + r] = A[r][c];
    T[4 * c + 3] = 0.0;
    T[12 + c] = o[c];
  }
  T[15] = 1.0;
}
static void jacobian(const double *q, int n, const double *tool, int in_body, double *J) {
  M3 R[8], A;
  V p[8], o;
  place(q, n, tool, R, p, A, o);
  memset(J, 0, 42 * sizeof(double));
  for (int i = 0; i < 7 && i <= n; ++i) {
    V z = {R[i][0][2], R[i][1][2], R[i][2][2]}, d = {o[0] - p[i][0], o[1] - p[i][1], o[2] - p[i][2]}, v;
    cross(z, d, v);
    for (int r = 0; r < 3; ++r) {
      J[6 * i + r] = in_body ? A[0][r] * v[0] + A[1][r] * v[1] + A[2][r] * v[2] : v[r];
      J[6 * i + 3 + r] = in_body ? A[0][r] * z[0] + A[1][r] * z[1] + A[2][r] * z[2] : z[r];
    }
  }
}
#define FRAME(N) \
  void O_T_J##N(const double *q, double *T) { transform(q, N - 1, 0, T); }
#define JACOBIAN(N) \
  void O_J_J##N(const double *q, double *J) { jacobian(q, N - 1, 0, 0, J); } \
  void Ji_J_J##N(const double *q, double *J) { jacobian(q, N - 1, 0, 1, J); }
FRAME(1) FRAME(2) FRAME(3) FRAME(4) FRAME(5) FRAME(6) FRAME(7) FRAME(8)
JACOBIAN(2) JACOBIAN(3) JACOBIAN(4) JACOBIAN(5) JACOBIAN(6) JACOBIAN(7) JACOBIAN(8)
void O_T_J9(const double *q, const double *tool, double *T) { transform(q, 8, tool, T); }
void O_J_J9(const double *q, const double *tool, double *J) { jacobian(q, 8, tool, 0, J); }
void Ji_J_J9(const double *q, const double *tool, double *J) { jacobian(q, 8, tool, 1, J); }
/* the first joint's Jacobians do not depend on q, and are asked for without it */
void O_J_J1(double *J) { static const double q[7] = {0}; jacobian(q, 0, 0, 0, J); }
void Ji_J_J1(double *J) { static const double q[7] = {0}; jacobian(q, 0, 0, 1, J); }
"""


def library_source(arm: Arm) -> str:
    """Return the C source of an arm's model library."""

    def row(values: object) -> str:
        return "{" + ", ".join(repr(float(v)) for v in np.asarray(values)) + "}"

    links = ",\n  ".join(row(r) for r in link_table(None, arm=arm))
    return (
        "#include <math.h>\n#include <string.h>\n"
        f"static const double LENGTH[8] = {row(DH[:, 0])};\n"
        f"static const double COS_ALPHA[8] = {row(np.round(np.cos(DH[:, 1])))};\n"
        f"static const double SIN_ALPHA[8] = {row(np.round(np.sin(DH[:, 1])))};\n"
        f"static const double OFFSET[8] = {row(DH[:, 2])};\n"
        f"static const double FLANGE = {D_FLANGE!r};\n"
        f"static const double LINK[7][10] = {{\n  {links}}};\n" + _BODY
    )


def build_library(architecture: int, system: int = 0, *, arm: Arm) -> bytes:
    """Return the shared object for a client, compiled on first use.

    Args:
        architecture: 0 x64, 1 x86, 2 ARM, 3 ARM64; must be this machine's.
        system: 0 Linux, 1 Windows; only Linux is built.
        arm: the arm whose model it computes.

    Raises:
        BridgeError: the client is not of this machine's kind, or the compiler failed.
        LawError: others can write to the cache.
        MissingDependency: there is no C compiler.
    """
    here = ARCHITECTURES.get(platform.machine().lower())
    if system != 0 or platform.system() != "Linux" or architecture != here:
        raise BridgeError(
            f"a model library for architecture {architecture}, system {system} was asked for; this machine builds "
            f"for {here} ({platform.machine()}), 0 (Linux) only",
            field="architecture",
        )
    source = library_source(arm)
    key = hashlib.sha256(f"{platform.machine()}\n{source}".encode()).hexdigest()[:24]
    path = private_folder("franka") / f"model-{arm.name}-{key}.so"
    if path.is_file():
        return path.read_bytes()
    compiler = next((c for c in (os.environ.get("CC"), "cc", "gcc", "clang") if c and shutil.which(c)), None)
    if compiler is None:
        raise MissingDependency(
            "a C compiler", command="apt-get install gcc", purpose="the model library of protocol versions 4 to 9"
        )
    with tempfile.TemporaryDirectory() as folder:
        text, built = Path(folder) / "model.c", Path(folder) / "model.so"
        text.write_text(source, encoding="utf-8")
        command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(built), str(text), "-lm"]
        try:
            result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        except (OSError, subprocess.TimeoutExpired) as fault:
            raise BridgeError(f"the C compiler {compiler} did not run: {fault}") from None
        if result.returncode != 0:
            raise BridgeError(f"the C compiler {compiler} failed: {result.stderr.strip()[-400:]}")
        data = built.read_bytes()
    with contextlib.suppress(OSError), replacing(path) as beside:
        beside.write_bytes(data)
    return data
