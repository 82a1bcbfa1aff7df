/* The gradient of kernels/black_scholes.py. */
#include "kernel.h"

double __attribute__((noinline)) gradient(const void *const *in, const int64_t *dims,
                                          double *const *out)
{
    input spot = in[0], strike = in[1], vol = in[2], maturity = in[3], weight = in[4];
    const double rate = number(in[5]);
    output delta = out[0], vega = out[1];
    const int64_t n = dims[0];
    const double half_root = sqrt(0.5), density = 1.0 / sqrt(2.0 * M_PI);
    double value = 0.0, rho = 0.0;
#pragma omp simd reduction(+ : value, rho)
    for (int64_t i = 0; i < n; i++) {
        const double root = sqrt(maturity[i]), spread = vol[i] * root;
        const double drift = (rate + 0.5 * vol[i] * vol[i]) * maturity[i];
        const double d1 = (log(spot[i] / strike[i]) + drift) / spread, d2 = d1 - spread;
        const double n1 = 0.5 + 0.5 * erf(d1 * half_root), n2 = 0.5 + 0.5 * erf(d2 * half_root);
        const double cash = strike[i] * exp(-rate * maturity[i]) * n2;
        value += weight[i] * (spot[i] * n1 - cash);
        delta[i] = weight[i] * n1;
        vega[i] = weight[i] * spot[i] * root * density * exp(-0.5 * d1 * d1);
        rho += weight[i] * maturity[i] * cash;
    }
    *out[2] = rho;
    return value;
}
