package importer

import (
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// job is one import.
type job struct {
	Job
	inputs     []input
	openJoined func(group string) telemetry.Opener // of tables whose columns are read as topics: the rows of one robot; nil of others
	files      []*survey
	plan       *plan
	kinematics channel.Kinematics // what the map declares of the states that are left
	passes     int
	read       int // files read so far, in all passes
}

// progress reports the share that is read of the open file.
func (j *job) progress(share float64) {
	if j.Progress != nil {
		j.Progress(min(1, (float64(j.read)+share)/float64(j.passes*len(j.inputs))))
	}
}
