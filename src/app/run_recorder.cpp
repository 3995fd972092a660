#include "app/run_recorder.hpp"

#include <array>

#include "takt/motion/request_message.hpp"
#include "takt/shm/schema.hpp"

namespace takt::app {

RecordedFeedback::operator robot::JointFeedback() const noexcept {
  return {position,
          velocity,
          stamp,
          (heard & 1U) != 0,
          static_cast<DriveState>(drive),
          static_cast<CommandMode>(mode),
          fault,
          effort,
          static_cast<robot::HomeState>(heard >> 1U & 3U),
          (heard & 8U) == 0};
}

RecordedFeedback recorded(const robot::JointFeedback& feedback) noexcept {
  return {feedback.position,
          feedback.velocity,
          feedback.effort,
          feedback.stamp,
          feedback.fault,
          static_cast<std::uint8_t>((feedback.heard ? 1U : 0U) | static_cast<unsigned>(feedback.home) << 1U |
                                    (feedback.has_effort ? 0U : 8U)),
          static_cast<std::uint8_t>(feedback.drive),
          static_cast<std::uint8_t>(feedback.mode)};
}

RecordedCommand recorded(const JointCommand& command) noexcept {
  return {command.position,
          command.velocity,
          command.acceleration,
          command.effort,
          command.want_power ? std::uint8_t{1} : std::uint8_t{0},
          command.clear_fault ? std::uint8_t{1} : std::uint8_t{0},
          static_cast<std::uint8_t>(command.mode)};
}

namespace run_topic {

std::vector<record::Topic> topics() {
  return {{names[read], "takt/msg/DeviceRead", shm::schema_text<RecordedFeedback>(), true},
          {names[write], "takt/msg/DeviceWrite", shm::schema_text<RecordedCommand>(), true},
          {names[inputs], "takt/msg/LoopInputs", shm::schema_text<RecordedInputs>()},
          {names[requests], "takt/msg/Request"},
          {.topic = names[controllers],
           .type = "takt/msg/ControllerRequest",
           .schema = shm::schema_text<RecordedControllerRequest>(),
           .has_text = true},
          {.topic = names[parameters],
           .type = "takt/msg/ParameterChange",
           .schema = shm::schema_text<RecordedControllerRequest>(),
           .has_text = true}};
}

}  // namespace run_topic

void RunRecorder::on_inputs(const motion::LoopInputs& inputs) noexcept {
  const RecordedInputs all{moment_.time,
                           inputs.cycle,
                           devices_->record_readings(*lane_, first_ + run_topic::count, moment_.time),
                           inputs.requests,
                           inputs.shut_down ? std::uint8_t{1} : std::uint8_t{0},
                           inputs.reset ? std::uint8_t{1} : std::uint8_t{0}};
  lane_->sample(first_ + run_topic::inputs, moment_.time,
                {reinterpret_cast<const std::uint8_t*>(&all), sizeof(all)});
  cycle_ = inputs.cycle;
  is_in_cycle_ = true;
}

void RunRecorder::ran(const component::CallNote& note) noexcept {
  if (is_down_ || (note.kind != run_topic::controllers && note.kind != run_topic::parameters)) return;
  const RecordedControllerRequest all{moment_.time, cycle_, ++changes_,
                                      is_in_cycle_ ? std::uint8_t{0} : std::uint8_t{1}};
  lane_->sample(first_ + note.kind, moment_.time, {reinterpret_cast<const std::uint8_t*>(&all), sizeof(all)},
                note.text);
}

void RunRecorder::after_cycle(const motion::Snapshot& snapshot) noexcept {
  ++cycle_;
  is_in_cycle_ = false;
  is_down_ = snapshot.state == motion::RobotState::down;
}

void RunRecorder::hand_over(Time now, const motion::Request& request) {
  std::array<std::uint8_t, motion::max_request_record> room;
  motion::RequestWriter writer(request, ++handed_over_);
  do {
    const std::size_t size = writer.write(room);
    server_->sample(first_ + run_topic::requests, now, std::span(room).first(size));
  } while (!writer.done());
}

}  // namespace takt::app
