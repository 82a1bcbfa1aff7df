// The gradient of kernels/gradbench/kmeans.py over the diagonal of its Hessian.
#include "eval.hpp"

void derivative(const void *const *in, const int64_t *dims, void *const *out) {
    Input points = numbers(in[0]), centroids = numbers(in[1]);
    const int64_t n = dims[0], d = dims[1], k = dims[2];
    Output step = static_cast<Output>(out[0]);
    std::fill(step, step + k * d, 0.0);
    std::vector<double> diagonal(k, 0.0);
    for (int64_t i = 0; i < n; i++) {
        Input p = points + i * d;
        double least = INFINITY;
        int64_t nearest = 0;
        for (int64_t c = 0; c < k; c++) {
            double square = 0.0;
            for (int64_t j = 0; j < d; j++) {
                const double away = p[j] - centroids[c * d + j];
                square += away * away;
            }
            if (square < least) {
                least = square;
                nearest = c;
            }
        }
        for (int64_t j = 0; j < d; j++)
            step[nearest * d + j] -= 2.0 * (p[j] - centroids[nearest * d + j]);
        diagonal[nearest] += 2.0;
    }
    for (int64_t c = 0; c < k; c++)
        for (int64_t j = 0; j < d; j++)
            step[c * d + j] /= diagonal[c];
}
