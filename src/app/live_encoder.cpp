#include "app/live_encoder.hpp"

#include <algorithm>
#include <cmath>

#include "app/command_words.hpp"
#include "json/strict.hpp"
#include "record/joint_state_message.hpp"
#include "takt/motion/error.hpp"

namespace takt::app {
namespace {

using json::Value;
using Joint = LiveSample::Joint;

/// A schema without members: Foxglove and PlotJuggler find these by themselves.
constexpr const char* any_object = R"({"type":"object"})";

/// One number of each joint.
std::vector<double> column(const LiveSample& sample, double Joint::*member) {
  std::vector<double> values;
  for (std::size_t i = 0; i < sample.joint_count; ++i) values.push_back(sample.joints[i].*member);
  return values;
}

std::string joints_message(record::JointStateMessage message, const LiveSample& sample, LiveTopic topic) {
  const bool is_measured = topic == LiveTopic::measured;
  const auto positions = column(sample, is_measured ? &Joint::position : &Joint::reference_position);
  const auto velocities = column(sample, is_measured ? &Joint::velocity : &Joint::reference_velocity);
  auto efforts = is_measured ? column(sample, &Joint::effort) : std::vector<double>();
  if (std::ranges::all_of(efforts, [](double effort) { return std::isnan(effort); })) efforts.clear();
  message.positions = positions;
  message.velocities = velocities;
  message.efforts = efforts;
  record::CdrWriter writer;
  record::write_joint_state(writer, message);
  return std::string(record::as_text(writer.message()));
}

Value robot_json(const LiveSample& sample, const robot::RobotDescription& robot) {
  Value one = {{"state", motion::state_name(sample.state)},
               {"code", static_cast<int>(sample.state)},
               {"active_goals", sample.active_goals},
               {"reason", ""},
               {"joint", ""}};
  if (sample.reason == motion::Errc{}) return one;
  one["reason"] = motion::reason_name(sample.reason);
  if (sample.reason_joint < robot.joints.size()) one["joint"] = robot.joints[sample.reason_joint].name;
  return one;
}

Value loop_json(const motion::LoopSnapshot& loop) {
  return {{"cycles", loop.cycles},
          {"overruns", loop.overruns},
          {"lateness", to_seconds(loop.lateness)},
          {"busy", to_seconds(loop.busy)}};
}

Value buses_json(const LiveSample& sample, const robot::RobotDescription& robot,
                 const std::array<double, max_live_buses>& loads) {
  Value all = Value::object();
  for (std::size_t i = 0; i < std::min(robot.buses.size(), max_live_buses); ++i) {
    all[robot.buses[i].name] = {
        {"load", loads[i]}, {"frames", sample.buses[i].frames}, {"refused", sample.buses[i].refused}};
  }
  return all;
}

Value joints_json(const LiveSample& sample, const robot::RobotDescription& robot) {
  Value all = Value::object();
  for (std::size_t i = 0; i < sample.joint_count; ++i) {
    const Joint& joint = sample.joints[i];
    all["measured"][robot.joints[i].name] = {
        {"position", joint.position}, {"velocity", joint.velocity}, {"effort", joint.effort}};
    all["reference"][robot.joints[i].name] = {{"position", joint.reference_position},
                                              {"velocity", joint.reference_velocity}};
  }
  return all;
}

}  // namespace

std::vector<record::LiveChannel> live_channels() {
  std::vector<record::LiveChannel> channels;
  for (const char* topic : {"/joints/measured", "/joints/reference"})
    channels.push_back({topic, "cdr", record::joint_state_name, record::joint_state_schema(), "ros2msg"});
  for (const char* topic : {"/robot", "/loop", "/buses"})
    channels.push_back({topic, "json", std::string("takt") + topic, any_object, "jsonschema"});
  return channels;
}

LiveEncoder::LiveEncoder(const robot::RobotDescription& robot, std::int64_t epoch)
    : robot_(&robot), epoch_(epoch) {
  for (const robot::JointDescription& joint : robot.joints) names_.push_back(joint.name);
}

void LiveEncoder::take(const LiveSample& sample) {
  const double elapsed = to_seconds(sample.time - sample_.time);
  for (std::size_t i = 0; i < max_live_buses; ++i) {
    const double busy = to_seconds(sample.buses[i].busy - sample_.buses[i].busy);
    loads_[i] = elapsed > 0 ? std::clamp(busy / elapsed, 0.0, 1.0) : 0;
  }
  sample_ = sample;
}

std::uint64_t LiveEncoder::time() const noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(epoch_ + to_nanoseconds(sample_.time), 0));
}

std::string LiveEncoder::message(LiveTopic topic) const {
  switch (topic) {
    case LiveTopic::measured:
    case LiveTopic::reference:
      return joints_message({.stamp = time(), .frame = robot_->name, .names = names_}, sample_, topic);
    case LiveTopic::robot:
      return to_line(robot_json(sample_, *robot_));
    case LiveTopic::loop:
      return to_line(loop_json(sample_.loop));
    case LiveTopic::buses:
      return to_line(buses_json(sample_, *robot_, loads_));
  }
  return {};
}

std::string LiveEncoder::document() const {
  return to_line({{"timestamp", static_cast<double>(time()) * 1e-9},
                  {"joints", joints_json(sample_, *robot_)},
                  {"robot", robot_json(sample_, *robot_)},
                  {"loop", loop_json(sample_.loop)},
                  {"buses", buses_json(sample_, *robot_, loads_)}});
}

}  // namespace takt::app
