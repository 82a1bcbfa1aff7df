// The Jacobian of kernels/gradbench/ht.py: an angle moves the bones of its finger from its own on.
#include "eval.hpp"

namespace {
struct Affine { // the first three rows of a 4 by 4 matrix
    double e[3][4];
};

Affine times(const Affine &a, const Affine &b, double last) {
    Affine out;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            out.e[i][j] = a.e[i][0] * b.e[0][j] + a.e[i][1] * b.e[1][j] + a.e[i][2] * b.e[2][j] +
                          (j == 3 ? last * a.e[i][3] : 0.0);
    return out;
}

Affine affine(Input m) {
    Affine out;
    std::copy(m, m + 12, &out.e[0][0]);
    return out;
}

// About x by a[0], y by a[2], z by a[1]; or its derivative by a[which].
Affine rotation(const double *a, int which) {
    double c[3], s[3];
    for (int k = 0; k < 3; k++) {
        c[k] = k == which ? -std::sin(a[k]) : std::cos(a[k]);
        s[k] = k == which ? std::cos(a[k]) : std::sin(a[k]);
    }
    const double x = which == 0 ? 0.0 : 1.0, z = which == 1 ? 0.0 : 1.0, y = which == 2 ? 0.0 : 1.0;
    const Affine about_x{{{x, 0, 0, 0}, {0, c[0], -s[0], 0}, {0, s[0], c[0], 0}}};
    const Affine about_y{{{c[2], 0, s[2], 0}, {0, y, 0, 0}, {-s[2], 0, c[2], 0}}};
    const Affine about_z{{{c[1], -s[1], 0, 0}, {s[1], c[1], 0, 0}, {0, 0, z, 0}}};
    return times(times(about_z, about_y, 0.0), about_x, 0.0);
}

// The rotation about r, and its derivatives by the coordinates of r.
void global(Input r, double g[3][3], double dg[3][3][3]) {
    const double t = std::sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    std::memset(dg, 0, 27 * sizeof(double));
    if (t < 1e-4) {
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                g[i][j] = i == j;
        return;
    }
    const double a[3] = {r[0] / t, r[1] / t, r[2] / t}, c = std::cos(t), s = std::sin(t);
    for (int k = -1; k < 3; k++) {
        double da[3], dt = k < 0 ? 0.0 : a[k];
        for (int i = 0; i < 3; i++)
            da[i] = k < 0 ? 0.0 : ((i == k) - a[i] * a[k]) / t;
        const double cross[3][3] = {{0, -a[2], a[1]}, {a[2], 0, -a[0]}, {-a[1], a[0], 0}};
        const double turned[3][3] = {{0, -da[2], da[1]}, {da[2], 0, -da[0]}, {-da[1], da[0], 0}};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                if (k < 0)
                    g[i][j] = a[i] * a[j] * (1.0 - c) + c * (i == j) + s * cross[i][j];
                else
                    dg[k][i][j] = (da[i] * a[j] + a[i] * da[j]) * (1.0 - c) +
                                  a[i] * a[j] * s * dt - s * dt * (i == j) +
                                  c * dt * cross[i][j] + s * turned[i][j];
    }
}
} // namespace

void derivative(const void *const *in, const int64_t *dims, void *const *out) {
    const bool shares = integer(in[0]) != 0; // is there `us`?
    Input theta = numbers(in[1]), us = numbers(in[2]);
    const Ints parents = static_cast<Ints>(in[3]);
    Input relatives = numbers(in[4]), inverses = numbers(in[5]), base = numbers(in[6]);
    Input weights = numbers(in[7]);
    const Ints triangles = static_cast<Ints>(in[8]);
    const double sign = integer(in[9]) ? -1.0 : 1.0;
    const Ints correspondences = static_cast<Ints>(in[10]);
    const int64_t bones = dims[3], points = dims[16];
    const int64_t first = shares ? 2 : 0, columns = 26 + first;
    Output jacobian = static_cast<Output>(out[0]);

    std::vector<double> angles(3 * bones, 0.0);
    struct Angle { int64_t bone; int which; };
    std::vector<Angle> moved(20);
    for (int64_t f = 0; f < 5; f++) {
        const int64_t b = 2 + 4 * f;
        moved[4 * f] = {b, 0}, moved[4 * f + 1] = {b, 1};
        moved[4 * f + 2] = {b + 1, 0}, moved[4 * f + 3] = {b + 2, 0};
        for (int64_t k = 0; k < 4; k++)
            angles[3 * moved[4 * f + k].bone + moved[4 * f + k].which] = theta[6 + 4 * f + k];
    }
    std::vector<Affine> absolute(bones), transform(bones), relative(bones);
    for (int64_t b = 0; b < bones; b++) {
        relative[b] = times(affine(relatives + 16 * b), rotation(&angles[3 * b], -1), 1.0);
        absolute[b] = relative[b];
        // the rotation has no translation: the fourth column is the base's
        for (int i = 0; i < 3; i++)
            relative[b].e[i][3] = relatives[16 * b + 4 * i + 3];
        absolute[b] = parents[b] < 0 ? relative[b] : times(absolute[parents[b]], relative[b], 1.0);
        transform[b] = times(absolute[b], affine(inverses + 16 * b), 1.0);
    }
    struct Change { int64_t bone; Affine by; };
    std::vector<std::vector<Change>> changes(20);
    for (int64_t k = 0; k < 20; k++) {
        std::vector<Affine> d(bones);
        std::vector<char> touched(bones, 0);
        const auto [bone, which] = moved[k];
        for (int64_t b = bone; b < bones; b++) {
            if (b == bone) {
                d[b] = times(affine(relatives + 16 * b), rotation(&angles[3 * b], which), 0.0);
                if (parents[b] >= 0)
                    d[b] = times(absolute[parents[b]], d[b], 0.0);
            } else if (parents[b] >= 0 && touched[parents[b]]) {
                d[b] = times(d[parents[b]], relative[b], 1.0);
            } else {
                continue;
            }
            touched[b] = 1;
            changes[k].push_back({b, times(d[b], affine(inverses + 16 * b), 1.0)});
        }
    }
    double g[3][3], dg[3][3][3];
    global(theta, g, dg);

    for (int64_t i = 0; i < points; i++) {
        const int64_t at = correspondences[i];
        const double u0 = shares ? us[2 * i] : 0.0, u1 = shares ? us[2 * i + 1] : 0.0;
        const double share[3] = {shares ? u0 : 1.0, u1, 1.0 - u0 - u1};
        double place[3] = {0, 0, 0}, corner[3][3] = {}, by_angle[20][3] = {};
        for (int c = 0; c < (shares ? 3 : 1); c++) {
            const int64_t v = shares ? triangles[3 * at + c] : at;
            Input p = base + 4 * v, w = weights + bones * v;
            for (int64_t b = 0; b < bones; b++)
                for (int r = 0; r < 3; r++) {
                    const double *row = transform[b].e[r];
                    corner[c][r] += w[b] * (row[0] * p[0] + row[1] * p[1] + row[2] * p[2] +
                                            row[3] * p[3]);
                }
            corner[c][0] *= sign;
            for (int r = 0; r < 3; r++)
                place[r] += share[c] * corner[c][r];
            for (int k = 0; k < 20; k++)
                for (const Change &change : changes[k])
                    for (int r = 0; r < 3; r++) {
                        const double *row = change.by.e[r];
                        by_angle[k][r] += share[c] * w[change.bone] *
                                          (row[0] * p[0] + row[1] * p[1] + row[2] * p[2] +
                                           row[3] * p[3]);
                    }
        }
        for (int r = 0; r < 3; r++) {
            Output row = jacobian + (3 * i + r) * columns;
            if (shares)
                for (int k = 0; k < 2; k++)
                    row[k] = -(g[r][0] * (corner[k][0] - corner[2][0]) +
                               g[r][1] * (corner[k][1] - corner[2][1]) +
                               g[r][2] * (corner[k][2] - corner[2][2]));
            for (int k = 0; k < 3; k++) {
                row[first + k] = -(dg[k][r][0] * place[0] + dg[k][r][1] * place[1] +
                                   dg[k][r][2] * place[2]);
                row[first + 3 + k] = k == r ? -1.0 : 0.0;
            }
            for (int k = 0; k < 20; k++)
                row[first + 6 + k] = -(g[r][0] * sign * by_angle[k][0] + g[r][1] * by_angle[k][1] +
                                       g[r][2] * by_angle[k][2]);
        }
    }
}
