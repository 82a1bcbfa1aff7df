/* The gradient of kernels/burgers.py. */
#include "kernel.h"

double __attribute__((noinline)) gradient(const void *const *in, const int64_t *dims,
                                          double *const *out)
{
    input u0 = in[0], target = in[2];
    const double nu = number(in[1]), dx = number(in[3]), dt = number(in[4]);
    const int64_t n = dims[0], steps = integer(in[5]);
    const double c = dt / dx, scale = dt / (dx * dx), d = nu * scale;
    double *path = malloc((size_t)((steps + 1) * n) * sizeof *path);
    memcpy(path, u0, (size_t)n * sizeof *path);
    for (int64_t t = 0; t < steps; t++) {
        input u = path + t * n;
        output next = path + (t + 1) * n;
        next[0] = u0[0];
        next[n - 1] = u0[n - 1];
        for (int64_t i = 1; i < n - 1; i++)
            next[i] = u[i] - c * u[i] * (u[i] - u[i - 1]) + d * (u[i + 1] - 2.0 * u[i] + u[i - 1]);
    }

    output g = out[0];
    double *lam = calloc((size_t)n, sizeof *lam), *new = calloc((size_t)n, sizeof *new);
    double value = 0.0, g_d = 0.0;
    input end = path + steps * n;
#pragma omp simd reduction(+ : value)
    for (int64_t i = 0; i < n; i++) {
        const double r = end[i] - target[i];
        value += r * r;
        g[i] = dx * r;
    }
    memcpy(lam + 1, g + 1, (size_t)(n - 2) * sizeof *lam);
    for (int64_t t = steps - 1; t >= 0; t--) {
        input u = path + t * n, l = lam;
        output next = new;
        g[0] += l[1] * (c * u[1] + d);
        g[n - 1] += l[n - 2] * d;
#pragma omp simd reduction(+ : g_d)
        for (int64_t i = 1; i < n - 1; i++) {
            g_d += l[i] * (u[i + 1] - 2.0 * u[i] + u[i - 1]);
            next[i] = l[i] * (1.0 - c * (2.0 * u[i] - u[i - 1]) - 2.0 * d) +
                      l[i + 1] * (c * u[i + 1] + d) + l[i - 1] * d;
        }
        double *other = lam;
        lam = new;
        new = other;
    }
    memcpy(g + 1, lam + 1, (size_t)(n - 2) * sizeof *g);
    free(path);
    free(lam);
    free(new);
    *out[1] = scale * g_d;
    return 0.5 * dx * value;
}
