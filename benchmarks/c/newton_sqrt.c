/* The gradient of kernels/newton_sqrt.py. Fused multiply-add is off in the test for convergence,
 * so that every element runs as many rounds as it does in Python. */
#include "kernel.h"

double __attribute__((noinline, optimize("fp-contract=off")))
gradient(const void *const *in, const int64_t *dims, double *const *out)
{
    input x = in[0];
    const double tol = number(in[1]);
    output g = out[0];
    double total = 0.0;
    for (int64_t i = 0; i < dims[0]; i++) {
        const double a = x[i];
        double y = 0.5 * (1.0 + a), dy = 0.5;
        while (fabs(y * y - a) > tol * a) {
            const double inverse = 1.0 / y, quotient = a / y;
            dy = 0.5 * (dy + (1.0 - quotient * dy) * inverse);
            y = 0.5 * (y + quotient);
        }
        total += y;
        g[i] = dy;
    }
    return total;
}
