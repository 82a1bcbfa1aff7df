// kernels/nested/particle.py with both derivatives by hand: forces, and a tangent by the charge.
#include "descent.hpp"

namespace {
// The square of the landing point; with `tangent` its derivative by w.
template <bool tangent> double flight(double w) {
    const double dt = 0.1;
    double x = 0.0, y = 8.0, vx = 0.75, vy = 0.0, tx = 0.0, ty = 0.0, sx = 0.0, sy = 0.0;
    while (true) {
        const double ax = x - 10.0, ay = y - (10.0 - w), bx = x - 10.0, by = y;
        const double aa = ax * ax + ay * ay, bb = bx * bx + by * by;
        const double ra = 1.0 / aa, rb = 1.0 / bb, p = ra * std::sqrt(ra), q = rb * std::sqrt(rb);
        const double xn = x + dt * vx, yn = y + dt * vy;
        if (!(yn > 0.0)) {
            const double left = -y / vy, end = x + left * vx;
            if (!tangent)
                return end * end;
            return 2.0 * end * (tx - (ty + left * sy) / vy * vx + left * sx);
        }
        if (tangent) {
            const double sa = ty + 1.0, tp = -3.0 * p * ra * (ax * tx + ay * sa);
            const double tq = -3.0 * q * rb * (bx * tx + by * ty);
            const double gx = tx * p + ax * tp + tx * q + bx * tq;
            const double gy = sa * p + ay * tp + ty * q + by * tq;
            tx += dt * sx;
            ty += dt * sy;
            sx += dt * gx;
            sy += dt * gy;
        }
        x = xn;
        y = yn;
        vx += dt * (ax * p + bx * q);
        vy += dt * (ay * p + by * q);
    }
}
} // namespace

void derivative(const void *const *in, const int64_t *, void *const *out) {
    auto value = [](const Point<1> &w) { return flight<false>(w[0]); };
    auto slope = [](const Point<1> &w) { return Point<1>{flight<true>(w[0])}; };
    *static_cast<double *>(out[0]) = argmin<1>(value, slope, {number(in[0])})[0];
}
