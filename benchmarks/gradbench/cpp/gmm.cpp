// The gradient of kernels/gmm.py: components run in the inner loops, all is turned round for that.
#include "eval.hpp"

void derivative(const void *const *in, const int64_t *dims, void *const *out) {
    Input alpha = numbers(in[0]), mu = numbers(in[1]), q = numbers(in[2]), l = numbers(in[3]);
    Input x = numbers(in[4]);
    const double gamma = number(in[5]);
    const int64_t m = integer(in[6]), k = dims[0], d = dims[2], n = dims[7];
    const int64_t below = d * (d - 1) / 2, entries = d * (d + 1) / 2;
    Output g_alpha = static_cast<Output>(out[0]), g_mu = static_cast<Output>(out[1]);
    Output g_q = static_cast<Output>(out[2]), g_l = static_cast<Output>(out[3]);
    std::vector<double> scratch((2 * entries + 4 * d + 2) * k, 0.0);
    Output Q = scratch.data(), g_Q = Q + entries * k;
    Output means = g_Q + entries * k, away = means + d * k;
    Output u = away + d * k, g_u = u + d * k;
    Output offset = g_u + d * k, p = offset + k;

    for (int64_t c = 0; c < k; c++) {
        Input lc = l + c * below;
        int64_t entry = 0;
        offset[c] = alpha[c];
        for (int64_t j = 0; j < d; j++) {
            const double diagonal = std::exp(q[c * d + j]);
            means[j * k + c] = mu[c * d + j];
            offset[c] += q[c * d + j];
            Q[(j * (j + 1) / 2 + j) * k + c] = diagonal;
            for (int64_t i = j + 1; i < d; i++, entry++)
                Q[(i * (i + 1) / 2 + j) * k + c] = lc[entry];
        }
        g_alpha[c] = 0.0;
    }

    for (int64_t point = 0; point < n; point++) {
        std::fill(p, p + k, 0.0);
        for (int64_t i = 0; i < d; i++) {
            const double xi = x[point * d + i];
            Output row = u + i * k, here = away + i * k;
            Input mean = means + i * k, diagonals = Q + (i * (i + 1) / 2 + i) * k;
            for (int64_t c = 0; c < k; c++) {
                here[c] = xi - mean[c];
                row[c] = diagonals[c] * here[c];
            }
            for (int64_t j = 0; j < i; j++) {
                Input factors = Q + (i * (i + 1) / 2 + j) * k, other = away + j * k;
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
        for (int64_t c = 0; c < k; c++) {
            p[c] = std::exp(p[c] - top);
            total += p[c];
        }
        const double scale = 1.0 / total;
        for (int64_t c = 0; c < k; c++) {
            p[c] *= scale;
            g_alpha[c] += p[c];
        }
        for (int64_t i = 0; i < d; i++) {
            Output row = u + i * k, sums = g_u + i * k;
            for (int64_t c = 0; c < k; c++) {
                row[c] *= p[c];
                sums[c] += row[c];
            }
            for (int64_t j = 0; j <= i; j++) {
                Output sum = g_Q + (i * (i + 1) / 2 + j) * k;
                Input other = away + j * k;
                for (int64_t c = 0; c < k; c++)
                    sum[c] -= row[c] * other[c];
            }
        }
    }

    double top = alpha[0], total = 0.0;
    for (int64_t c = 0; c < k; c++)
        top = alpha[c] > top ? alpha[c] : top;
    for (int64_t c = 0; c < k; c++)
        total += std::exp(alpha[c] - top);
    for (int64_t c = 0; c < k; c++) {
        int64_t entry = 0;
        for (int64_t j = 0; j < d; j++) {
            int64_t e = (j * (j + 1) / 2 + j) * k + c;
            g_q[c * d + j] = g_alpha[c] + double(m) + Q[e] * (g_Q[e] - gamma * gamma * Q[e]);
            double g_mean = Q[e] * g_u[j * k + c];
            for (int64_t i = j + 1; i < d; i++, entry++) {
                e = (i * (i + 1) / 2 + j) * k + c;
                g_l[c * below + entry] = g_Q[e] - gamma * gamma * Q[e];
                g_mean += Q[e] * g_u[i * k + c];
            }
            g_mu[c * d + j] = g_mean;
        }
        g_alpha[c] -= double(n) * std::exp(alpha[c] - top) / total;
    }
}
