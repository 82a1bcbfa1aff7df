/* The gradient of kernels/ba.py. */
#include "kernel.h"

typedef struct { double x, y, z; } vec;

static inline double dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static inline vec cross(vec a, vec b)
{
    return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* p a + q b + r c */
static inline vec blend(double p, vec a, double q, vec b, double r, vec c)
{
    return (vec){p * a.x + q * b.x + r * c.x, p * a.y + q * b.y + r * c.y,
                 p * a.z + q * b.z + r * c.z};
}

double __attribute__((noinline)) gradient(const void *const *in, const int64_t *dims,
                                          double *const *out)
{
    input cams = in[0], points = in[1], weights = in[2], feats = in[3];
    const int64_t *restrict obs = in[4];
    const int64_t n = dims[0], m = dims[2], p = dims[4];
    output g_cams = out[0], g_points = out[1], g_weights = out[2];
    memset(g_cams, 0, (size_t)(11 * n) * sizeof(double));
    memset(g_points, 0, (size_t)(3 * m) * sizeof(double));
    double total = 0.0;
    for (int64_t i = 0; i < p; i++) {
        const double *cam = cams + 11 * obs[2 * i], *point = points + 3 * obs[2 * i + 1];
        const double w = weights[i];
        const vec y = {point[0] - cam[3], point[1] - cam[4], point[2] - cam[5]};
        vec a = {cam[0], cam[1], cam[2]};
        const double angle2 = dot(a, a);
        double sine = 1.0, cosine = 1.0, inverse = 0.0;
        if (angle2 > 0.0) {
            const double angle = sqrt(angle2);
            inverse = 1.0 / angle;
            a = (vec){a.x * inverse, a.y * inverse, a.z * inverse};
            sine = sin(angle);
            cosine = cos(angle);
        }
        const vec x = cross(a, y);
        const double versine = 1.0 - cosine, ay = dot(a, y), along = versine * ay;
        const vec z = blend(cosine, y, sine, x, along, a);
        const double depth = 1.0 / z.z, e0 = z.x * depth, e1 = z.y * depth;
        const double s = e0 * e0 + e1 * e1, f = cam[6], kappa0 = cam[9], kappa1 = cam[10];
        const double bend = 1.0 + s * (kappa0 + s * kappa1);
        const double d0 = f * bend * e0 + cam[7] - feats[2 * i];
        const double d1 = f * bend * e1 + cam[8] - feats[2 * i + 1];
        const double slack = 1.0 - w * w;
        total += w * w * (d0 * d0 + d1 * d1) + slack * slack;
        g_weights[i] = w * (d0 * d0 + d1 * d1) - 2.0 * w * slack;

        const double bu0 = w * w * d0, bu1 = w * w * d1, radial = bu0 * e0 + bu1 * e1;
        const double bs = f * radial * (kappa0 + 2.0 * kappa1 * s);
        const double be0 = f * bend * bu0 + 2.0 * bs * e0, be1 = f * bend * bu1 + 2.0 * bs * e1;
        const vec bz = {be0 * depth, be1 * depth, -(be0 * e0 + be1 * e1) * depth};
        const double az = dot(a, bz), va = versine * az;
        const vec by = blend(cosine, bz, sine, cross(bz, a), va, a);
        vec ba = blend(sine, cross(y, bz), along, bz, va, y);
        if (angle2 > 0.0) {
            const double b_angle = cosine * dot(x, bz) - sine * dot(y, bz) + sine * ay * az;
            const double turn = b_angle - inverse * dot(a, ba);
            ba = blend(inverse, ba, turn, a, 0.0, a);
        }
        double *restrict g = g_cams + 11 * obs[2 * i], *restrict h = g_points + 3 * obs[2 * i + 1];
        g[0] += ba.x;
        g[1] += ba.y;
        g[2] += ba.z;
        g[3] -= by.x;
        g[4] -= by.y;
        g[5] -= by.z;
        g[6] += radial * bend;
        g[7] += bu0;
        g[8] += bu1;
        g[9] += f * radial * s;
        g[10] += f * radial * s * s;
        h[0] += by.x;
        h[1] += by.y;
        h[2] += by.z;
    }
    return 0.5 * total;
}
