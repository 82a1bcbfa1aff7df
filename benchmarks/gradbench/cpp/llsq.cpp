// The gradient of kernels/gradbench/llsq.py; the powers of a place are kept for its reverse part.
#include "eval.hpp"

void derivative(const void *const *in, const int64_t *dims, void *const *out) {
    Input x = numbers(in[0]);
    const int64_t n = integer(in[1]), m = dims[0];
    Output g = static_cast<Output>(out[0]);
    std::fill(g, g + m, 0.0);
    std::vector<double> powers(m);
    for (int64_t i = 0; i < n; i++) {
        const double t = double(2 * i) / double(n - 1) - 1.0;
        double left = double((t > 0.0) - (t < 0.0)), power = 1.0;
        for (int64_t j = 0; j < m; j++) {
            powers[j] = power;
            left -= x[j] * power;
            power *= t;
        }
        for (int64_t j = 0; j < m; j++)
            g[j] -= left * powers[j];
    }
}
