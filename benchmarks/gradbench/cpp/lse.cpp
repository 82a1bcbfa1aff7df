// The gradient of kernels/logsumexp.py: the softmax.
#include "eval.hpp"

void derivative(const void *const *in, const int64_t *dims, void *const *out) {
    Input x = numbers(in[0]);
    const int64_t n = dims[0];
    Output g = static_cast<Output>(out[0]);
    double top = x[0], total = 0.0;
    for (int64_t i = 1; i < n; i++)
        top = x[i] > top ? x[i] : top;
    for (int64_t i = 0; i < n; i++) {
        g[i] = std::exp(x[i] - top);
        total += g[i];
    }
    const double scale = 1.0 / total;
    for (int64_t i = 0; i < n; i++)
        g[i] *= scale;
}
