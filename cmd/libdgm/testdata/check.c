/* check MODEL: calls every function of dgm.h in every way that may be right or wrong, and
 * writes the predictions that the test compares. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dgm.h"

enum { PLANS = 64, ROWS = 5, THREADS = 8, CALLS = 40, SAMPLES = 3 };

static char error[256];

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "line %d: %s; last error: %s\n", __LINE__, #condition, error); \
			exit(1); \
		} \
	} while (0)

static double *numbers(size_t n)
{
	double *x = calloc(n ? n : 1, sizeof *x);
	CHECK(x != NULL);
	return x;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct {
	const char *path;
	dgm_model model;
	dgm_info info;
	dgm_query query;
	dgm_answer answer;
	size_t size; /* T×K */
} setup;

/* prepare fills a query of n plans and the memory for its answer. */
static void prepare(setup *s, size_t n, uint64_t want)
{
	const dgm_info *m = &s->info;
	size_t K = m->states, i;
	double *states = numbers(K), *plans = numbers(n * ROWS * m->inputs), *history = numbers(m->history_rows * (K + m->inputs));
	for (i = 0; i < K; i++)
		states[i] = 0.1 * (double)(i + 1);
	for (i = 0; i < n * ROWS * m->inputs; i++)
		plans[i] = sin(0.3 * (double)i);
	s->size = m->times * K;
	memset(&s->query, 0, sizeof s->query);
	memset(&s->answer, 0, sizeof s->answer);
	s->query.size = sizeof s->query;
	s->query.want = want;
	s->query.states = states;
	s->query.states_n = K;
	if (m->inputs) {
		s->query.plans = plans;
		s->query.plans_n = n * ROWS * m->inputs;
		s->query.plan_rows = ROWS;
	} else {
		free(plans);
	}
	if (m->history_rows) {
		s->query.history = history;
		s->query.history_n = m->history_rows * (K + m->inputs);
		s->query.history_rows = m->history_rows;
	} else {
		free(history);
	}
	s->query.workers = 1;
	s->answer.size = sizeof s->answer;
	s->answer.mean = numbers(s->answer.mean_n = n * s->size);
	s->answer.std = numbers(s->answer.std_n = n * s->size);
	s->answer.ood = numbers(s->answer.ood_n = n);
	s->answer.flags = calloc(n, sizeof *s->answer.flags);
	s->answer.flags_n = n;
}

static void release(setup *s)
{
	free((void *)s->query.states);
	free((void *)s->query.plans);
	free((void *)s->query.history);
	free(s->answer.mean);
	free(s->answer.std);
	free(s->answer.ood);
	free(s->answer.flags);
	free(s->answer.jacobian);
	free(s->answer.samples);
	free(s->answer.input_jacobian);
	free(s->answer.covariance);
	free(s->answer.tube);
	free(s->answer.start_gradient);
	free(s->answer.plan_gradient);
	free(s->answer.violation);
	free(s->answer.violation_whole);
}

static int ask(setup *s) { return dgm_predict(s->model, &s->query, &s->answer, error, sizeof error); }

/* violation writes the probabilities of a half-space and of a box, and expects errors of others. */
static void violation(const setup *one)
{
	setup s = *one;
	size_t K = one->info.states, i;
	double *half = numbers(K + 1), *box = numbers(2 * K);
	prepare(&s, 1, DGM_VIOLATION);
	half[0] = 1;
	half[K] = 0.2;
	for (i = 0; i < K; i++) {
		box[i] = i ? -INFINITY : 0.1;
		box[K + i] = i ? INFINITY : 0.3;
	}
	s.query.half_spaces = half;
	s.query.half_spaces_n = K + 1;
	s.query.boxes = box;
	s.query.boxes_n = 2 * K;
	s.query.samples = 500;
	s.query.seed = 7;
	s.answer.violation = numbers(s.answer.violation_n = 2 * s.info.times);
	s.answer.violation_whole = numbers(s.answer.violation_whole_n = 1);
	CHECK(ask(&s) == DGM_OK);
	printf("violation");
	for (i = 0; i < s.answer.violation_n; i++)
		printf(" %.17g", s.answer.violation[i]);
	printf("\nviolation_whole %.17g\n", s.answer.violation_whole[0]);
	s.query.samples = 0;
	CHECK(ask(&s) == DGM_OK);
	s.query.half_spaces_n = K;
	CHECK(ask(&s) == DGM_WRONG && strncmp(error, "half_spaces", 11) == 0);
	s.query.half_spaces_n = 0;
	CHECK(ask(&s) == DGM_WRONG && strncmp(error, "violation", 9) == 0);
	s.answer.violation_n = s.info.times;
	CHECK(ask(&s) == DGM_OK);
	box[0] = NAN;
	CHECK(ask(&s) == DGM_WRONG && strncmp(error, "boxes", 5) == 0);
	box[0] = 0.1;
	s.query.want = DGM_MEAN;
	CHECK(ask(&s) == DGM_WRONG && strncmp(error, "half_spaces", 11) == 0);
	s.query.want = DGM_VIOLATION;
	s.query.boxes_n = 0;
	CHECK(ask(&s) == DGM_WRONG && strncmp(error, "half_spaces", 11) == 0);
	release(&s);
	free(half);
	free(box);
}

/* right compares one question with many, workers with each other, and seeds. */
static void right(setup *one)
{
	setup many = *one, again = *one;
	size_t i;
	prepare(one, 1, DGM_MEAN | DGM_STD);
	CHECK(ask(one) == DGM_OK);
	prepare(&many, PLANS, DGM_MEAN | DGM_STD);
	many.query.workers = 0;
	CHECK(ask(&many) == DGM_OK);
	for (i = 0; i < one->size; i++) { /* many at once are predicted in single precision */
		CHECK(fabs(many.answer.mean[i] - one->answer.mean[i]) < 1e-4 * one->answer.std[i]);
		CHECK(fabs(many.answer.std[i] - one->answer.std[i]) < 1e-4 * one->answer.std[i]);
	}
	prepare(&again, PLANS, DGM_MEAN);
	CHECK(ask(&again) == DGM_OK);
	for (i = 0; i < PLANS * one->size; i++) {
		CHECK(isfinite(many.answer.mean[i]) && many.answer.std[i] > 0);
		CHECK(one->info.inputs == 0 || fabs(again.answer.mean[i] - many.answer.mean[i]) < 1e-4 * many.answer.std[i]);
	}
	release(&again);
	violation(one);
	prepare(&again, 1, DGM_SAMPLES | DGM_JACOBIAN | DGM_COVARIANCE);
	again.query.samples = SAMPLES;
	again.query.seed = 7;
	again.answer.samples = numbers(again.answer.samples_n = SAMPLES * one->size);
	again.answer.covariance = numbers(again.answer.covariance_n = one->size * one->info.states);
	again.answer.tube = numbers(again.answer.tube_n = DGM_TUBES);
	again.answer.jacobian = numbers(again.answer.jacobian_n = one->size * one->info.states);
	again.query.want |= DGM_ADJOINT;
	again.query.mean_adjoint = one->answer.mean;
	again.query.mean_adjoint_n = one->size;
	again.answer.start_gradient = numbers(again.answer.start_gradient_n = one->info.states);
	if (one->info.inputs) {
		again.answer.plan_gradient = numbers(again.answer.plan_gradient_n = again.query.plans_n);
		again.query.want |= DGM_INPUT_JACOBIAN;
		again.answer.input_jacobian = numbers(again.answer.input_jacobian_n = one->size * again.query.plans_n);
	}
	CHECK(((one->info.can ^ again.query.want) & (DGM_JACOBIAN | DGM_INPUT_JACOBIAN)) == 0);
	CHECK(ask(&again) == DGM_OK);
	printf("plan");
	for (i = 0; i < one->query.plans_n; i++)
		printf(" %.17g", one->query.plans[i]);
	printf("\nmean");
	for (i = 0; i < one->size; i++)
		printf(" %.17g", one->answer.mean[i]);
	printf("\nstd");
	for (i = 0; i < one->size; i++)
		printf(" %.17g", one->answer.std[i]);
	printf("\njacobian");
	for (i = 0; i < one->size * one->info.states; i++)
		printf(" %.17g", again.answer.jacobian[i]);
	printf("\ncovariance");
	for (i = 0; i < again.answer.covariance_n; i++)
		printf(" %.17g", again.answer.covariance[i]);
	printf("\ntube");
	for (i = 0; i < again.answer.tube_n; i++)
		printf(" %.17g", again.answer.tube[i]);
	printf("\ninput_jacobian");
	for (i = 0; i < again.answer.input_jacobian_n; i++)
		printf(" %.17g", again.answer.input_jacobian[i]);
	printf("\nstart_gradient");
	for (i = 0; i < again.answer.start_gradient_n; i++)
		printf(" %.17g", again.answer.start_gradient[i]);
	printf("\nplan_gradient");
	for (i = 0; i < again.answer.plan_gradient_n; i++)
		printf(" %.17g", again.answer.plan_gradient[i]);
	printf("\nsamples");
	for (i = 0; i < SAMPLES * one->size; i++)
		printf(" %.17g", again.answer.samples[i]);
	printf("\n");
	release(&again);
	release(&many);
}

/* wrong expects the code that is returned after a spoiled field, and DGM_OK after it is
 * restored. */
#define WRONG(code, field, value) \
	do { \
		setup kept = *s; \
		s->field = (value); \
		CHECK(ask(s) == (code) && error[0] != 0); \
		*s = kept; \
		CHECK(ask(s) == DGM_OK); \
	} while (0)

static void wrong(setup *s)
{
	double *bad = numbers(s->info.states);
	double far = 1e300;
	setup other;
	char small[1] = {'x'};
	size_t used;
	bad[0] = NAN;
	WRONG(DGM_WRONG, query.size, 8);
	WRONG(DGM_WRONG, answer.size, sizeof s->answer + 8);
	WRONG(DGM_WRONG, query.want, 0);
	WRONG(DGM_UNSUPPORTED, query.want, DGM_MEAN | UINT64_C(1) << 40);
	WRONG(DGM_WRONG, query.states, NULL);
	WRONG(DGM_WRONG, query.states, (const double *)((const char *)s->query.states + 4));
	WRONG(DGM_WRONG, query.states, bad);
	WRONG(DGM_WRONG, query.states_n, s->info.states - 1);
	WRONG(DGM_WRONG, query.states_n, 0);
	WRONG(DGM_WRONG, query.states_n, (size_t)-1);
	WRONG(DGM_WRONG, query.plan_rows, (size_t)-1);
	WRONG(DGM_WRONG, query.plan_step, NAN);
	WRONG(DGM_WRONG, query.history_rows, 1000);
	WRONG(DGM_WRONG, query.samples, 3);
	WRONG(DGM_WRONG, answer.mean, NULL);
	WRONG(DGM_WRONG, answer.mean_n, s->answer.mean_n - 1);
	WRONG(DGM_WRONG, answer.std_n, 0);
	WRONG(DGM_WRONG, answer.flags_n, 2);
	other = *s;
	other.query.times = &far;
	other.query.times_n = 1;
	other.answer.mean_n = other.answer.std_n = s->info.states;
	CHECK(ask(&other) == DGM_WRONG && strncmp(error, "times", 5) == 0);
	far = 0.7 * s->info.horizon;
	CHECK(ask(&other) == DGM_OK);
	bad[0] = 0;
	bad[s->info.states - 1] = 1e300;
	WRONG(DGM_NOT_FINITE, query.states, bad);
	CHECK(dgm_predict(s->model, NULL, NULL, NULL, 0) == DGM_WRONG);
	CHECK(dgm_predict(s->model, NULL, NULL, small, sizeof small) == DGM_WRONG && small[0] == 0);
	CHECK(dgm_open(NULL, NULL, error, sizeof error) == DGM_WRONG);
	CHECK(dgm_get_info(s->model, NULL, error, sizeof error) == DGM_WRONG && strcmp(error, "info: is NULL") == 0);
	CHECK(dgm_open("no such file", &s->model, error, sizeof error) == DGM_FILE);
	CHECK(dgm_close(0, error, sizeof error) == DGM_CLOSED);
	CHECK(dgm_get_channel(s->model, 1000, NULL, 0, NULL, 0, error, sizeof error) == DGM_WRONG);
	CHECK(dgm_get_times(s->model, bad, 1, error, sizeof error) == DGM_WRONG || s->info.times == 1);
	CHECK(dgm_history(s->model, NULL, NULL, NULL, NULL, 0, NULL, 0, &used, error, sizeof error) == DGM_WRONG);
	free(bad);
}

static void history(setup *s)
{
	enum { N = 200 };
	size_t K = s->info.states, P = s->info.inputs, n = s->info.history_rows * (K + P), used = 0, i;
	double *t = numbers(N), *x = numbers(N * K), *u = numbers(N * P), *rows = numbers(n);
	for (i = 0; i < N; i++)
		t[i] = -0.001 * (double)(N - 1 - i);
	CHECK(dgm_history(s->model, s->query.states, t, x, u, N, rows, n, &used, error, sizeof error) == DGM_OK);
	CHECK(used <= s->info.history_rows);
	printf("history %zu\n", used);
	t[3] = 1;
	CHECK(dgm_history(s->model, s->query.states, t, x, u, N, rows, n, &used, error, sizeof error) == DGM_WRONG);
	free(t);
	free(x);
	free(u);
	free(rows);
}

/* estimation writes what dgm_update makes of samples at 100 Hz, of which one is late and one far off. */
static void estimation(setup *s)
{
	enum { N = 60 };
	size_t K = s->info.states, P = s->info.inputs, i, k;
	double *y = numbers(K), *u = numbers(P), *x = numbers(K), *start = numbers(K * K), *ratio = numbers(K);
	uint8_t *measured = calloc(K, 1);
	dgm_estimate e;
	double dead = 0, lag = 0;
	char unit[8];
	CHECK(dgm_get_unit("Degrees", unit, sizeof unit, &dead, error, sizeof error) == DGM_OK && strcmp(unit, "deg") == 0 && dead == 360);
	CHECK(dgm_get_unit("rads", unit, sizeof unit, &dead, error, sizeof error) == DGM_WRONG && strstr(error, "mrad") != NULL);
	CHECK(P == 0 || (dgm_get_latency(s->model, P - 1, &dead, &lag, error, sizeof error) == DGM_OK && dead >= -1 && lag >= -1));
	CHECK(dgm_get_latency(s->model, P, &dead, &lag, error, sizeof error) == DGM_WRONG);
	CHECK(measured != NULL && dgm_get_measured(s->model, measured, K, error, sizeof error) == DGM_OK);
	CHECK(dgm_get_measured(s->model, measured, K + 1, error, sizeof error) == DGM_WRONG);
	memset(&e, 0, sizeof e);
	e.size = sizeof e;
	e.x = x, e.x_n = K;
	e.P0 = start, e.P0_n = K * K;
	e.ratio = ratio, e.ratio_n = K;
	printf("estimates");
	for (i = 0; i < N; i++) {
		int64_t t = INT64_C(1700000000000000000) + (int64_t)i * 10000000 - (i == 30 ? 15000000 : 0);
		for (k = 0; k < K; k++)
			y[k] = measured[k] ? sin(0.02 * (double)i + (double)k) + (i == 40 && k == 0 ? 2 : 0) : NAN;
		CHECK(dgm_update(s->model, t, y, K, i % 2 ? NULL : u, i % 2 ? 0 : P, &e, error, sizeof error) == DGM_OK);
		if (s->info.filtered)
			CHECK((i == 30) == ((e.flags & DGM_LATE) != 0) && (i == 0) == (e.reset == DGM_RESET_FIRST) && (i == 40) == (ratio[0] > 1) && (i == 40) == (e.rejected > 0));
		for (k = 0; k < K; k++)
			printf(" %.17g", x[k]);
		printf(" %zu", e.P0_used);
		for (k = 0; k < e.P0_used; k++)
			printf(" %.17g", start[k]);
	}
	printf("\n");
	y[0] = INFINITY;
	CHECK(dgm_update(s->model, 0, y, K, NULL, 0, &e, error, sizeof error) == DGM_WRONG && strncmp(error, "y: ", 3) == 0);
	y[0] = NAN;
	CHECK(dgm_update(s->model, INT64_C(1800000000000000000), y, K, NULL, 0, &e, error, sizeof error) == (s->info.filtered ? DGM_OK : DGM_WRONG));
	y[0] = 0;
	CHECK(dgm_update(s->model, 0, y, K, y, P + 1, &e, error, sizeof error) == DGM_WRONG);
	CHECK(dgm_update(s->model, 0, y, K, NULL, 0, NULL, error, sizeof error) == DGM_WRONG);
	CHECK(dgm_update(0, 0, y, K, NULL, 0, &e, error, sizeof error) == DGM_CLOSED);
	e.x_n = K - 1;
	CHECK(dgm_update(s->model, 0, y, K, NULL, 0, &e, error, sizeof error) == DGM_WRONG && strncmp(error, "x: ", 3) == 0);
	CHECK(dgm_forget(s->model, error, sizeof error) == DGM_OK);
	free(y);
	free(u);
	free(x);
	free(start);
	free(ratio);
	free(measured);
}

/* caller compares what it is answered, beside others that do the same, with the first
 * answer; every other one has a model of its own. */
static void *caller(void *argument)
{
	setup *first = argument, own = *first;
	char text[64];
	int i;
	for (i = 0; i < CALLS; i++) {
		prepare(&own, 1, DGM_MEAN | DGM_STD);
		if (i % 2) {
			own.model = first->model;
		} else if (i % 8 == 0) {
			if (dgm_open(first->path, &own.model, text, sizeof text) != DGM_OK)
				return "a thread cannot open the model";
		}
		if (dgm_predict(own.model, &own.query, &own.answer, text, sizeof text) != DGM_OK)
			return "a thread is not answered";
		if (memcmp(own.answer.mean, first->answer.mean, own.size * sizeof(double)) != 0)
			return "a thread has another answer";
		if (i % 8 == 0 && dgm_close(own.model, text, sizeof text) != DGM_OK)
			return "a thread cannot close its model";
		own.model = first->model;
		release(&own);
	}
	return NULL;
}

static void threads(setup *s)
{
	pthread_t all[THREADS];
	int i;
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_create(&all[i], NULL, caller, s) == 0);
	for (i = 0; i < THREADS; i++) {
		void *text;
		CHECK(pthread_join(all[i], &text) == 0);
		if (text != NULL)
			strncpy(error, text, sizeof error - 1);
		CHECK(text == NULL);
	}
}

static void cost(setup *s)
{
	double least = 1, empty = 1, before;
	int i;
	for (i = 0; i < 2000; i++) {
		before = now();
		CHECK(ask(s) == DGM_OK);
		least = fmin(least, now() - before);
		before = now();
		(void)dgm_get_info(s->model, &s->info, NULL, 0);
		empty = fmin(empty, now() - before);
	}
	printf("seconds %.9f %.9f\n", least, empty);
}

/* The programs of a model are asked for their size, then written. */
static void document(setup *s)
{
	size_t size = 0, again = 0;
	uint8_t *program;
	CHECK(dgm_get_program(s->model, 7, NULL, 0, &size, error, sizeof error) == DGM_OK && size > 0);
	program = malloc(size);
	CHECK(program != NULL);
	CHECK(dgm_get_program(s->model, 7, program, size, &again, error, sizeof error) == DGM_OK && again == size);
	CHECK(memcmp(program, "\x85\xa5" "about", 7) == 0); /* a map of five, the first of which is about */
	CHECK(dgm_get_program(s->model, 7, program, size - 1, &again, error, sizeof error) == DGM_WRONG && again == size);
	CHECK(strncmp(error, "program: has room for", 21) == 0);
	CHECK(dgm_get_program(s->model, 7, NULL, size, &again, error, sizeof error) == DGM_WRONG);
	CHECK(dgm_get_program(s->model, 7, program, size, NULL, error, sizeof error) == DGM_WRONG);
	CHECK(dgm_get_program(s->model, 0, program, size, &again, error, sizeof error) == DGM_WRONG);
	CHECK(dgm_get_program(s->model, SIZE_MAX, program, size, &again, error, sizeof error) == DGM_WRONG);
	CHECK(dgm_get_program(0, 7, program, size, &again, error, sizeof error) == DGM_CLOSED);
	free(program);
}

int main(int argc, char **argv)
{
	setup s;
	double before, *times;
	char name[8], unit[8];
	CHECK(argc == 2);
	memset(&s, 0, sizeof s);
	s.path = argv[1];
	before = now();
	CHECK(dgm_open(argv[1], &s.model, error, sizeof error) == DGM_OK);
	printf("open %.6f\n", now() - before);
	CHECK(dgm_get_info(s.model, &s.info, error, sizeof error) == DGM_WRONG);
	s.info.size = sizeof s.info;
	CHECK(dgm_get_info(s.model, &s.info, error, sizeof error) == DGM_OK);
	times = numbers(s.info.times);
	CHECK(dgm_get_times(s.model, times, s.info.times, error, sizeof error) == DGM_OK);
	CHECK(dgm_get_channel(s.model, 0, name, sizeof name, unit, sizeof unit, error, sizeof error) == DGM_OK);
	CHECK(name[0] != 0);
	free(times);
	document(&s);
	right(&s);
	wrong(&s);
	history(&s);
	estimation(&s);
	threads(&s);
	cost(&s);
	CHECK(dgm_close(s.model, error, sizeof error) == DGM_OK);
	CHECK(ask(&s) == DGM_CLOSED);
	CHECK(dgm_close(s.model, error, sizeof error) == DGM_CLOSED);
	release(&s);
	return 0;
}
