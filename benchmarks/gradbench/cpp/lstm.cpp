// The gradient of kernels/gradbench/lstm.py: gates and memories of each step are kept.
#include "eval.hpp"

namespace {
double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

struct Kept { // of one bit of one layer at one step
    double v, hid, cell, forget, take, give, change, tanh_cell;
};
} // namespace

void derivative(const void *const *in, const int64_t *dims, void *const *out) {
    Input main = numbers(in[0]), extra = numbers(in[1]), state = numbers(in[2]);
    Input sequence = numbers(in[3]);
    const int64_t layers = dims[0] / 2, b = dims[3], characters = dims[6], w = 4 * b;
    Output g_main = static_cast<Output>(out[0]), g_extra = static_cast<Output>(out[1]);
    std::fill(g_main, g_main + 2 * layers * w, 0.0);
    std::fill(g_extra, g_extra + 3 * b, 0.0);
    std::vector<double> now(state, state + 2 * layers * b);
    std::vector<Kept> kept((characters - 1) * layers * b);
    std::vector<double> last((characters - 1) * b), softmax((characters - 1) * b), v(b);
    for (int64_t t = 0; t + 1 < characters; t++) {
        for (int64_t j = 0; j < b; j++)
            v[j] = sequence[t * b + j] * extra[j];
        for (int64_t i = 0; i < layers; i++) {
            Input weight = main + 2 * i * w, bias = weight + w;
            double *hid = &now[2 * i * b], *cell = hid + b;
            for (int64_t j = 0; j < b; j++) {
                Kept &k = kept[(t * layers + i) * b + j];
                k.v = v[j];
                k.hid = hid[j];
                k.cell = cell[j];
                k.forget = sigmoid(v[j] * weight[j] + bias[j]);
                k.take = sigmoid(hid[j] * weight[b + j] + bias[b + j]);
                k.give = sigmoid(v[j] * weight[2 * b + j] + bias[2 * b + j]);
                k.change = std::tanh(hid[j] * weight[3 * b + j] + bias[3 * b + j]);
                cell[j] = cell[j] * k.forget + k.take * k.change;
                k.tanh_cell = std::tanh(cell[j]);
                v[j] = hid[j] = k.give * k.tanh_cell;
            }
        }
        double total = 2.0;
        for (int64_t j = 0; j < b; j++) {
            last[t * b + j] = v[j];
            softmax[t * b + j] = std::exp(v[j] * extra[b + j] + extra[2 * b + j]);
            total += softmax[t * b + j];
        }
        for (int64_t j = 0; j < b; j++)
            softmax[t * b + j] /= total;
    }
    const double seed = -1.0 / double((characters - 1) * b);
    std::vector<double> bars(2 * layers * b, 0.0), v_bar(b);
    for (int64_t t = characters - 2; t >= 0; t--) {
        Input wanted = sequence + (t + 1) * b;
        double count = 0.0;
        for (int64_t j = 0; j < b; j++)
            count += wanted[j];
        for (int64_t j = 0; j < b; j++) {
            const double y_bar = seed * (wanted[j] - count * softmax[t * b + j]);
            g_extra[b + j] += y_bar * last[t * b + j];
            g_extra[2 * b + j] += y_bar;
            v_bar[j] = y_bar * extra[b + j];
        }
        for (int64_t i = layers - 1; i >= 0; i--) {
            Input weight = main + 2 * i * w;
            Output g_weight = g_main + 2 * i * w, g_bias = g_weight + w;
            double *hid_bar = &bars[2 * i * b], *cell_bar = hid_bar + b;
            for (int64_t j = 0; j < b; j++) {
                const Kept &k = kept[(t * layers + i) * b + j];
                const double h = hid_bar[j] + v_bar[j];
                const double c = cell_bar[j] + h * k.give * (1.0 - k.tanh_cell * k.tanh_cell);
                const double forget = c * k.cell * k.forget * (1.0 - k.forget);
                const double take = c * k.change * k.take * (1.0 - k.take);
                const double give = h * k.tanh_cell * k.give * (1.0 - k.give);
                const double change = c * k.take * (1.0 - k.change * k.change);
                g_weight[j] += forget * k.v;
                g_weight[b + j] += take * k.hid;
                g_weight[2 * b + j] += give * k.v;
                g_weight[3 * b + j] += change * k.hid;
                g_bias[j] += forget;
                g_bias[b + j] += take;
                g_bias[2 * b + j] += give;
                g_bias[3 * b + j] += change;
                v_bar[j] = forget * weight[j] + give * weight[2 * b + j];
                hid_bar[j] = take * weight[b + j] + change * weight[3 * b + j];
                cell_bar[j] = c * k.forget;
            }
        }
        for (int64_t j = 0; j < b; j++)
            g_extra[j] += v_bar[j] * sequence[t * b + j];
    }
}
