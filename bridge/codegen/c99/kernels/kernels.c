/* The functions that operations are made of. WIDTH is the number of columns of a block, and @ ends a name that depends on it. */

static void zero(dgm_real *y, int n)
{
    for (int i = 0; i < n; i++)
        y[i] = 0;
}

static void copy(dgm_real *y, const dgm_real *x, int n)
{
    for (int i = 0; i < n; i++)
        y[i] = x[i];
}

/* y += s x */
static void add(dgm_real *y, const dgm_real *x, dgm_real s, int n)
{
    for (int i = 0; i < n; i++)
        y[i] += s * x[i];
}

/* y = s x */
static void scale(dgm_real *y, const dgm_real *x, dgm_real s, int n)
{
    for (int i = 0; i < n; i++)
        y[i] = s * x[i];
}

/* a column in all columns of a block */
static void spread@(dgm_real *y, const dgm_real *x, int rows)
{
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < WIDTH; j++)
            y[r * WIDTH + j] = x[r];
}

/* a block of rows that lie stride apart */
static void load@(dgm_real *y, const dgm_real *x, int rows, int stride)
{
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < WIDTH; j++)
            y[r * WIDTH + j] = x[r * stride + j];
}

static void store@(dgm_real *y, const dgm_real *x, int rows, int stride)
{
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < WIDTH; j++)
            y[r * stride + j] = x[r * WIDTH + j];
}

/* y += m x, of one row whose products cancel: with the errors of the additions (Knuth's two-sum) */
static void compensated@(dgm_real *y, const dgm_real *m, const dgm_real *x, int n)
{
    for (int j = 0; j < WIDTH; j++) {
        dgm_real s = 0, e = 0;
        for (int i = 0; i < n; i++) {
            const dgm_real p = m[i] * x[i * WIDTH + j];
            const dgm_real t = s + p, z = t - s;
            e += (s - (t - z)) + (p - z);
            s = t;
        }
        y[j] += s + e;
    }
}

/* y += m x, of n numbers of m, each with its row and column */
static void sparse@(dgm_real *y, const dgm_real *x, const unsigned short *at, const dgm_real *m, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < WIDTH; j++)
            y[at[2 * i] * WIDTH + j] += m[i] * x[at[2 * i + 1] * WIDTH + j];
}

/* the same, where all numbers are s */
static void picked@(dgm_real *y, const dgm_real *x, const unsigned short *at, dgm_real s, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < WIDTH; j++)
            y[at[2 * i] * WIDTH + j] += s * x[at[2 * i + 1] * WIDTH + j];
}

/* y = a b, row by row */
static void product(dgm_real *y, const dgm_real *a, const dgm_real *b, int n)
{
    for (int i = 0; i < n; i++)
        y[i] = a[i] * b[i];
}

/* y += a b, row by row */
static void add_product(dgm_real *y, const dgm_real *a, const dgm_real *b, int n)
{
    for (int i = 0; i < n; i++)
        y[i] += a[i] * b[i];
}

/* y += s a b of n terms, each with its row, that of a and that of b; s is null where all are 1 */
static void products@(dgm_real *y, const dgm_real *a, const dgm_real *b, const unsigned short *at, const dgm_real *s, int n)
{
    for (int i = 0; i < n; i++, at += 3) {
        const dgm_real f = s ? s[i] : 1;
        for (int j = 0; j < WIDTH; j++)
            y[at[0] * WIDTH + j] += f * a[at[1] * WIDTH + j] * b[at[2] * WIDTH + j];
    }
}

/* y += w x, with a weight for every row */
static void weighed@(dgm_real *y, const dgm_real *x, const dgm_real *w, int rows)
{
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < WIDTH; j++)
            y[r * WIDTH + j] += w[r] * x[r * WIDTH + j];
}

/* the same with a weight for every row and column; rows of w lie stride apart */
static void weighed_columns@(dgm_real *y, const dgm_real *x, const dgm_real *w, int rows, int stride)
{
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < WIDTH; j++)
            y[r * WIDTH + j] += w[r * stride + j] * x[r * WIDTH + j];
}

static void rows@(dgm_real *y, const dgm_real *x, int n, int stride)
{
    for (int r = 0; r < n; r++)
        for (int j = 0; j < WIDTH; j++)
            y[r * WIDTH + j] = x[r * stride * WIDTH + j];
}

/* y(:,j) += m x(:,i) of n numbers of m, each with its j and i; m is null where all are 1 */
static void sum_columns(dgm_real *y, int to, const dgm_real *x, int from, int rows, const unsigned short *at, const dgm_real *m, int n)
{
    for (int i = 0; i < n; i++) {
        const dgm_real w = m ? m[i] : 1;
        for (int r = 0; r < rows; r++)
            y[r * to + at[2 * i]] += w * x[r * from + at[2 * i + 1]];
    }
}

/* y = m x, with a matrix for every column */
static void local@(dgm_real *y, const dgm_real *m, const dgm_real *x, int rows, int cols)
{
    for (int j = 0; j < WIDTH; j++)
        for (int r = 0; r < rows; r++) {
            dgm_real s = 0;
            for (int k = 0; k < cols; k++)
                s += *m++ * x[k * WIDTH + j];
            y[r * WIDTH + j] = s;
        }
}

static void cos_sin(dgm_real *y, const dgm_real *x, int n)
{
    for (int i = 0; i < n; i++) {
        y[i] = DGM_COS(x[i]);
        y[n + i] = DGM_SIN(x[i]);
    }
}

static void cos_sin_tangent(dgm_real *dy, const dgm_real *dx, const dgm_real *y, int n)
{
    for (int i = 0; i < n; i++) {
        dy[i] = -y[n + i] * dx[i];
        dy[n + i] = y[i] * dx[i];
    }
}

/* NaN stays NaN; bounds that are null are none */
static void clamp@(dgm_real *y, const dgm_real *x, const dgm_real *low, const dgm_real *high, int rows)
{
    for (int i = 0; i < rows * WIDTH; i++) {
        y[i] = x[i];
        if (low && x[i] < low[i / WIDTH])
            y[i] = low[i / WIDTH];
        else if (high && x[i] > high[i / WIDTH])
            y[i] = high[i / WIDTH];
    }
}

static void clamp_tangent@(dgm_real *dy, const dgm_real *dx, const dgm_real *x, const dgm_real *low, const dgm_real *high, int rows)
{
    for (int i = 0; i < rows * WIDTH; i++) {
        const int outside = (low && x[i] < low[i / WIDTH]) || (high && x[i] > high[i / WIDTH]);
        dy[i] = outside ? 0 : dx[i];
    }
}

static void distances@(dgm_real *y, const dgm_real *x, const dgm_real *points, int rows, int coordinates)
{
    for (int r = 0; r < rows; r++, points += coordinates)
        for (int j = 0; j < WIDTH; j++) {
            dgm_real s = 0;
            for (int k = 0; k < coordinates; k++) {
                const dgm_real d = x[k * WIDTH + j] - points[k];
                s += d * d;
            }
            y[r * WIDTH + j] = s;
        }
}

static void distances_tangent@(dgm_real *dy, const dgm_real *dx, const dgm_real *x, const dgm_real *points, int rows, int coordinates)
{
    for (int r = 0; r < rows; r++, points += coordinates)
        for (int j = 0; j < WIDTH; j++) {
            dgm_real s = 0;
            for (int k = 0; k < coordinates; k++)
                s += (x[k * WIDTH + j] - points[k]) * dx[k * WIDTH + j];
            dy[r * WIDTH + j] = 2 * s;
        }
}

static void largest(dgm_real *y, const dgm_real *x, int n, int groups)
{
    for (int i = 0; i < n; i++) {
        y[i] = x[i];
        for (int g = 1; g < groups; g++)
            if (x[g * n + i] > y[i] || x[g * n + i] != x[g * n + i])
                y[i] = x[g * n + i];
    }
}

static void largest_tangent(dgm_real *dy, const dgm_real *dx, const dgm_real *x, const dgm_real *y, int n, int groups)
{
    for (int i = 0; i < n; i++) {
        int g = 0;
        while (g < groups - 1 && x[g * n + i] < y[i])
            g++;
        dy[i] = dx[g * n + i];
    }
}

/* whether step i does anything, by the number of steps */
static int more@(const dgm_real *count, int i)
{
    for (int j = 0; j < WIDTH; j++)
        if (count[j] >= (dgm_real)(i + 1))
            return 1;
    return i == 0;
}

/* rows of a history, of k states less x and p inputs */
static void differences(dgm_real *y, const dgm_real *history, const dgm_real *x, int rows, int k, int p)
{
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < k + p; i++)
            *y++ = *history++ - (i < k ? x[i] : 0);
}

static void transposed(dgm_real *y, const dgm_real *x, int rows, int cols)
{
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            y[r * cols + c] = x[c * rows + r];
}

static void write_rows(dgm_real *to, const dgm_real *y, int k, int t)
{
    for (int r = 0; r < k; r++)
        for (int c = 0; c < t; c++)
            to[c * k + r] = y[r * t + c];
}

static void write_mean(dgm_real *mean, const dgm_real *y, const dgm_real *start, int k, int t)
{
    for (int r = 0; r < k; r++)
        for (int c = 0; c < t; c++)
            mean[c * k + r] = start[r] + y[r * t + c];
}

static void write_columns(dgm_real *to, const dgm_real *y, int k, int t, int columns)
{
    for (int r = 0; r < k; r++)
        for (int c = 0; c < t; c++)
            to[(c * k + r) * columns] = y[r * t + c];
}

static void clear_columns(dgm_real *to, int n, int columns)
{
    for (int i = 0; i < n; i++)
        to[i * columns] = 0;
}
