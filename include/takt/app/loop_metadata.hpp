// The metadata that all recordings of a loop share: the names of its states and reasons. app::Robot uses it.
// So does a program that records a loop of its own by record::Recorder:
//
//     record::Metadata metadata = app::loop_metadata();
//     metadata.robot = "my arm";
//     metadata.period = 1ms;
//     metadata.joints = {"shoulder", "elbow"};
//     auto recorder = record::Recorder::create("run.mcap", metadata);
//
// Not real-time safe.
#pragma once

#include "takt/record/metadata.hpp"

namespace takt::app {

/// Names of robot states, goal states and reasons, by the numbers of the room motion, and takt's version.
/// Name, period and joints of the robot are the caller's.
[[nodiscard]] record::Metadata loop_metadata();

}  // namespace takt::app
