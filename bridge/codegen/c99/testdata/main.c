/* Answers queries of a test: reads flags (history, u, plan) and the arrays that these announce, writes what
 * dgm_predict and dgm_jacobian return and compute. Everything is binary. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dgm_model.h"

#define SIZE(n) ((n) > 0 ? (n) : 1)

static dgm_real x[DGM_K], history[SIZE(DGM_HISTORY_ROWS * (DGM_K + DGM_P))], u[SIZE(DGM_P)], plan[SIZE(DGM_PLAN_ROWS * DGM_P)];
static dgm_real mean[DGM_T * DGM_K], std[DGM_T * DGM_K], by_x[DGM_T * DGM_K * DGM_K];
static dgm_real by_input[SIZE(DGM_T * DGM_K * SIZE(DGM_PLAN_ROWS) * DGM_P)];

static void get(void *to, int n)
{
    if (fread(to, sizeof(dgm_real), (size_t)n, stdin) != (size_t)n)
        exit(1);
}

static void put(const void *from, int n)
{
    fwrite(from, sizeof(dgm_real), (size_t)n, stdout);
}

int main(int argc, char **argv)
{
    int flags[4];
    while (fread(flags, sizeof flags, 1, stdin) == 1) {
        get(x, DGM_K);
        if (flags[0])
            get(history, DGM_HISTORY_ROWS * (DGM_K + DGM_P));
        if (flags[1])
            get(u, DGM_P);
        if (flags[2])
            get(plan, DGM_PLAN_ROWS * DGM_P);
        const dgm_real *h = flags[0] ? history : 0, *v = flags[1] ? u : 0, *p = flags[2] ? plan : 0;
        if (argc > 1) { /* times the predictions, and the Jacobians */
            const int n = atoi(argv[1]);
            for (int what = 0; what < 2; what++) {
                struct timespec from, to;
                clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
                for (int i = 0; i < n; i++) {
                    if (what == 0)
                        dgm_predict(x, h, v, p, mean, std);
                    else
                        dgm_jacobian(x, h, v, p, by_x, by_input);
                }
                clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
                printf("%.1f\n", (double)(to.tv_sec - from.tv_sec) * 1e6 / n + (double)(to.tv_nsec - from.tv_nsec) / 1e3 / n);
            }
            continue;
        }
        int code[2];
        memset(by_input, 0, sizeof by_input);
        code[0] = dgm_predict(x, h, v, p, mean, std);
        const dgm_real score = dgm_ood();
        code[1] = dgm_jacobian(x, h, v, p, by_x, DGM_P > 0 ? by_input : 0);
        fwrite(code, sizeof code, 1, stdout);
        put(&score, 1);
        put(mean, DGM_T * DGM_K);
        put(std, DGM_T * DGM_K);
        put(by_x, DGM_T * DGM_K * DGM_K);
        put(by_input, (int)(sizeof by_input / sizeof *by_input));
    }
    return 0;
}
