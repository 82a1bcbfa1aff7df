// The gradient of kernels/gradbench/ode.py's last value: the steps' adjoint, from y of each step.
#include "eval.hpp"

namespace {
// k = F(z): k_0 = x_0, k_i = x_i z_(i-1), at z = y + h * other
void slope(Input x, Input y, double h, Input other, Output k, int64_t n) {
    k[0] = x[0];
    for (int64_t i = 1; i < n; i++)
        k[i] = x[i] * (y[i - 1] + h * other[i - 1]);
}

// With k_bar: x_bar gets its part, and z_bar is what F's transpose makes of it.
void back(Input x, Input y, double h, Input other, Input k_bar, Output x_bar, Output z_bar,
          int64_t n) {
    x_bar[0] += k_bar[0];
    for (int64_t i = 1; i < n; i++) {
        x_bar[i] += k_bar[i] * (y[i - 1] + h * other[i - 1]);
        z_bar[i - 1] = x[i] * k_bar[i];
    }
    z_bar[n - 1] = 0.0;
}
} // namespace

void derivative(const void *const *in, const int64_t *dims, void *const *out) {
    Input x = numbers(in[0]);
    const int64_t n = dims[0], steps = integer(in[1]);
    Output x_bar = static_cast<Output>(out[0]);
    const double h = 2.0 / double(steps);
    std::vector<double> ys((steps + 1) * n, 0.0), zero(n, 0.0), y_bar(n, 0.0);
    std::vector<double> k1(n), k2(n), k3(n), k4(n), b1(n), b2(n), b3(n), b4(n), z(n);
    for (int64_t s = 0; s < steps; s++) {
        const double *y = &ys[s * n];
        double *next = &ys[(s + 1) * n];
        slope(x, y, 0.0, zero.data(), k1.data(), n);
        slope(x, y, 0.5 * h, k1.data(), k2.data(), n);
        slope(x, y, 0.5 * h, k2.data(), k3.data(), n);
        slope(x, y, h, k3.data(), k4.data(), n);
        for (int64_t i = 0; i < n; i++)
            next[i] = y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
    }
    std::fill(x_bar, x_bar + n, 0.0);
    y_bar[n - 1] = 1.0;
    for (int64_t s = steps - 1; s >= 0; s--) {
        const double *y = &ys[s * n];
        slope(x, y, 0.0, zero.data(), k1.data(), n);
        slope(x, y, 0.5 * h, k1.data(), k2.data(), n);
        slope(x, y, 0.5 * h, k2.data(), k3.data(), n);
        for (int64_t i = 0; i < n; i++)
            b4[i] = h / 6.0 * y_bar[i];
        back(x, y, h, k3.data(), b4.data(), x_bar, z.data(), n);
        for (int64_t i = 0; i < n; i++) {
            b3[i] = h / 3.0 * y_bar[i] + h * z[i];
            b1[i] = z[i];
        }
        back(x, y, 0.5 * h, k2.data(), b3.data(), x_bar, z.data(), n);
        for (int64_t i = 0; i < n; i++) {
            b2[i] = h / 3.0 * y_bar[i] + 0.5 * h * z[i];
            b1[i] += z[i];
        }
        back(x, y, 0.5 * h, k1.data(), b2.data(), x_bar, z.data(), n);
        for (int64_t i = 0; i < n; i++) {
            const double sum = b1[i] + z[i];
            b1[i] = h / 6.0 * y_bar[i] + 0.5 * h * z[i];
            y_bar[i] += sum;
        }
        back(x, y, 0.0, zero.data(), b1.data(), x_bar, z.data(), n);
        for (int64_t i = 0; i < n; i++)
            y_bar[i] += z[i];
    }
}
