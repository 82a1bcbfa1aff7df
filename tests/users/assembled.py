"""Which programs have users who assemble sparse matrices, of elements, branches and neighbours?"""

import numpy as np
import scipy.sparse as ss
import scipy.sparse.linalg as ssl

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add


@program(array(8, low=0.5, high=2.0), truth="differences")
def membrane_of_triangles(stiffness):
    """Linear elements on a square whose one side is held, with a coefficient each."""
    n = 3
    corners = [(i, j) for i in range(n) for j in range(n)]
    K, f, e = ss.lil_matrix((n * n, n * n)), np.zeros(n * n), 0
    for i in range(n - 1):
        for j in range(n - 1):
            for triangle in ([(i, j), (i + 1, j), (i, j + 1)],
                             [(i + 1, j + 1), (i, j + 1), (i + 1, j)]):  # fmt: skip
                (x0, y0), (x1, y1), (x2, y2) = triangle
                B = np.array([[y1 - y2, y2 - y0, y0 - y1], [x2 - x1, x0 - x2, x1 - x0]])
                element = stiffness[e] * (B.T @ B) / 2.0
                at = [n * a + b for a, b in triangle]
                for a in range(3):
                    for b in range(3):
                        K[at[a], at[b]] += element[a, b]
                    f[at[a]] += 1.0 / 6.0
                e += 1
    free = [k for k, (i, _) in enumerate(corners) if i > 0]
    K, u = K.tocsr(), np.zeros(n * n)
    u[free] = ssl.spsolve(K[free][:, free], f[free])
    return f @ u


@program(array(5, low=0.5, high=2.0), truth="differences")
def bars_by_triplets(area):
    rows, cols, values = [], [], []
    for e, a in enumerate(area):
        for r, c, sign in ((e, e, 1.0), (e, e + 1, -1.0), (e + 1, e, -1.0), (e + 1, e + 1, 1.0)):
            rows.append(r)
            cols.append(c)
            values.append(sign * a * (e + 1.0))
    K = ss.coo_matrix((values, (rows, cols)), shape=(6, 6)).tocsr()[1:, 1:]
    return ssl.spsolve(K, np.linspace(1.0, 2.0, 5)).sum()


@program(array(3, low=0.5, high=1.5), array(3, low=-0.2, high=0.2), truth="differences")
def load_flow(admittance, load):
    """Voltages in a network of three nodes, the first of which is held."""
    lines = np.array([[0, 1], [1, 2], [0, 2]])
    y = admittance * (1.0 - 3.0j)
    ends = np.r_[lines[:, 0], lines[:, 1]], np.r_[lines[:, 1], lines[:, 0]]
    between = ss.coo_matrix((-np.r_[y, y], ends), shape=(3, 3)).tocsr()
    Y = between + ss.diags(-np.asarray(between @ np.ones(3)))
    power = np.r_[0.0, load[1:] + 0.5j * load[1:] ** 2]
    v = np.ones(3, complex)
    for _ in range(8):
        drawn = np.conj(power / v)
        held = (drawn - Y[:, [0]] @ v[:1])[1:]
        v[1:] = ssl.spsolve(Y[1:, 1:].tocsc(), held)
    return np.sum(np.abs(v) ** 2) + np.angle(v[2])


@program(scalar(0.5, 1.5), array(24, low=0.0, high=0.3), truth="differences")
def wave_packet(mass, barrier):
    """Crank and Nicolson's steps of Schroedinger's equation."""
    n, dt, x = 24, 0.05, np.linspace(-3.0, 3.0, 24)
    kinetic = ss.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(n, n)) * (-0.5 / mass)
    H = (kinetic + ss.diags(barrier)).tocsc()
    one = ss.identity(n, format="csc")
    lu = ssl.splu((one + 0.5j * dt * H).tocsc())
    psi = np.exp(-((x + 1.0) ** 2) + 2.0j * x)
    for _ in range(6):
        psi = lu.solve((one - 0.5j * dt * H) @ psi)
    return np.sum(np.abs(psi[n // 2 :]) ** 2) / np.sum(np.abs(psi) ** 2)


@program(array(2, low=0.5, high=2.0), array(16), truth="differences")
def plate_by_sums_of_products(diffusion, source):
    line = ss.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(4, 4))
    plate = ss.kronsum(diffusion[0] * line, diffusion[1] * line) + ss.diags(np.full(16, 0.1))
    return ssl.spsolve(plate.tocsc(), source) @ source


@program(array(6, low=0.2, high=2.0), truth="differences")
def ranks_of_pages(weight):
    links = ss.csr_matrix((weight, ([0, 1, 2, 3, 0, 2], [1, 2, 3, 0, 2, 1])), shape=(4, 4))
    steps = ss.diags(1.0 / (links @ np.ones(4))) @ links
    rank = np.full(4, 0.25)
    for _ in range(12):
        rank = 0.85 * (steps.T @ rank) + 0.15 / 4.0
    return rank @ np.arange(4.0)


@program(array(5, low=0.2, high=2.0), array(5), truth="differences")
def coupled_by_blocks(spring, push):
    """A saddle point: springs, and two distances that are held."""
    K = ss.diags([spring + 0.5, -0.3 * spring[1:], -0.3 * spring[1:]], [0, 1, -1])
    held = ss.csr_matrix((np.ones(4), ([0, 0, 1, 1], [0, 2, 1, 4])), shape=(2, 5))
    whole = ss.bmat([[K, held.T], [held, None]], format="csc")
    moved = ssl.spsolve(whole, np.r_[push, 0.1, -0.2])
    return np.sum(moved[:5] ** 2) + moved[5]
