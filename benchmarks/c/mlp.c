/* The gradient of kernels/mlp.py. The matrix product is handed in, so that it is the very one that
 * Numba calls. */
#include "kernel.h"

typedef void (*product)(const char *, const char *, const int *, const int *, const int *,
                        const double *, const double *, const int *, const double *, const int *,
                        const double *, double *, const int *);
product dgemm;

/* C (m, n) = A (m, k) B (k, n) for row-major arrays; a letter T means that what is stored is the
 * transpose. Column-major BLAS reads row-major arrays as transposes, so it is given B first. */
static void multiply(char ta, char tb, int64_t m, int64_t n, int64_t k, const double *a,
                     const double *b, double *c)
{
    const int rows = (int)n, cols = (int)m, inner = (int)k;
    const int lda = tb == 'T' ? inner : rows, ldb = ta == 'T' ? cols : inner;
    const double one = 1.0, zero = 0.0;
    dgemm(&tb, &ta, &rows, &cols, &inner, &one, b, &lda, a, &ldb, &zero, c, &rows);
}

static void activate(double *h, const double *b, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            h[i * cols + j] = tanh(h[i * cols + j] + b[j]);
}

static void deactivate(output g, input h, output g_b, int64_t rows, int64_t cols)
{
    memset(g_b, 0, (size_t)cols * sizeof *g_b);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            g[i * cols + j] *= 1.0 - h[i * cols + j] * h[i * cols + j];
            g_b[j] += g[i * cols + j];
        }
}

double __attribute__((noinline)) gradient(const void *const *in, const int64_t *dims,
                                          double *const *out)
{
    const double *W1 = in[0], *b1 = in[1], *W2 = in[2], *b2 = in[3], *W3 = in[4], *b3 = in[5];
    const double *X = in[6], *Y = in[7];
    const int64_t inputs = dims[0], hidden = dims[1], outputs = dims[7], n = dims[9];
    double *h1 = malloc((size_t)(n * hidden) * sizeof *h1);
    double *h2 = malloc((size_t)(n * hidden) * sizeof *h2);
    double *g_h = malloc((size_t)(n * hidden) * sizeof *g_h);
    double *error = malloc((size_t)(n * outputs) * sizeof *error);
    multiply('N', 'N', n, hidden, inputs, X, W1, h1);
    activate(h1, b1, n, hidden);
    multiply('N', 'N', n, hidden, hidden, h1, W2, h2);
    activate(h2, b2, n, hidden);
    multiply('N', 'N', n, outputs, hidden, h2, W3, error);
    double value = 0.0;
    memset(out[5], 0, (size_t)outputs * sizeof(double));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < outputs; j++) {
            const double e = error[i * outputs + j] + b3[j] - Y[i * outputs + j];
            value += e * e;
            error[i * outputs + j] = e / (double)n;
            out[5][j] += e / (double)n;
        }
    multiply('T', 'N', hidden, outputs, n, h2, error, out[4]);
    multiply('N', 'T', n, hidden, outputs, error, W3, g_h);
    deactivate(g_h, h2, out[3], n, hidden);
    multiply('T', 'N', hidden, hidden, n, h1, g_h, out[2]);
    double *g_in = h2;
    multiply('N', 'T', n, hidden, hidden, g_h, W2, g_in);
    deactivate(g_in, h1, out[1], n, hidden);
    multiply('T', 'N', inputs, hidden, n, X, g_in, out[0]);
    free(h1);
    free(h2);
    free(g_h);
    free(error);
    return 0.5 * value / (double)n;
}
