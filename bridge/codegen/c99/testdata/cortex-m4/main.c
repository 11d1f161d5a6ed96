/* Answers the queries of queries.h and prints, in hexadecimal: for each what dgm_predict returned, the ticks that it took,
 * score, means and standard deviations; then the ticks of the Jacobians of the last one. */
#include <string.h>

#include "board.h"
#include "dgm_model.h"
#include "queries.h"

static dgm_real mean[DGM_T * DGM_K], std[DGM_T * DGM_K];
#ifndef DGM_NO_JACOBIAN
static dgm_real by_x[DGM_T * DGM_K * DGM_K];
#endif

static void print_reals(const dgm_real *v, int n)
{
    for (int i = 0; i < n; i++) {
        unsigned bits;
        memcpy(&bits, v + i, sizeof bits);
        print_number(bits);
    }
}

int main(void)
{
    for (int i = 0; i < QUERIES; i++) {
        const struct query *q = &queries[i];
        const dgm_real *history = q->flags[0] ? q->history : 0, *u = q->flags[1] ? q->u : 0, *plan = q->flags[2] ? q->plan : 0;
        start_clock();
        const int code = dgm_predict(q->x, history, u, plan, mean, std);
        const unsigned took = ticks();
        const dgm_real score = dgm_ood();
        print_number((unsigned)code);
        print_number(wrapped() ? 0 : took);
        print_reals(&score, 1);
        print_reals(mean, DGM_T * DGM_K);
        print_reals(std, DGM_T * DGM_K);
        print("\n");
#ifndef DGM_NO_JACOBIAN
        if (i == QUERIES - 1) {
            start_clock();
            const int failed = dgm_jacobian(q->x, history, u, plan, by_x, 0);
            const unsigned jacobian = ticks();
            print_number((unsigned)failed);
            print_number(wrapped() ? 0 : jacobian);
            print("\n");
        }
#endif
    }
    return 0;
}
