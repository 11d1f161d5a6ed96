// Package bag reads bags of ROS 1 (version 2.0, http://wiki.ros.org/Bags/Format/2.0) as a
// [telemetry.Source]: plain, and with chunks packed by bz2 or lz4.
//
// Records follow each other from the start; the index at the end is not needed. A bag that
// was not closed is read up to where it is cut off. Messages are described by the bag itself.
package bag
