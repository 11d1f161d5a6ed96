/* dgm.h: the distribution of a robot's state over a horizon, in process.
 *
 * A model file of dgm-train is opened once. dgm_predict then answers one question or
 * thousands: state, input or plan, history in; means, standard deviations, covariances,
 * Jacobians, gradients, probabilities of violations or sampled trajectories out. Numbers are double, matrices are row-major, angles of an answer
 * are continuous from the state's (of a model in the paper's form, those of its training), units are the model's.
 *
 *   K states, P inputs, T times, N questions, S samples, R rows of a plan, H rows of history
 *
 * The caller owns all memory of questions and answers; the library keeps no pointer to it.
 * Every size is passed and checked. Every function may be called from any thread at any time,
 * also dgm_close during a dgm_predict. Functions return DGM_OK or an error code. With an error
 * they write a text, ended by 0 and cut to error_size, to error unless that is NULL.
 *
 * The library contains a Go runtime: a process must not use it after fork without exec, nor
 * unload it with dlclose. */
#ifndef DGM_H
#define DGM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What functions return. */
enum {
	DGM_OK = 0,
	DGM_WRONG = 1,       /* an argument: a size, a number, a missing pointer */
	DGM_CLOSED = 2,      /* the model is closed, or was never open */
	DGM_FILE = 3,        /* the file cannot be read or is no model of this version */
	DGM_NOT_FINITE = 4,  /* a question has no finite answer; are state, inputs and plan plausible? */
	DGM_UNSUPPORTED = 5, /* the model or this version of the library does not support it */
	DGM_INTERNAL = 6     /* a defect of the library */
};

/* Requested results, in dgm_query.want. An unknown bit is DGM_UNSUPPORTED. */
#define DGM_MEAN UINT64_C(1)     /* N×T×K */
#define DGM_STD UINT64_C(2)      /* N×T×K, of the state */
#define DGM_OBS_STD UINT64_C(4)  /* N×T×K, of a measurement of it */
#define DGM_JACOBIAN UINT64_C(8) /* N×T×K×K, d mean(t) / d state */
#define DGM_SAMPLES UINT64_C(16) /* N×S×T×K, trajectories drawn from the distribution */
#define DGM_INPUT_JACOBIAN UINT64_C(32) /* N×T×K×R×P, d mean(t) / d plan; N×T×K×P by u without one */
#define DGM_COVARIANCE UINT64_C(64) /* N×T×K×K, of the states at a time: its diagonal is std²; correlations
                                       are those of fold errors, in older files those of derivatives alone */
#define DGM_ADJOINT UINT64_C(128) /* gradients of a cost, by its derivatives by mean and std: see mean_adjoint */
#define DGM_VIOLATION UINT64_C(256) /* N×M×T, probability to violate each half-space, then each box */

/* Flags of an answer. */
#define DGM_OUT_OF_DISTRIBUTION UINT32_C(1) /* ood is above 1: do not plan on it */
#define DGM_NO_HISTORY UINT32_C(2)          /* the model reads history, and the question had too little */

/* Half width of an interval over the standard deviation: that of 50 % is in dgm_answer. */
#define DGM_HALF95 1.959963984540054

/* The probabilities of tubes are 0.5, 0.9 and 0.95. */
#define DGM_TUBES 3

typedef uint64_t dgm_model; /* an open model; 0 is none */

/* size is sizeof of the structure: later versions append fields, and accept the smaller size. */

typedef struct {
	size_t size;
	size_t states, inputs;  /* K, P */
	size_t times;           /* T, of the model's own times */
	size_t history_rows;    /* that it reads; 0 = none */
	double history_seconds; /* how far before the state */
	double horizon;         /* s */
	uint64_t can;           /* what may be wanted */
	char id[80];            /* of the model */
	size_t estimated;       /* states that no sensor measures: dgm_update estimates them */
	uint32_t filtered;      /* 1: dgm_update filters measurements; 0: it returns them */
} dgm_info;

/* Each field of a question has one row for all N questions, or one for each; the counts are
 * of numbers. A NULL with count 0 is absent. */
typedef struct {
	size_t size;
	uint64_t want;
	const double *states;   /* K or N×K, measured states */
	size_t states_n;
	const double *P0;       /* (optional) K×K or N×K×K, their covariances; else the sensors' */
	size_t P0_n;
	const double *u;        /* (optional) P or N×P, inputs that are held; else the model's means; not with plans */
	size_t u_n;
	const double *plans;    /* (optional) R×P or N×R×P, inputs at equal steps from the state on */
	size_t plans_n;
	size_t plan_rows;       /* R */
	double plan_step;       /* s of a row; 0 = the rows divide the horizon */
	const double *history;  /* (optional) H×(K+P) or N×H×(K+P), see dgm_history */
	size_t history_n;
	size_t history_rows;    /* H */
	const double *times;    /* (optional) T, s after the state within the horizon; else the model's */
	size_t times_n;
	size_t samples;         /* S, with DGM_SAMPLES; trajectories that DGM_VIOLATION counts, 0 = 1000 */
	uint64_t seed;          /* of the samples: the same numbers for the same seed */
	size_t workers;         /* processors for many questions; 0 = all that the process may use */
	const double *mean_adjoint; /* with DGM_ADJOINT: T×K or N×T×K, d cost / d mean */
	size_t mean_adjoint_n;
	const double *std_adjoint; /* (optional) with DGM_ADJOINT: T×K or N×T×K, d cost / d std; its part takes two
	                              predictions for each number of state and plan */
	size_t std_adjoint_n;
	const double *half_spaces; /* (optional) with DGM_VIOLATION: rows of K+1, a and b: violated where a.x > b */
	size_t half_spaces_n;
	const double *boxes; /* (optional) with DGM_VIOLATION: rows of 2K, the low, then the high bounds of the states:
	                        violated if all states are inside; +-INFINITY is no bound */
	size_t boxes_n;
} dgm_query;

/* Memory for requested results, of exactly the given sizes; others may be NULL. */
typedef struct {
	size_t size;
	double *mean;     /* N×T×K */
	size_t mean_n;
	double *std;      /* N×T×K */
	size_t std_n;
	double *obs_std;  /* N×T×K */
	size_t obs_std_n;
	double *jacobian; /* N×T×K×K */
	size_t jacobian_n;
	double *samples;  /* N×S×T×K */
	size_t samples_n;
	double *input_jacobian; /* N×T×K×R×P */
	size_t input_jacobian_n;
	double *ood;      /* (optional) N, out-of-distribution scores; for the mean alone those of
	                     state, plan and history, without the posterior's variance */
	size_t ood_n;
	double *half50;   /* (optional) N, half width of the 50 % interval over std; not for the mean alone */
	size_t half50_n;
	uint32_t *flags;  /* (optional) N */
	size_t flags_n;
	double *covariance; /* N×T×K×K */
	size_t covariance_n;
	double *tube;     /* (optional) N×DGM_TUBES, factors with which a whole trajectory, all states at
	                     all times to the horizon, stays within mean ± factor·std with that
	                     probability; 0 = not known; not for the mean alone */
	size_t tube_n;
	double *start_gradient; /* (optional) N×K, with DGM_ADJOINT: d cost / d state */
	size_t start_gradient_n;
	double *plan_gradient;  /* (optional) N×R×P, with DGM_ADJOINT: d cost / d plan; N×P by u without one */
	size_t plan_gradient_n;
	double *violation; /* N×M×T: that of half-spaces by the Gaussian, of boxes the share of drawn trajectories */
	size_t violation_n;
	double *violation_whole; /* (optional) N, with DGM_VIOLATION: share of drawn trajectories that violate any at any time */
	size_t violation_whole_n;
} dgm_answer;

/* Flags of an estimate. */
#define DGM_UNSETTLED UINT32_C(1) /* the filter has not settled: unmeasured states are NaN in x */
#define DGM_LATE UINT32_C(2)      /* the sample was measured before the newest one, and filtered at its own time */
#define DGM_DROPPED UINT32_C(4)   /* it was measured before all stored samples, and was not used */

/* Why a filter restarted, in dgm_estimate.reset. */
enum {
	DGM_RESET_NONE = 0,
	DGM_RESET_FIRST = 1,     /* sample */
	DGM_RESET_GAP = 2,       /* without samples */
	DGM_RESET_BACKWARDS = 3, /* time went back by a second or more */
	DGM_RESET_LOST = 4,      /* too many measurements in a row did not fit */
	DGM_RESET_DIVERGED = 5   /* a number was not finite, or a variance not positive */
};

/* The result of dgm_update. Memory has exactly the given sizes; unwanted fields may be NULL. */
typedef struct {
	size_t size;
	double *x;          /* K, the state to predict from: dgm_query.states */
	size_t x_n;
	double *P0;         /* (optional) K×K: dgm_query.P0, with P0_used for P0_n */
	size_t P0_n;
	size_t P0_used;     /* K×K where a state is less certain than usual; else 0, for a prediction as it was calibrated */
	double *P;          /* (optional) K×K, covariance of the estimate */
	size_t P_n;
	double *innovation; /* (optional) K, measured less expected; NaN where nothing was measured */
	size_t innovation_n;
	double *ratio;      /* (optional) K, squared innovation over that at which a measurement is an outlier: above 1 it was rejected */
	size_t ratio_n;
	size_t used, rejected; /* measurements */
	double nis;            /* normalised innovations squared, of mean used in a consistent filter */
	uint32_t reset, flags;
} dgm_estimate;

#ifndef DGM_TYPES_ONLY

/* dgm_open reads a model file, evaluates its self-checks and sets *model. */
int dgm_open(const char *path, dgm_model *model, char *error, size_t error_size);

/* dgm_close releases a model. */
int dgm_close(dgm_model model, char *error, size_t error_size);

/* dgm_get_info describes a model; info->size is set by the caller. */
int dgm_get_info(dgm_model model, dgm_info *info, char *error, size_t error_size);

/* dgm_get_times writes the model's own times, s: times_n is dgm_info.times. */
int dgm_get_times(dgm_model model, double *times, size_t times_n, char *error, size_t error_size);

/* dgm_get_channel writes name and unit of a channel, cut to their sizes: 0 to K−1 are the
 * states, K to K+P−1 the inputs. */
int dgm_get_channel(dgm_model model, size_t channel, char *name, size_t name_size, char *unit, size_t unit_size,
	char *error, size_t error_size);

/* dgm_get_unit writes the one spelling of a unit, cut to its size, and what a whole turn is in it: 0, it is none of angles. A text
 * that begins as a unit of angles does and is none, such as "rads", returns DGM_WRONG. */
int dgm_get_unit(const char *unit, char *spelling, size_t spelling_size, double *turn, char *error, size_t error_size);

/* dgm_get_latency writes how long after a command input i (0 to P−1) begins to act, s, and the time constant of the lag with which
 * it then follows, as learned from the training data; −1: not known. */
int dgm_get_latency(dgm_model model, size_t input, double *dead_time, double *lag, char *error, size_t error_size);

/* dgm_get_program writes the model's programs for plans of plan_rows rows that divide the horizon, as the document of
 * PROGRAM-FORMAT.md, for other languages to evaluate and differentiate. *written is the document's size, bytes;
 * with program_n = 0 only the size is written. */
int dgm_get_program(dgm_model model, size_t plan_rows, uint8_t *program, size_t program_n, size_t *written,
	char *error, size_t error_size);

/* dgm_history resamples samples before a state to the rows that the model reads: x (n×K) and
 * u (n×P) at t (n, s from the state, ascending, at most 0). rows (history_n numbers, at least
 * dgm_info.history_rows×(K+P)) receives *used rows, the newest first; fewer if the samples
 * do not reach back far enough, none if they end a gap before the state. */
int dgm_history(dgm_model model, const double *state, const double *t, const double *x, const double *u, size_t n,
	double *rows, size_t history_n, size_t *used, char *error, size_t error_size);

/* dgm_get_measured writes for each state 1 where a sensor measures it, and 0 where dgm_update estimates it: measured_n is K. */
int dgm_get_measured(dgm_model model, uint8_t *measured, size_t measured_n, char *error, size_t error_size);

/* dgm_update takes a sample at t, ns, and estimates the state: y (K) with NaN for unmeasured states, u (P) the input
 * applied from then on, or NULL with 0 numbers for the previous input. Sensors may have different rates, each with its own
 * states. A sample that is late by less than a second is filtered at its own time, and its u is not read. An estimator computes
 * the same from the same samples. An open model serves one robot: open it once for each. */
int dgm_update(dgm_model model, int64_t t, const double *y, size_t y_n, const double *u, size_t u_n, dgm_estimate *estimate,
	char *error, size_t error_size);

/* dgm_learn adds a sample of the present robot: its state x (K) and the input u (P) applied from then on, at
 * t, ns, each after the one before. The samples correct means and standard deviations of later dgm_predict,
 * as in an estimator with adapt = "on"; derivatives and covariances are not corrected. Those with plans and those with
 * a held u are corrected separately, each as far as it was found to help: a constant input is a plan of one row.
 * A model that cannot adapt returns DGM_UNSUPPORTED. */
int dgm_learn(dgm_model model, int64_t t, const double *x, size_t x_n, const double *u, size_t u_n, char *error, size_t error_size);

/* dgm_forget forgets all samples of dgm_learn and dgm_update. */
int dgm_forget(dgm_model model, char *error, size_t error_size);

/* dgm_get_amount writes the learned amount i, such as "gain m1" in % or "bias vx" in the state's unit per second: name and
 * unit, cut to their sizes, value and standard deviation. There is none before the first sample; beyond the last amount it
 * returns DGM_WRONG. */
int dgm_get_amount(dgm_model model, size_t i, char *name, size_t name_size, char *unit, size_t unit_size, double *value,
	double *std, char *error, size_t error_size);

/* dgm_predict answers the questions of a query. The first call with other times, or by more
 * threads at once than before, takes memory. */
int dgm_predict(dgm_model model, const dgm_query *query, const dgm_answer *answer, char *error, size_t error_size);

#endif

#ifdef __cplusplus
}
#endif

#endif
