/* The gradient of kernels/gmm.py. */
#include "kernel.h"

double __attribute__((noinline)) gradient(const void *const *in, const int64_t *dims,
                                          double *const *out)
{
    input alpha = in[0], mu = in[1], q = in[2], l = in[3], x = in[4];
    const double gamma = number(in[5]);
    const int64_t m = integer(in[6]), k = dims[0], d = dims[2], n = dims[7];
    const int64_t below = d * (d - 1) / 2, entries = d * (d + 1) / 2, freedom = d + m + 1;
    output g_alpha = out[0], g_mu = out[1], g_q = out[2], g_l = out[3];
    double *scratch = calloc((size_t)((2 * entries + 4 * d + 2) * k), sizeof *scratch);
    double *restrict Q = scratch, *restrict g_Q = Q + entries * k;
    double *restrict means = g_Q + entries * k, *restrict away = means + d * k;
    double *restrict u = away + d * k, *restrict g_u = u + d * k;
    double *restrict offset = g_u + d * k, *restrict p = offset + k;

    double value = -0.25 * (double)(d * (d - 1)) * log(M_PI);
    for (int64_t j = 0; j < d; j++)
        value -= lgamma(0.5 * (double)(freedom - j));
    value = (double)k * (value + (double)(freedom * d) * log(gamma / sqrt(2.0)));
    for (int64_t c = 0; c < k; c++) {
        input lc = l + c * below;
        int64_t entry = 0;
        offset[c] = alpha[c];
        for (int64_t j = 0; j < d; j++) {
            const double diagonal = exp(q[c * d + j]);
            means[j * k + c] = mu[c * d + j];
            offset[c] += q[c * d + j];
            value += (double)m * q[c * d + j] - 0.5 * gamma * gamma * diagonal * diagonal;
            Q[(j * (j + 1) / 2 + j) * k + c] = diagonal;
            for (int64_t i = j + 1; i < d; i++, entry++) {
                Q[(i * (i + 1) / 2 + j) * k + c] = lc[entry];
                value -= 0.5 * gamma * gamma * lc[entry] * lc[entry];
            }
        }
        g_alpha[c] = 0.0;
    }

    for (int64_t point = 0; point < n; point++) {
        memset(p, 0, (size_t)k * sizeof *p);
        for (int64_t i = 0; i < d; i++) {
            const double xi = x[point * d + i];
            double *restrict row = u + i * k, *restrict here = away + i * k;
            input mean = means + i * k, diagonals = Q + (i * (i + 1) / 2 + i) * k;
            for (int64_t c = 0; c < k; c++) {
                here[c] = xi - mean[c];
                row[c] = diagonals[c] * here[c];
            }
            for (int64_t j = 0; j < i; j++) {
                input factors = Q + (i * (i + 1) / 2 + j) * k, other = away + j * k;
                for (int64_t c = 0; c < k; c++)
                    row[c] += factors[c] * other[c];
            }
            for (int64_t c = 0; c < k; c++)
                p[c] += row[c] * row[c];
        }
        double top = offset[0] - 0.5 * p[0], total = 0.0;
        for (int64_t c = 0; c < k; c++) {
            p[c] = offset[c] - 0.5 * p[c];
            top = p[c] > top ? p[c] : top;
        }
#pragma omp simd reduction(+ : total)
        for (int64_t c = 0; c < k; c++) {
            p[c] = exp(p[c] - top);
            total += p[c];
        }
        value += log(total) + top;
        const double scale = 1.0 / total;
        for (int64_t c = 0; c < k; c++) {
            p[c] *= scale;
            g_alpha[c] += p[c];
        }
        for (int64_t i = 0; i < d; i++) {
            double *restrict row = u + i * k, *restrict sums = g_u + i * k;
            for (int64_t c = 0; c < k; c++) {
                row[c] *= p[c];
                sums[c] += row[c];
            }
            for (int64_t j = 0; j <= i; j++) {
                double *restrict sum = g_Q + (i * (i + 1) / 2 + j) * k;
                input other = away + j * k;
                for (int64_t c = 0; c < k; c++)
                    sum[c] -= row[c] * other[c];
            }
        }
    }

    double top = alpha[0], total = 0.0;
    for (int64_t c = 0; c < k; c++)
        top = alpha[c] > top ? alpha[c] : top;
    for (int64_t c = 0; c < k; c++)
        total += exp(alpha[c] - top);
    value -= (double)n * (0.5 * (double)d * log(2.0 * M_PI) + log(total) + top);
    for (int64_t c = 0; c < k; c++) {
        int64_t entry = 0;
        for (int64_t j = 0; j < d; j++) {
            int64_t e = (j * (j + 1) / 2 + j) * k + c;
            g_q[c * d + j] = g_alpha[c] + (double)m + Q[e] * (g_Q[e] - gamma * gamma * Q[e]);
            double g_mean = Q[e] * g_u[j * k + c];
            for (int64_t i = j + 1; i < d; i++, entry++) {
                e = (i * (i + 1) / 2 + j) * k + c;
                g_l[c * below + entry] = g_Q[e] - gamma * gamma * Q[e];
                g_mean += Q[e] * g_u[i * k + c];
            }
            g_mu[c * d + j] = g_mean;
        }
        g_alpha[c] -= (double)n * exp(alpha[c] - top) / total;
    }
    free(scratch);
    return value;
}
