// What every derivative by hand shares: one calling convention, and the clock.
//
// in:   a pointer for each argument: float64 or int64 data, C-contiguous; a number is an array of 1
// dims: the shapes of the array arguments, one after the other
// out:  a pointer for each result, float64 or int64
//
// The results are new memory in each call, as jitad's are. Flags are those of GradBench: -O3
// -march=native, no -ffast-math; so sums that shall run in lanes are written that way.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

using Input = const double *__restrict;
using Output = double *__restrict;
using Ints = const int64_t *__restrict;

extern "C" void derivative(const void *const *in, const int64_t *dims, void *const *out);

// Seconds of processor time that `repeats` calls take; the results of the last are in `out`.
extern "C" double time_derivative(const void *const *in, const int64_t *dims, void *const *out,
                                  const int64_t *bytes, int64_t results, int64_t repeats) {
    std::vector<void *> fresh(results);
    timespec begin, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    for (int64_t i = 0; i < repeats; i++) {
        for (int64_t k = 0; k < results; k++)
            fresh[k] = std::malloc(bytes[k]);
        derivative(in, dims, fresh.data());
        if (i + 1 == repeats)
            for (int64_t k = 0; k < results; k++)
                std::memcpy(out[k], fresh[k], bytes[k]);
        for (int64_t k = 0; k < results; k++)
            std::free(fresh[k]);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    return double(end.tv_sec - begin.tv_sec) + 1e-9 * double(end.tv_nsec - begin.tv_nsec);
}

inline Input numbers(const void *p) { return static_cast<Input>(p); }
inline double number(const void *p) { return *static_cast<const double *>(p); }
inline int64_t integer(const void *p) { return *static_cast<const int64_t *>(p); }
