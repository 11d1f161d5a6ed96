// Package trainer turns flight logs into a model: data check, windows, held-out
// split, an ensemble of fits, calibration, comparison with the simple
// predictors, self-checks, report.
//
// Data flow one way through its folders:
//
//	flightlog → datacheck → window → prior ─┐
//	                          │             ▼
//	                          └──────────→ rows → objective/posterior → fit → (here) → model
//	                                                                     evaluate → report
//
// # The recipe
//
//  1. Hold data out for the table: whole segments where there are five, else
//     blocks of time.
//  2. Choose a difference equation by cross-validation and fit its roll-outs
//     (package priordynamics). It is the prior mean, and the dynamics starts from it. A
//     plain linear one is blended in as far as folds agree that it helps.
//  3. Train the nets on what that leaves over, in units of it: a gated kernel of
//     (time, start state, input knots) with a linear basis beside it, no learned
//     mean, noise by horizon, derivatives matched to the dynamics.
//  4. Choose core, basis and activation by a fold the nets were not trained on, and
//     the temper of the posterior by all folds, conditioning anew and keeping the nets;
//     cells of states weigh the same, and of tempers that nobody can tell apart the
//     smallest is taken.
//  5. Find the law of calibrate.go: how much of the nets counts, factors by channel
//     and horizon, and the powers with which intervals grow with the distance from
//     the training states and with the predicted motion.
//  6. Find from how far away on a state is out of distribution (package ood).
//  7. Judge on the held-out data; then condition on everything and export.
//
// # What each step is worth
//
// On unseen segments of four recorded robots: g is the RMSE over that of holding
// the last value (geometric mean over channels and horizons), c the coverage of 95 %
// intervals, ll the mean log likelihood of a measurement. One seed each; the switch
// is the setting that turns a step off.
//
//   - A difference equation as the prior mean (prior = "velocity"): g on the
//     torque-driven pendulum 0.77 → 0.26, double pendulum 0.037, single pendulum
//     0.0042 → 0.0040. Nets alone, however regularised, did not go below 0.54 on the
//     first.
//   - Shooting instead of single-step regression for it, and long enough (1500
//     windows, 200 iterations): see package priordynamics. Double pendulum, g at 600 and 80:
//     0.0374, at 1500 and 200: 0.0332.
//   - The companion (folds.companion): torque-driven pendulum g 0.317 → 0.296 and ll
//     −0.95 → −0.81; Crazyflie g of the base 0.312 → 0.309 and no channel and horizon
//     more than 1.05 times the best simple predictor, where 1.13 was the worst.
//   - The nets' gain (folds.gain): torque-driven pendulum g 0.325 → 0.296; single
//     pendulum 0.0041 → 0.0043, the price of caution.
//   - Growth with distance (folds.growth): torque-driven pendulum c .86 .89 .87 .84 →
//     .98 .98 .97 .93 by horizon; the others' ll hardly changes.
//   - Growth with the root of the out-of-distribution score outside of the data, as part
//     of it: c of a Crazyflie on figure-8s after circles .97 .95 .92 .89 → .98 .98 .96 .94,
//     ll 0.64 → 0.58 at the longest horizon; of a double pendulum that starts with more
//     energy .94 .90 .87 .78 → .97 .95 .93 .86, ll 0.45 → 1.45. In proportion to the score
//     c is .95 and .92 and the first one's ll 0.39. Data within stay as they are.
//   - Growth with the predicted motion (folds.motion): double pendulum ll 1.81 → 2.02
//     and CRPS −7 %, c by quarters of the motion 1.00 .99 .92 .86 → .99 .96 .95 .97.
//     On the others folds do not agree on it, and there is none; taken without that
//     condition it cost the torque-driven pendulum, which mostly rests, 0.2 nats.
//   - Factors that may narrow where folds agree, with growth, instead of factors that
//     only widen (folds.factors): Crazyflie c .99 → .97 and ll 2.36 → 2.82.
//   - Calibration with as many rows as the model is conditioned on, instead of 4000: c of
//     body rates at 1 kHz .94 .94 .94 .93 .92 → .95 .95 .95 .95 .95, of logs with fewer
//     rows the same.
//   - A channel's own factor counts more than half beside that of all where folds tell
//     the channels apart: an hour of a pendulum in gusts, c of the held-out blocks after
//     0.1 s .919 → .942, after 1 s .917 → .922; the recorded robots' hardly changes.
//   - No learned mean beside the equation, and a linear core: away from the data
//     the prediction returns to the equation. Torque-driven pendulum at equal
//     temper: g 0.58 with tanh 16-16, 0.44 with the linear core; the others stay.
//   - Temper chosen by folds instead of 1 (folds.temper): c after the longest
//     horizon, single pendulum 0.72 → 0.96; torque-driven 0.38 → 0.97.
//   - Three members instead of one (members = 1): c after 1 s on the single pendulum
//     0.85 → 0.91 without any calibration; with it, on the three pendulums, no figure
//     changes in its third digit. Their variances hardly differ: the first one's stands
//     for all, as it does in calibration. Four bootstrap refits (refits = 4): neither.
//   - The linear basis of degree two (basis = 0): ll of the double pendulum 1.97 → 2.03,
//     single 3.24 → 3.09, torque-driven −0.56 → −0.67, g the same within 1 %.
//   - Basis and activation chosen too (basis = 2, net.activation = "tanh"): the
//     torque-driven pendulum takes a third term, g 0.275 → 0.271 and ll −0.58 → −0.52, so
//     does the double, ll 2.025 → 2.033; the others keep two, and no net has won, tanh or
//     sigmoid, which score alike. It takes a quarter more time.
//   - Noise that grows with the horizon (noise = "constant"): ll after 50 ms and after the
//     longest horizon, single pendulum 3.02 2.39 → 3.61 2.49, torque-driven −0.13 −1.46 →
//     0.06 −1.60, double 2.57 1.47 → 2.62 1.49, Crazyflie 3.37 1.88 → 3.68 1.88; c after 50
//     ms 1.00 .99 .96 .98 → .98 .98 .95 .98, as the factors make up for most of it; g the same.
//   - Sensors told from the state (separate = false): std over obs_std after 50 ms is 0.92
//     on the torque-driven pendulum, 0.97 on the single one, 1.00 on the others, whose
//     noise is what disturbs them. Where the truth is known, a pendulum whose sensors have
//     0.02 rad and 0.06 rad/s, intervals of the state held it .97-.995 → .93-.97.
//   - P0 of a message carried through (a message without it). To start states was added
//     ten times the sensors' noise (dgm-eval --start-noise 10 --start-told=false), c by
//     horizon: torque-driven pendulum .62 .62 .59 .77 → .99 .98 .97 .97, single .62 .62 .69
//     .84 .92 → .99 .99 .98 .99 .99, double .76 .82 .87 .96 → .89 .92 .93 .98, Crazyflie .89
//     .95 .97 .98 → .97 .98 .98 .98. Three times is hardly to be seen: torque-driven .94
//     .97 .94 .93 → 1.00 .99 .98 .97, the double and the Crazyflie the same within 0.01.
//   - Declared kinematics (kinematics = "quadrotor" in the map), Crazyflie, with a plan: g
//     0.292 → 0.293, c .98 → .98, ll 2.78 → 2.81; the input held: g 0.303 → 0.299. Yaw after
//     50 ms 0.0011 → 0.0006 rad, after 0.5 s 0.0080 → 0.0105; the angle by which the attitude
//     is off after 0.5 s 0.0586 → 0.0568 rad (the linear model 0.069, hold 0.10).
//   - Derivatives matched to the dynamics (training.match = 0): ll of the single pendulum
//     2.98 → 3.09, of the others the same; g the same.
//   - Blocks held out for the table where the robot moves as usual: on the torque-driven
//     pendulum, which mostly rests, the verdict was that a simple predictor has 0.4 of
//     the model's error, while on unseen swings the model had half of any other's; now it
//     has 0.74 of the best one's.
package trainer
