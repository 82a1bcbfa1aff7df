/* The gradient of kernels/lorenz.py. */
#include "kernel.h"

typedef struct { double x, y, z; } vec;
typedef struct { double s, r, b; } parameters;

static inline vec velocity(vec u, parameters p)
{
    return (vec){p.s * (u.y - u.x), u.x * (p.r - u.z) - u.y, u.x * u.y - p.b * u.z};
}

static inline vec along(vec u, double h, vec k)
{
    return (vec){u.x + h * k.x, u.y + h * k.y, u.z + h * k.z};
}

/* The points at which stages two to four take the velocity; the next state is the result. */
static inline vec step(vec u, parameters p, double dt, vec *u2, vec *u3, vec *u4)
{
    const vec k1 = velocity(u, p);
    *u2 = along(u, 0.5 * dt, k1);
    const vec k2 = velocity(*u2, p);
    *u3 = along(u, 0.5 * dt, k2);
    const vec k3 = velocity(*u3, p);
    *u4 = along(u, dt, k3);
    const vec k4 = velocity(*u4, p);
    const vec sum = along(along(along(k1, 2.0, k2), 2.0, k3), 1.0, k4);
    return along(u, dt / 6.0, sum);
}

/* What the sensitivity k of the velocity means for the point u, and for the parameters in g. */
static inline vec pull(vec u, parameters p, vec k, parameters *g)
{
    g->s += k.x * (u.y - u.x);
    g->r += k.y * u.x;
    g->b -= k.z * u.z;
    return (vec){k.y * (p.r - u.z) - p.s * k.x + k.z * u.y, p.s * k.x - k.y + k.z * u.x,
                 -p.b * k.z - k.y * u.x};
}

double __attribute__((noinline)) gradient(const void *const *in, const int64_t *dims,
                                          double *const *out)
{
    const double *params = in[0], *start = in[1];
    const vec *observed = in[2];
    const double dt = number(in[3]);
    const int64_t steps = dims[2];
    const parameters p = {params[0], params[1], params[2]};
    vec *path = malloc((size_t)(steps + 1) * sizeof *path), u2, u3, u4;
    vec u = {start[0], start[1], start[2]};
    double total = 0.0;
    path[0] = u;
    for (int64_t i = 0; i < steps; i++) {
        u = step(u, p, dt, &u2, &u3, &u4);
        path[i + 1] = u;
        const vec d = along(u, -1.0, observed[i]);
        total += d.x * d.x + d.y * d.y + d.z * d.z;
    }

    parameters g = {0.0, 0.0, 0.0};
    vec a = {0.0, 0.0, 0.0};
    for (int64_t i = steps - 1; i >= 0; i--) {
        a = along(a, dt, along(path[i + 1], -1.0, observed[i]));
        step(path[i], p, dt, &u2, &u3, &u4);
        const double w1 = dt / 6.0, w2 = dt / 3.0, h = 0.5 * dt;
        const vec one = {w1 * a.x, w1 * a.y, w1 * a.z}, two = {w2 * a.x, w2 * a.y, w2 * a.z};
        const vec v4 = pull(u4, p, one, &g);
        const vec v3 = pull(u3, p, along(two, dt, v4), &g);
        const vec v2 = pull(u2, p, along(two, h, v3), &g);
        const vec v1 = pull(path[i], p, along(one, h, v2), &g);
        a = along(a, 1.0, along(along(along(v1, 1.0, v2), 1.0, v3), 1.0, v4));
    }
    free(path);
    memcpy(out[0], &g, sizeof g);
    memcpy(out[1], &a, sizeof a);
    return 0.5 * dt * total;
}
