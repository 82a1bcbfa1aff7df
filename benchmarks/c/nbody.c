/* The gradient of kernels/nbody.py. */
#include "kernel.h"

#define EPS2 0.01

static void kick(input x, output v, input mass, int64_t n, double dt)
{
    input xs = x, ys = x + n, zs = x + 2 * n;
    for (int64_t i = 0; i < n; i++) {
        const double xi = xs[i], yi = ys[i], zi = zs[i];
        double ax = 0.0, ay = 0.0, az = 0.0;
#pragma omp simd reduction(+ : ax, ay, az)
        for (int64_t j = 0; j < n; j++) {
            const double dx = xs[j] - xi, dy = ys[j] - yi, dz = zs[j] - zi;
            const double r2 = dx * dx + dy * dy + dz * dz + EPS2;
            const double pull = mass[j] / (r2 * sqrt(r2));
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        v[i] += dt * ax;
        v[n + i] += dt * ay;
        v[2 * n + i] += dt * az;
    }
}

static void unkick(input x, output gx, input gv, input mass, int64_t n, double dt)
{
    input xs = x, ys = x + n, zs = x + 2 * n, bx = gv, by = gv + n, bz = gv + 2 * n;
    for (int64_t i = 0; i < n; i++) {
        const double xi = xs[i], yi = ys[i], zi = zs[i], mi = mass[i];
        const double bxi = bx[i], byi = by[i], bzi = bz[i];
        double sx = 0.0, sy = 0.0, sz = 0.0;
#pragma omp simd reduction(+ : sx, sy, sz)
        for (int64_t j = 0; j < n; j++) {
            const double dx = xs[j] - xi, dy = ys[j] - yi, dz = zs[j] - zi;
            const double ir2 = 1.0 / (dx * dx + dy * dy + dz * dz + EPS2);
            const double ir3 = ir2 * sqrt(ir2);
            const double wx = mass[j] * bxi - mi * bx[j];
            const double wy = mass[j] * byi - mi * by[j];
            const double wz = mass[j] * bzi - mi * bz[j];
            const double along = 3.0 * ir2 * (wx * dx + wy * dy + wz * dz);
            sx += ir3 * (along * dx - wx);
            sy += ir3 * (along * dy - wy);
            sz += ir3 * (along * dz - wz);
        }
        gx[i] += dt * sx;
        gx[n + i] += dt * sy;
        gx[2 * n + i] += dt * sz;
    }
}

static void drift(const double *x, const double *v, double h, double *to, int64_t n)
{
    for (int64_t i = 0; i < 3 * n; i++)
        to[i] = x[i] + h * v[i];
}

double __attribute__((noinline)) gradient(const void *const *in, const int64_t *dims,
                                          double *const *out)
{
    input pos = in[0], vel = in[1], mass = in[2], target = in[3];
    const double dt = number(in[4]), h = 0.5 * dt;
    const int64_t n = dims[0], steps = integer(in[5]);
    const size_t size = (size_t)(3 * n);
    double *x = malloc(size * sizeof *x), *v = malloc(size * sizeof *v);
    double *middles = malloc((size_t)steps * size * sizeof *middles);
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < 3; c++) {
            x[c * n + i] = pos[3 * i + c];
            v[c * n + i] = vel[3 * i + c];
        }
    for (int64_t t = 0; t < steps; t++) {
        double *middle = middles + (size_t)t * size;
        drift(x, v, h, middle, n);
        kick(middle, v, mass, n, dt);
        drift(middle, v, h, x, n);
    }

    double value = 0.0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < 3; c++) {
            const double r = x[c * n + i] - target[3 * i + c];
            value += r * r;
            x[c * n + i] = r;
            v[c * n + i] = 0.0;
        }
    double *gx = x, *gv = v;
    for (int64_t t = steps - 1; t >= 0; t--) {
        drift(gv, gx, h, gv, n);
        unkick(middles + (size_t)t * size, gx, gv, mass, n, dt);
        drift(gv, gx, h, gv, n);
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < 3; c++) {
            out[0][3 * i + c] = gx[c * n + i];
            out[1][3 * i + c] = gv[c * n + i];
        }
    free(x);
    free(v);
    free(middles);
    return 0.5 * value;
}
