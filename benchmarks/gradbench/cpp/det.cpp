// The gradient of kernels/gradbench/det.py: the expansion hands its sensitivity down as it goes.
#include "eval.hpp"

namespace {
struct Expansion {
    Input a;
    Output g;
    const int64_t ell;
    std::vector<int64_t> after;

    double minor(int64_t row, double seed) {
        if (row == ell - 1) {
            const int64_t at = row * ell + after[ell];
            g[at] += seed;
            return a[at];
        }
        double total = 0.0, sign = 1.0;
        for (int64_t before = ell; after[before] != ell;) {
            const int64_t column = after[before], at = row * ell + column;
            after[before] = after[column];
            const double signed_entry = sign * a[at];
            const double below = minor(row + 1, signed_entry * seed);
            g[at] += sign * below * seed;
            total += signed_entry * below;
            after[before] = column;
            before = column;
            sign = -sign;
        }
        return total;
    }
};
} // namespace

void derivative(const void *const *in, const int64_t *, void *const *out) {
    const int64_t ell = integer(in[1]);
    Output g = static_cast<Output>(out[0]);
    std::fill(g, g + ell * ell, 0.0);
    Expansion e{numbers(in[0]), g, ell, std::vector<int64_t>(ell + 1)};
    for (int64_t j = 0; j < ell; j++)
        e.after[j] = j + 1;
    e.after[ell] = 0;
    e.minor(0, 1.0);
}
