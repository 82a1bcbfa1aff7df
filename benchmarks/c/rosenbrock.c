/* The gradient of kernels/rosenbrock.py. */
#include "kernel.h"

double __attribute__((noinline)) gradient(const void *const *in, const int64_t *dims,
                                          double *const *out)
{
    input x = in[0];
    output g = out[0];
    const int64_t n = dims[0];
    double t = x[1] - x[0] * x[0], r = 1.0 - x[0];
    double value = 100.0 * t * t + r * r;
    g[0] = -400.0 * t * x[0] - 2.0 * r;
#pragma omp simd reduction(+ : value)
    for (int64_t i = 1; i < n - 1; i++) {
        const double before = x[i] - x[i - 1] * x[i - 1];
        const double after = x[i + 1] - x[i] * x[i];
        const double rest = 1.0 - x[i];
        value += 100.0 * after * after + rest * rest;
        g[i] = 200.0 * before - 400.0 * after * x[i] - 2.0 * rest;
    }
    g[n - 1] = 200.0 * (x[n - 1] - x[n - 2] * x[n - 2]);
    return value;
}
