// kernels/nested/saddle.py with both derivatives by hand: the ascent carries its tangents.
#include "descent.hpp"

namespace {
using Pair = Point<2>;

double cost(const Pair &a, const Pair &b) {
    return (a[0] * a[0] + a[1] * a[1]) - (b[0] * b[0] + b[1] * b[1]);
}

Pair ascent(const Pair &a, const Pair &start) {
    return argmin<2>([&](const Pair &b) { return -cost(a, b); },
                     [](const Pair &b) { return Pair{2.0 * b[0], 2.0 * b[1]}; }, start);
}

// The gradient of the maximum by a, through the ascent: b's tangents along both coordinates of a.
Pair slope(const Pair &a, Pair b, double fx, double eta = 1e-5) {
    double t[2][2] = {{0.0, 0.0}, {0.0, 0.0}}; // of b[i] by a[k]
    Pair g{2.0 * b[0], 2.0 * b[1]};
    for (int i = 0;;) {
        if (magnitude<2>(g) <= 1e-5)
            break;
        if (i == 10) {
            eta *= 2.0;
            i = 0;
            continue;
        }
        const Pair y{b[0] - eta * g[0], b[1] - eta * g[1]};
        if (magnitude<2>({b[0] - y[0], b[1] - y[1]}) <= 1e-5)
            break;
        const double fy = -cost(a, y);
        if (fy < fx) {
            for (auto &row : t)
                for (double &e : row)
                    e -= eta * (2.0 * e);
            b = y;
            fx = fy;
            g = {2.0 * b[0], 2.0 * b[1]};
            i++;
        } else {
            eta /= 2.0;
            i = 0;
        }
    }
    return {2.0 * (a[0] - b[0] * t[0][0] - b[1] * t[1][0]),
            2.0 * (a[1] - b[0] * t[0][1] - b[1] * t[1][1])};
}
} // namespace

void derivative(const void *const *in, const int64_t *, void *const *out) {
    Input given = numbers(in[0]);
    const Pair start{given[0], given[1]};
    const Pair a = argmin<2>([&](const Pair &x) { return cost(x, ascent(x, start)); },
                             [&](const Pair &x) { return slope(x, start, -cost(x, start)); }, start);
    const Pair b = ascent(a, start);
    Output result = static_cast<Output>(out[0]);
    std::copy(a.begin(), a.end(), result);
    std::copy(b.begin(), b.end(), result + 2);
}
