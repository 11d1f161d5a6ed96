/* planner: chooses an input over the horizon by the cross-entropy method on predicted distributions.
 *
 *   go build -buildmode=c-shared -o libdgm.so ./cmd/libdgm      (or the package libdgm)
 *   cc -O2 -I cmd/libdgm examples/planner-c/planner.c -o planner -L. -ldgm -lm -Wl,-rpath,.
 *   ./planner flight.dgm CHANNEL TARGET [STATE...]
 *
 * It searches for the plan after which CHANNEL is nearest to TARGET at the end of the horizon, with error and uncertainty
 * counted alike, and prints the input to apply now with what it predicts, beside that of holding the mean input. STATE are the
 * K states, 0 without. A real planner calls plan() with each new state. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dgm.h"

enum { PLANS = 256, BEST = 16, ROUNDS = 8, ROWS = 10 };

static char error[256];

static void check(int code)
{
	if (code != DGM_OK) {
		fprintf(stderr, "planner: %s\n", error);
		exit(1);
	}
}

static double *numbers(size_t n)
{
	double *x = calloc(n ? n : 1, sizeof *x);
	if (!x) {
		fprintf(stderr, "planner: no memory for %zu numbers\n", n);
		exit(1);
	}
	return x;
}

static double normal(void) /* by Box and Muller */
{
	double a = (rand() + 1.0) / (RAND_MAX + 1.0), b = rand() / (RAND_MAX + 1.0);
	return sqrt(-2 * log(a)) * cos(6.283185307179586 * b);
}

typedef struct {
	dgm_model model;
	dgm_info info;
	size_t channel;
	double target;
	double *state;      /* K */
	double *mean, *std; /* PLANS×T×K: the answer */
	double *plans;      /* PLANS×ROWS×P */
} planner;

/* predict answers n of the plans; without any, the mean input is held. */
static void predict(planner *p, size_t n)
{
	dgm_query q = {0};
	dgm_answer a = {0};
	size_t answers = n ? n : 1;
	q.size = sizeof q;
	q.want = DGM_MEAN | DGM_STD;
	q.states = p->state;
	q.states_n = p->info.states;
	if (n) {
		q.plans = p->plans;
		q.plans_n = n * ROWS * p->info.inputs;
		q.plan_rows = ROWS;
	}
	a.size = sizeof a;
	a.mean = p->mean;
	a.std = p->std;
	a.mean_n = a.std_n = answers * p->info.times * p->info.states;
	check(dgm_predict(p->model, &q, &a, error, sizeof error));
}

/* cost is the expected square of the distance to the target at the end: error² + variance. */
static double cost(const planner *p, size_t plan)
{
	size_t last = ((plan + 1) * p->info.times - 1) * p->info.states + p->channel;
	double e = p->mean[last] - p->target, s = p->std[last];
	return e * e + s * s;
}

/* plan leaves the best plan in the first ROWS×P numbers of p->plans. low and high bound each input (P). */
static void plan(planner *p, const double *low, const double *high)
{
	size_t P = p->info.inputs, n = ROWS * P;
	double *centre = numbers(n), *spread = numbers(n), *kept = numbers(BEST * n), costs[PLANS];
	for (size_t i = 0; i < n; i++) {
		centre[i] = (low[i % P] + high[i % P]) / 2;
		spread[i] = (high[i % P] - low[i % P]) / 3;
	}
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t j = 0; j < PLANS; j++)
			for (size_t i = 0; i < n; i++) {
				double u = j || !round ? centre[i] + spread[i] * normal() : centre[i];
				p->plans[j * n + i] = fmin(fmax(u, low[i % P]), high[i % P]);
			}
		predict(p, PLANS);
		for (size_t j = 0; j < PLANS; j++)
			costs[j] = cost(p, j);
		for (size_t b = 0; b < BEST; b++) { /* the best so many, one after the other */
			size_t best = 0;
			for (size_t j = 1; j < PLANS; j++)
				if (costs[j] < costs[best])
					best = j;
			memcpy(kept + b * n, p->plans + best * n, n * sizeof *kept);
			costs[best] = INFINITY;
		}
		for (size_t i = 0; i < n; i++) {
			double sum = 0, squares = 0;
			for (size_t b = 0; b < BEST; b++)
				sum += kept[b * n + i];
			centre[i] = sum / BEST;
			for (size_t b = 0; b < BEST; b++)
				squares += pow(kept[b * n + i] - centre[i], 2);
			spread[i] = sqrt(squares / BEST) + 1e-9;
		}
	}
	memcpy(p->plans, kept, n * sizeof *kept);
	free(centre);
	free(spread);
	free(kept);
}

static void show(const planner *p, const char *what, const char *name, const char *unit)
{
	size_t last = (p->info.times - 1) * p->info.states + p->channel;
	printf("%s: %s in %g s %.4f ± %.4f %s (95 %%)\n", what, name, p->info.horizon, p->mean[last], DGM_HALF95 * p->std[last], unit);
}

int main(int argc, char **argv)
{
	char name[64], unit[32];
	planner p = {0};
	if (argc < 4) {
		fprintf(stderr, "usage: planner MODEL CHANNEL TARGET [STATE...]\n");
		return 2;
	}
	check(dgm_open(argv[1], &p.model, error, sizeof error));
	p.info.size = sizeof p.info;
	check(dgm_get_info(p.model, &p.info, error, sizeof error));
	size_t K = p.info.states, P = p.info.inputs;
	if (P == 0 || (argc > 4 && (size_t)argc != 4 + K)) {
		fprintf(stderr, "planner: the model has %zu states and %zu inputs: give a model with inputs, and all states or none\n", K, P);
		return 2;
	}
	for (p.channel = 0; p.channel < K; p.channel++) {
		check(dgm_get_channel(p.model, p.channel, name, sizeof name, unit, sizeof unit, error, sizeof error));
		if (strcmp(name, argv[2]) == 0)
			break;
	}
	if (p.channel == K) {
		fprintf(stderr, "planner: the model has no state %s\n", argv[2]);
		return 2;
	}
	p.target = atof(argv[3]);
	p.state = numbers(K);
	for (size_t k = 0; k < K && argc > 4; k++)
		p.state[k] = atof(argv[4 + k]);
	p.mean = numbers(PLANS * p.info.times * K);
	p.std = numbers(PLANS * p.info.times * K);
	p.plans = numbers(PLANS * ROWS * P);

	predict(&p, 0);
	show(&p, "mean input held", name, unit);
	double *low = numbers(P), *high = numbers(P);
	for (size_t i = 0; i < P; i++) { /* limits of the actuators; put your own here */
		low[i] = -1;
		high[i] = 1;
	}
	plan(&p, low, high);
	predict(&p, 1);
	show(&p, "planned", name, unit);
	for (size_t i = 0; i < P; i++) {
		check(dgm_get_channel(p.model, K + i, name, sizeof name, unit, sizeof unit, error, sizeof error));
		printf("apply now: %s = %.4f %s\n", name, p.plans[i], unit);
	}
	double *all[] = {p.state, p.mean, p.std, p.plans, low, high};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]);
	return dgm_close(p.model, error, sizeof error);
}
