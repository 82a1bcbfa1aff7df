/* The gradient of kernels/heat.py. */
#include "kernel.h"

static inline double spread(const double *u, int64_t j, int64_t cols)
{
    return u[j - cols] + u[j + cols] + u[j - 1] + u[j + 1] - 4.0 * u[j];
}

double __attribute__((noinline)) gradient(const void *const *in, const int64_t *dims,
                                          double *const *out)
{
    input u0 = in[0], target = in[2];
    const double alpha = number(in[1]);
    const int64_t rows = dims[0], cols = dims[1], size = rows * cols, steps = integer(in[3]);
    const size_t bytes = (size_t)size * sizeof(double);
    double *pages = malloc((size_t)(steps + 1) * bytes);
    memcpy(pages, u0, bytes);
    for (int64_t t = 0; t < steps; t++) {
        input page = pages + t * size;
        output next = pages + (t + 1) * size;
        memcpy(next, u0, (size_t)cols * sizeof(double));
        memcpy(next + size - cols, u0 + size - cols, (size_t)cols * sizeof(double));
        for (int64_t i = 1; i < rows - 1; i++) {
            input u = page + i * cols;
            output v = next + i * cols;
            v[0] = u0[i * cols];
            v[cols - 1] = u0[i * cols + cols - 1];
            for (int64_t j = 1; j < cols - 1; j++)
                v[j] = u[j] + alpha * spread(u, j, cols);
        }
    }

    output g = out[0];
    double *lam = calloc((size_t)size, sizeof *lam), *new = calloc((size_t)size, sizeof *new);
    double value = 0.0, g_alpha = 0.0;
    input end = pages + steps * size;
#pragma omp simd reduction(+ : value)
    for (int64_t i = 0; i < size; i++) {
        const double r = end[i] - target[i];
        value += r * r;
        g[i] = r;
    }
    for (int64_t i = 1; i < rows - 1; i++)
        memcpy(lam + i * cols + 1, g + i * cols + 1, (size_t)(cols - 2) * sizeof(double));
    for (int64_t t = steps - 1; t >= 0; t--) {
        for (int64_t j = 1; j < cols - 1; j++) {
            g[j] += alpha * lam[cols + j];
            g[size - cols + j] += alpha * lam[size - 2 * cols + j];
        }
        for (int64_t i = 1; i < rows - 1; i++) {
            input l = lam + i * cols, u = pages + t * size + i * cols;
            output next = new + i * cols;
            g[i * cols] += alpha * l[1];
            g[i * cols + cols - 1] += alpha * l[cols - 2];
#pragma omp simd reduction(+ : g_alpha)
            for (int64_t j = 1; j < cols - 1; j++) {
                g_alpha += l[j] * spread(u, j, cols);
                next[j] = l[j] + alpha * spread(l, j, cols);
            }
        }
        double *other = lam;
        lam = new;
        new = other;
    }
    for (int64_t i = 1; i < rows - 1; i++)
        memcpy(g + i * cols + 1, lam + i * cols + 1, (size_t)(cols - 2) * sizeof(double));
    free(pages);
    free(lam);
    free(new);
    *out[1] = g_alpha;
    return 0.5 * value;
}
