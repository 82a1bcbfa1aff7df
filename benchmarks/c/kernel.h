/* What every C gradient shares: one calling convention for all of them, and the clock.
 *
 * in:   a pointer for each argument: float64 or int64 data, C-contiguous; a number is an array of 1
 * dims: the shapes of the array arguments, one after the other
 * out:  a pointer for each differentiated argument, in their order, of their shapes
 * The result is the value. Memory for the results is the caller's, as with `out=`; scratch memory
 * is allocated in each call, as the Numba versions do.
 *
 * Sums that Numba may reorder carry `omp simd reduction`, which says the same for that one loop.
 * With -DVECTOR_MATH such loops, and those without a sum, call glibc's vector functions, which are
 * right to 4 ulp; gcc itself would only do so under -ffast-math. Numba has no such thing. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef VECTOR_MATH
#define LANES __attribute__((simd("notinbranch")))
LANES double exp(double);
LANES double log(double);
LANES double erf(double);
LANES double tanh(double);
#endif

typedef const double *restrict input;
typedef double *restrict output;

double gradient(const void *const *in, const int64_t *dims, double *const *out);

/* Seconds taken by `repeats` calls. */
double time_gradient(const void *const *in, const int64_t *dims, double *const *out,
                     int64_t repeats)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int64_t i = 0; i < repeats; i++)
        gradient(in, dims, out);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

static inline double number(const void *p) { return *(const double *)p; }
static inline int64_t integer(const void *p) { return *(const int64_t *)p; }
