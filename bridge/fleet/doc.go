// Package fleet keeps the logs, training jobs and models of many vehicles on NATS
// JetStream. Setup makes, once for a server or cluster:
//
//	object store fleet-logs, key-value fleet-log-index      [Logs]: flight logs in parts, and what is in them
//	stream DGM_JOBS (work queue), key-value fleet-jobs    [Queue]: jobs to do, and the state of all jobs
//	object store fleet-models, key-value fleet-model-index  [Models]: model files with their lineage
//
// A client of each opens only what it uses, and makes outbound connections only.
//
// # Jobs
//
// The ID of a job is a hash of its logs, settings and version, and the work queue accepts
// one message of an ID. A [Worker] pulls one message at a time and holds two leases: the
// acknowledgement of the message, which it extends, and a revision of the state of the
// job, which only the holder can replace. A worker that disappears loses both, and the job goes to
// another one; a worker that was replaced notices it at its next extension and stops. The result is
// created under the ID of the job, which succeeds once: two workers that train the same job
// still leave one model.
//
// The package trains nothing itself: the worker is handed a function.
package fleet
