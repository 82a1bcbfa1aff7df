"""Which statistical and physical models does the catalogue have?"""

import math

import numpy as np

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add

INPUTS = np.sin(np.arange(15.0) * 1.7).reshape(5, 3)
LABELS = np.array([0, 1, 1, 0, 1])
CLASSES = [0, 2, 1, 1, 2]
SERIES = np.cos(np.arange(12.0) * 0.8) + 0.1 * np.arange(12.0)


# -- regression and classification ----------------------------------------------------------------


@program(array(3), tags="least-squares matmul global-array")
def ridge_regression(w):
    residual = INPUTS @ w - LABELS
    return 0.5 * np.sum(residual**2) + 0.1 * np.sum(w * w)


@program(array(3), scalar(-0.5, 0.5), tags="logistic vectorised")
def logistic_regression(w, b):
    z = INPUTS @ w + b
    return np.mean(np.log(1.0 + np.exp(-z)) + (1 - LABELS) * z)


@program(array(3), tags="logistic loop")
def logistic_regression_by_loop(w):
    loss = 0.0
    for i in range(INPUTS.shape[0]):
        z = 0.0
        for j in range(INPUTS.shape[1]):
            z += INPUTS[i, j] * w[j]
        if LABELS[i] == 1:
            loss += math.log(1.0 + math.exp(-z))
        else:
            loss += math.log(1.0 + math.exp(z))
    return loss


@program(array(3, 3), tags="softmax list-indexing loop")
def softmax_regression(w):
    logits = INPUTS @ w
    loss = 0.0
    for i, k in enumerate(CLASSES):
        m = np.max(logits[i])
        loss += m + np.log(np.sum(np.exp(logits[i] - m))) - logits[i, k]
    return loss / len(CLASSES)


@program(array(4, 3), array(4), array(4), tags="mlp batch")
def small_mlp(w, b, out):
    hidden = np.maximum(INPUTS @ w.T + b, 0.0)
    prediction = hidden @ out
    return np.mean((prediction - LABELS) ** 2)


@program(array(13), tags="mlp flat-parameters slices unpack")
def mlp_from_flat_vector(theta):
    w1 = theta[:6].reshape(2, 3)
    b1 = theta[6:8]
    w2 = theta[8:12].reshape(2, 2)
    bias = theta[12]
    h = np.tanh(INPUTS @ w1.T + b1)
    return np.sum((h @ w2 + bias) ** 2)


@program(array(3), tags="poisson exp")
def poisson_regression(w):
    rate = np.exp(INPUTS @ w)
    return np.sum(rate - LABELS * np.log(rate))


@program(array(3), tags="pseudo-huber sum")
def robust_regression(w):
    r = INPUTS @ w - LABELS
    return np.sum(0.25 * (np.sqrt(1 + (r / 0.5) ** 2) - 1))


@program(array(3), tags="quantile maximum")
def quantile_loss(w):
    r = LABELS - INPUTS @ w - 0.05
    return np.sum(np.maximum(0.3 * r, -0.7 * r))


@program(array(3), tags="svm hinge loop branch")
def svm_by_loop(w):
    loss = 0.05 * np.dot(w, w)
    for x, y in zip(INPUTS, LABELS):
        margin = (2 * y - 1) * np.dot(w, x)
        if margin < 1:
            loss += 1 - margin
    return loss


@program(array(2, 3), array(4, 3), tags="attention softmax")
def attention(q, k):
    scores = q @ k.T / math.sqrt(3)
    e = np.exp(scores - scores.max(axis=1)[:, None])
    weights = e / e.sum(axis=1)[:, None]
    return np.sum((weights @ k) ** 2)


@program(array(4, 3), tags="layernorm axis")
def layer_norm(x):
    mean = np.mean(x, axis=-1, keepdims=True)
    std = np.sqrt(np.mean((x - mean) ** 2, axis=-1, keepdims=True) + 1e-3)
    return np.sum(((x - mean) / std) ** 3 * x)


@program(array(4, 3), array(4, 4), array(4), tags="rnn loop matmul")
def recurrent_network(w_in, w_rec, out):
    h = np.zeros(4)
    loss = 0.0
    for t in range(len(INPUTS)):
        h = np.tanh(w_in @ INPUTS[t] + w_rec @ h)
        loss += (out @ h - LABELS[t]) ** 2
    return loss


# -- likelihoods ----------------------------------------------------------------------------------


@program(scalar(-0.5, 0.5), scalar(0.5, 1.5), tags="gaussian loop")
def gaussian_likelihood(mu, sigma):
    total = 0.0
    for x in SERIES:
        total += math.log(sigma) + 0.5 * ((x - mu) / sigma) ** 2
    return total


@program(array(2), array(2, low=-0.5, high=0.5), scalar(-0.5, 0.5), tags="mixture logsumexp loop")
def gaussian_mixture(means, log_sigmas, logit):
    p = 1 / (1 + np.exp(-logit))
    weights = [p, 1 - p]
    total = 0.0
    for x in SERIES:
        density = 0.0
        for k in range(2):
            z = (x - means[k]) / np.exp(log_sigmas[k])
            density += weights[k] * np.exp(-0.5 * z * z - log_sigmas[k])
        total -= np.log(density)
    return total


@program(scalar(0.1, 0.5), scalar(0.3, 0.8), tags="random-walk loop")
def random_walk_likelihood(drift, scale):
    total = 0.0
    previous = SERIES[0]
    for value in SERIES[1:]:
        z = (value - previous - drift) / scale
        total += 0.5 * z * z + math.log(scale)
        previous = value
    return total


@program(scalar(0.1, 0.4), scalar(0.2, 0.5), tags="kalman loop")
def kalman_filter(q, r):
    mean, variance = 0.0, 1.0
    loss = 0.0
    for y in SERIES:
        variance += q
        s = variance + r
        gain = variance / s
        error = y - mean
        loss += 0.5 * (error * error / s + math.log(s))
        mean += gain * error
        variance *= 1 - gain
    return loss


@program(array(2, 2), scalar(0.5, 1.0), tags="kalman matrices 2d")
def kalman_filter_matrices(noise, r):
    f = np.array([[1.0, 0.1], [0.0, 1.0]])
    h = np.array([1.0, 0.0])
    q = noise @ noise.T * 0.1 + 0.01 * np.eye(2)
    x = np.zeros(2)
    p = np.eye(2)
    loss = 0.0
    for y in SERIES[:6]:
        x = f @ x
        p = f @ p @ f.T + q
        s = h @ p @ h + r
        k = p @ h / s
        e = y - h @ x
        loss += e * e / s + np.log(s)
        x = x + k * e
        p = p - np.outer(k, h @ p)
    return loss


@program(array(3, 3), array(3, 3), tags="hmm forward scaling loops")
def hmm_forward(transition_logits, emission_logits):
    a = np.exp(transition_logits)
    b = np.exp(emission_logits)
    a = a / a.sum(axis=1)[:, None]
    b = b / b.sum(axis=1)[:, None]
    alpha = np.ones(3) / 3
    loglik = 0.0
    for symbol in CLASSES:
        new = np.zeros(3)
        for j in range(3):
            for i in range(3):
                new[j] += alpha[i] * a[i, j]
            new[j] *= b[j, symbol]
        scale = np.sum(new)
        loglik += np.log(scale)
        alpha = new / scale
    return loglik


@program(scalar(0.1, 0.3), scalar(0.1, 0.3), scalar(0.5, 0.6), tags="garch recursion")
def garch_likelihood(omega, alpha, beta):
    h = 0.5
    total = 0.0
    for t in range(1, len(SERIES)):
        h = omega + alpha * SERIES[t - 1] ** 2 + beta * h
        total += math.log(h) + SERIES[t] ** 2 / h
    return total / 2


@program(array(3, low=-0.3, high=0.3), tags="arma recursion buffer")
def arma_residuals(p):
    e = np.zeros(len(SERIES))
    for t in range(2, len(SERIES)):
        e[t] = SERIES[t] - p[0] * SERIES[t - 1] - p[1] * SERIES[t - 2] - p[2] * e[t - 1]
    return np.dot(e, e)


@program(scalar(0.3, 0.8), scalar(0.5, 1.0), tags="gaussian-process cholesky 2d")
def gaussian_process_likelihood(length, sigma):
    n = 4
    k = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            k[i, j] = sigma**2 * np.exp(-0.5 * ((i - j) / (3 * length)) ** 2)
            if i == j:
                k[i, j] += 0.1
    z = np.zeros(n)
    logdet = 0.0
    for j in range(n):
        for i in range(j, n):
            s = k[i, j]
            for m in range(j):
                s -= k[i, m] * k[j, m]
            k[i, j] = math.sqrt(s) if i == j else s / k[j, j]
        logdet += math.log(k[j, j])
        s = SERIES[j]
        for m in range(j):
            s -= k[j, m] * z[m]
        z[j] = s / k[j, j]
    return logdet + 0.5 * np.sum(z**2)


@program(scalar(1.5, 2.5), scalar(0.5, 1.5), tags="beta gamma-function")
def beta_likelihood(a, b):
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    total = 0.0
    for p in (0.2, 0.5, 0.7):
        total += (a - 1) * math.log(p) + (b - 1) * math.log1p(-p) - log_beta
    return total


@program(array(2, 2), tags="kmeans min loops")
def kmeans_cost(centres):
    cost = 0.0
    for point in INPUTS[:, :2]:
        best = 1e9
        for c in centres:
            d = np.sum((point - c) ** 2)
            best = min(best, d)
        cost += best
    return cost


@program(array(4), tags="bradley-terry list-of-tuples")
def bradley_terry(strength):
    games = [(0, 1), (1, 2), (0, 2), (3, 0), (2, 3), (3, 1)]
    loss = 0.0
    for winner, loser in games:
        loss += math.log(1.0 + math.exp(strength[loser] - strength[winner]))
    return loss


@program(array(3, 2), array(4, 2), tags="matrix-factorisation dict")
def matrix_factorisation(users, items):
    ratings = {(0, 1): 3.5, (1, 3): 2.0, (2, 0): 4.0, (0, 2): 1.0}
    loss = 0.0
    for (u, i), r in ratings.items():
        loss += (users[u] @ items[i] - r) ** 2
    return loss + 0.1 * (np.sum(users**2) + np.sum(items**2))


# -- physics --------------------------------------------------------------------------------------


@program(array(4, 3), tags="lennard-jones nested slices")
def lennard_jones(positions):
    energy = 0.0
    for i in range(4):
        for j in range(i + 1, 4):
            d = positions[i] - positions[j]
            r2 = np.sum(d * d) + 0.8
            inv = 1.0 / r2**3
            energy += 4.0 * (inv * inv - inv)
    return energy


@program(array(4, 4), tags="ising periodic modulo")
def ising_mean_field(m):
    energy = 0.0
    n = m.shape[0]
    for i in range(n):
        for j in range(n):
            s = np.tanh(m[i, j])
            energy -= s * (np.tanh(m[(i + 1) % n, j]) + np.tanh(m[i, (j + 1) % n]))
            energy -= 0.1 * s
    return energy


@program(array(5), scalar(0.5, 1.5), tags="spring-chain slices")
def spring_chain(x, k):
    ends = np.zeros(7)
    ends[1:-1] = x
    ends[-1] = 1.0
    stretch = ends[1:] - ends[:-1] - 0.2
    return 0.5 * k * np.sum(stretch**2) + 0.1 * np.sum(stretch**4)


@program(array(6), tags="xy-model negative-index")
def xy_ring(angles):
    energy = 0.0
    for i in range(len(angles)):
        energy -= math.cos(angles[i] - angles[i - 1]) + 0.3 * math.cos(
            2 * (angles[i] - angles[i - 2])
        )
    return energy


@program(scalar(0.5, 1.0), scalar(0.3, 0.6), tags="projectile while branch")
def projectile_with_drag(speed, angle):
    vx, vy = speed * math.cos(angle), speed * math.sin(angle)
    x = y = 0.0
    while True:
        drag = 0.1 * math.sqrt(vx * vx + vy * vy)
        nx, ny = x + 0.1 * vx, y + 0.1 * vy
        vx, vy = vx - 0.1 * drag * vx, vy - 0.1 * (1.0 + drag * vy)
        if ny < 0:
            t = y / (y - ny)
            return x + t * (nx - x)
        x, y = nx, ny


@program(scalar(0.6, 1.2), scalar(0.05, 0.2), tags="lens ray-tracing loop")
def ray_through_lenses(focal, height):
    slope = 0.0
    for distance in (0.3, 0.5, 0.2):
        slope -= height / focal
        height += distance * math.tan(slope)
    return height


@program(array(2, low=0.3, high=0.9), tags="robot-arm matmul rotation")
def robot_arm(joints):
    position = np.zeros(2)
    angle = 0.0
    for k in range(2):
        angle += joints[k]
        rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        position = position + rotation @ np.array([1.0, 0.1 * k])
    return np.sum((position - np.array([0.5, 1.2])) ** 2)


@program(array(3), array(3), array(2, low=0.01, high=0.1), tags="bundle-adjustment rodrigues")
def reprojection_error(rotation, point, distortion):
    theta2 = np.dot(rotation, rotation)
    theta = np.sqrt(theta2)
    c, s = np.cos(theta), np.sin(theta)
    k = rotation / theta
    cross = np.array([
        k[1] * point[2] - k[2] * point[1],
        k[2] * point[0] - k[0] * point[2],
        k[0] * point[1] - k[1] * point[0],
    ])  # fmt: skip
    p = point * c + cross * s + k * (np.dot(k, point) * (1 - c))
    u, v = p[0] / (p[2] + 5.0), p[1] / (p[2] + 5.0)
    r2 = u * u + v * v
    radial = 1 + distortion[0] * r2 + distortion[1] * r2 * r2
    return (u * radial - 0.1) ** 2 + (v * radial + 0.2) ** 2


@program(scalar(0.4, 0.6), scalar(0.2, 0.4), scalar(95.0, 105.0), tags="binomial-tree max")
def american_option(rate, sigma, spot):
    steps = 8
    dt = 1.0 / steps
    up = math.exp(sigma * math.sqrt(dt))
    growth = math.exp(0.1 * rate * dt)
    p = (growth - 1 / up) / (up - 1 / up)
    values = np.zeros(steps + 1)
    for j in range(steps + 1):
        values[j] = max(100.0 - spot * up ** (2 * j - steps), 0.0)
    for i in range(steps - 1, -1, -1):
        for j in range(i + 1):
            hold = (p * values[j + 1] + (1 - p) * values[j]) / growth
            values[j] = max(hold, 100.3 - spot * up ** (2 * j - i))
    return values[0]


@program(scalar(90.0, 110.0), scalar(0.1, 0.3), tags="monte-carlo fixed-draws exp")
def asian_option_on_given_draws(spot, sigma):
    draws = np.sin(np.arange(24.0) ** 2).reshape(4, 6)
    total = 0.0
    for path in draws:
        s = spot
        mean = 0.0
        for z in path:
            s *= math.exp(-0.5 * sigma**2 / 6 + sigma * math.sqrt(1 / 6) * z)
            mean += s / 6
        total += max(mean - 95.0, 0.0)
    return total / len(draws)


@program(array(4), tags="neural-ode euler closure")
def neural_ode(theta):
    def field(z):
        return np.tanh(theta[:2] * z + theta[2:]) - 0.1 * z

    z = np.array([0.5, -0.3])
    for _ in range(8):
        z = z + 0.1 * field(z)
    return z @ z


@program(array(5), array(5), tags="path-length geometry")
def curve_length(x, y):
    total = 0.0
    for i in range(1, 5):
        total += math.hypot(x[i] - x[i - 1], y[i] - y[i - 1])
    area = 0.0
    for i in range(5):
        j = (i + 1) % 5
        area += x[i] * y[j] - x[j] * y[i]
    return total + 0.5 * area


@program(array(6), array(6), tags="trust-region gradient-descent inner-optimisation")
def unrolled_gradient_descent(start, target):
    x = start.copy()
    velocity = np.zeros_like(x)
    for _ in range(7):
        g = 4 * x * (x**2 - 0.5) + 0.5 * (x - target)
        velocity = 0.8 * velocity - 0.05 * g
        x += velocity
    return np.sum((x - target) ** 2)
