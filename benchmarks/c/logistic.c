/* The gradient of kernels/logistic.py. */
#include "kernel.h"

double __attribute__((noinline)) gradient(const void *const *in, const int64_t *dims,
                                          double *const *out)
{
    input w = in[0], X = in[1], y = in[2];
    const double lam = number(in[3]);
    output g = out[0];
    const int64_t n = dims[1], d = dims[2];
    double total = 0.0, squares = 0.0;
    memset(g, 0, (size_t)d * sizeof *g);
    for (int64_t i = 0; i < n; i++) {
        input row = X + i * d;
        double z = 0.0;
#pragma omp simd reduction(+ : z)
        for (int64_t j = 0; j < d; j++)
            z += row[j] * w[j];
        const double margin = y[i] * z, e = exp(-fabs(margin));
        double slope;
        if (margin >= 0.0) {
            total += log1p(e);
            slope = -y[i] * e / (1.0 + e);
        } else {
            total += log1p(e) - margin;
            slope = -y[i] / (1.0 + e);
        }
        for (int64_t j = 0; j < d; j++)
            g[j] += slope * row[j];
    }
    for (int64_t j = 0; j < d; j++) {
        squares += w[j] * w[j];
        g[j] = g[j] / (double)n + lam * w[j];
    }
    return total / (double)n + 0.5 * lam * squares;
}
