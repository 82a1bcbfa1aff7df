// The sparse Jacobian of kernels/gradbench/bundle.py: two pullbacks an observation.
#include "eval.hpp"

void derivative(const void *const *in, const int64_t *dims, void *const *out) {
    Input cams = numbers(in[0]), points = numbers(in[1]), weights = numbers(in[2]);
    Input feats = numbers(in[3]);
    const Ints obs = static_cast<Ints>(in[4]);
    const int64_t n = dims[0], m = dims[2], p = dims[4];
    int64_t *__restrict rows = static_cast<int64_t *>(out[0]);
    int64_t *__restrict cols = static_cast<int64_t *>(out[1]);
    Output vals = static_cast<Output>(out[2]);
    for (int64_t i = 0; i < p; i++) {
        const int64_t c = obs[2 * i], q = obs[2 * i + 1];
        Input cam = cams + 11 * c, point = points + 3 * q;
        const double w = weights[i];
        const double y0 = point[0] - cam[3], y1 = point[1] - cam[4], y2 = point[2] - cam[5];
        double a0 = cam[0], a1 = cam[1], a2 = cam[2];
        const double square = a0 * a0 + a1 * a1 + a2 * a2;
        double sine = 1.0, cosine = 1.0, inverse = 0.0;
        if (square > 0.0) {
            const double angle = std::sqrt(square);
            inverse = 1.0 / angle;
            a0 *= inverse, a1 *= inverse, a2 *= inverse;
            sine = std::sin(angle), cosine = std::cos(angle);
        }
        const double x0 = a1 * y2 - a2 * y1, x1 = a2 * y0 - a0 * y2, x2 = a0 * y1 - a1 * y0;
        const double versine = 1.0 - cosine, ay = a0 * y0 + a1 * y1 + a2 * y2;
        const double along = versine * ay;
        const double z0 = y0 * cosine + x0 * sine + a0 * along;
        const double z1 = y1 * cosine + x1 * sine + a1 * along;
        const double z2 = y2 * cosine + x2 * sine + a2 * along;
        const double depth = 1.0 / z2, e0 = z0 * depth, e1 = z1 * depth, s = e0 * e0 + e1 * e1;
        const double f = cam[6], kappa0 = cam[9], kappa1 = cam[10];
        const double bend = 1.0 + s * (kappa0 + s * kappa1);
        const double d[2] = {f * bend * e0 + cam[7] - feats[2 * i],
                             f * bend * e1 + cam[8] - feats[2 * i + 1]};
        for (int64_t r = 0; r < 2; r++) {
            const double bu0 = r == 0 ? w : 0.0, bu1 = r == 1 ? w : 0.0;
            const double radial = bu0 * e0 + bu1 * e1;
            const double bs = f * radial * (kappa0 + 2.0 * kappa1 * s);
            const double be0 = f * bend * bu0 + 2.0 * bs * e0;
            const double be1 = f * bend * bu1 + 2.0 * bs * e1;
            const double bz0 = be0 * depth, bz1 = be1 * depth;
            const double bz2 = -(be0 * e0 + be1 * e1) * depth;
            const double va = versine * (a0 * bz0 + a1 * bz1 + a2 * bz2);
            const double by0 = cosine * bz0 + sine * (bz1 * a2 - bz2 * a1) + va * a0;
            const double by1 = cosine * bz1 + sine * (bz2 * a0 - bz0 * a2) + va * a1;
            const double by2 = cosine * bz2 + sine * (bz0 * a1 - bz1 * a0) + va * a2;
            double ba0 = sine * (y1 * bz2 - y2 * bz1) + along * bz0 + va * y0;
            double ba1 = sine * (y2 * bz0 - y0 * bz2) + along * bz1 + va * y1;
            double ba2 = sine * (y0 * bz1 - y1 * bz0) + along * bz2 + va * y2;
            if (square > 0.0) {
                const double b_angle = cosine * (x0 * bz0 + x1 * bz1 + x2 * bz2) -
                                       sine * (y0 * bz0 + y1 * bz1 + y2 * bz2) +
                                       sine * ay * (a0 * bz0 + a1 * bz1 + a2 * bz2);
                // the axis is r over its length: what points along the axis turns nothing
                const double turn = b_angle - inverse * (a0 * ba0 + a1 * ba1 + a2 * ba2);
                ba0 = inverse * ba0 + turn * a0;
                ba1 = inverse * ba1 + turn * a1;
                ba2 = inverse * ba2 + turn * a2;
            }
            const double row[15] = {ba0, ba1, ba2, -by0, -by1, -by2, radial * bend, bu0, bu1,
                                    f * radial * s, f * radial * s * s, by0, by1, by2, d[r]};
            const int64_t first = 30 * i + 15 * r;
            rows[2 * i + r] = first;
            std::copy(row, row + 15, vals + first);
            for (int64_t j = 0; j < 11; j++)
                cols[first + j] = 11 * c + j;
            for (int64_t j = 0; j < 3; j++)
                cols[first + 11 + j] = 11 * n + 3 * q + j;
            cols[first + 14] = 11 * n + 3 * m + i;
        }
        rows[2 * p + i] = 30 * p + i;
        cols[30 * p + i] = 11 * n + 3 * m + i;
        vals[30 * p + i] = -2.0 * w;
    }
    rows[3 * p] = 31 * p;
}
