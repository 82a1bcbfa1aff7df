// The descent of kernels/nested/descent.py, in N coordinates; f gives a value, g a gradient.
#pragma once
#include "eval.hpp"
#include <array>

template <int N> using Point = std::array<double, N>;

template <int N> double magnitude(const Point<N> &v) {
    double total = 0.0;
    for (double e : v)
        total += e * e;
    return std::sqrt(total);
}

template <int N, class Value, class Gradient>
Point<N> argmin(Value f, Gradient g, Point<N> x) {
    double fx = f(x), eta = 1e-5;
    Point<N> gx = g(x);
    int i = 0;
    while (true) {
        if (magnitude<N>(gx) <= 1e-5)
            return x;
        if (i == 10) {
            eta *= 2.0;
            i = 0;
            continue;
        }
        Point<N> y, step;
        for (int k = 0; k < N; k++) {
            y[k] = x[k] - eta * gx[k];
            step[k] = x[k] - y[k];
        }
        if (magnitude<N>(step) <= 1e-5)
            return x;
        const double fy = f(y);
        if (fy < fx) {
            x = y;
            fx = fy;
            gx = g(x);
            i++;
        } else {
            eta /= 2.0;
            i = 0;
        }
    }
}
