// Package dynamicsnet trains nets in a difference equation, see [priordynamics.Model]:
// each adds to the increment of a step what the fitted equation leaves of it.
//
// A net starts at zero. It is trained by matching, on the increments of single steps
// between measured states, and then by shooting, on its own roll-outs over the horizon.
// Both minimise, over windows w, nodes n and channels k,
//
//	L = mean over n and k of ½ log( mean_w e² + ε )      e = (x_n − y_n)/rms, at most 20
//
// rms is the displacement's own at node n and channel k. With mini-batches the mean over
// windows is a running one, and its inverse the weight of e². The optimiser is Adam with
// decoupled weight decay (Loshchilov & Hutter 2019) and a rate that falls along half a cosine.
//
// Where all states are angles and rates of a planar chain of links, the equation of motion of
// the chain is below the nets in place of the linear equation, if it is better on what folds
// hold out.
//
// How strong the decay is decides whether a net that was trained on little, or on a
// robot under one feedback law, is better than its equation elsewhere: [Choose] finds it
// by folds. The members of an ensemble differ by their seed.
//
// A result is the same, to the last bit, on any number of processors.
package dynamicsnet
