/* The gradient of kernels/logsumexp.py. */
#include "kernel.h"

static inline double larger(double a, double b) { return a > b ? a : b; }

double __attribute__((noinline)) gradient(const void *const *in, const int64_t *dims,
                                          double *const *out)
{
    input x = in[0];
    output g = out[0];
    const int64_t n = dims[0];
    double a = x[0], b = x[0], c = x[0], d = x[0];
    for (int64_t i = 0; i < n - 3; i += 4) {
        a = larger(x[i], a);
        b = larger(x[i + 1], b);
        c = larger(x[i + 2], c);
        d = larger(x[i + 3], d);
    }
    double top = larger(larger(a, b), larger(c, d));
    for (int64_t i = n > 3 ? n - 3 : 0; i < n; i++)
        top = larger(x[i], top);
    double total = 0.0;
#pragma omp simd reduction(+ : total)
    for (int64_t i = 0; i < n; i++) {
        const double e = exp(x[i] - top);
        g[i] = e;
        total += e;
    }
    const double scale = 1.0 / total;
    for (int64_t i = 0; i < n; i++)
        g[i] *= scale;
    return log(total) + top;
}
