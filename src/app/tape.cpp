#include "app/tape.hpp"

#include <array>

#include "takt/motion/request_message.hpp"
#include "takt/shm/schema.hpp"

namespace takt::app {

TapedFeedback::operator robot::JointFeedback() const noexcept {
  return {
      position, velocity, stamp, heard != 0, static_cast<DriveState>(drive), static_cast<CommandMode>(mode),
      fault,    effort};
}

TapedFeedback taped(const robot::JointFeedback& feedback) noexcept {
  return {feedback.position,
          feedback.velocity,
          feedback.effort,
          feedback.stamp,
          feedback.fault,
          feedback.heard ? std::uint8_t{1} : std::uint8_t{0},
          static_cast<std::uint8_t>(feedback.drive),
          static_cast<std::uint8_t>(feedback.mode)};
}

TapedCommand taped(const JointCommand& command) noexcept {
  return {command.position,
          command.velocity,
          command.acceleration,
          command.effort,
          command.want_power ? std::uint8_t{1} : std::uint8_t{0},
          command.clear_fault ? std::uint8_t{1} : std::uint8_t{0},
          static_cast<std::uint8_t>(command.mode)};
}

namespace tape {

std::vector<record::Topic> topics() {
  return {{names[read], "takt/msg/DeviceRead", shm::schema_text<TapedFeedback>(), true},
          {names[write], "takt/msg/DeviceWrite", shm::schema_text<TapedCommand>(), true},
          {names[inputs], "takt/msg/LoopInputs", shm::schema_text<TapedInputs>()},
          {names[requests], "takt/msg/Request"}};
}

}  // namespace tape

void TapeRecorder::on_inputs(const motion::LoopInputs& inputs) noexcept {
  const TapedInputs all{now_, inputs.cycle, inputs.requests,
                        inputs.shut_down ? std::uint8_t{1} : std::uint8_t{0},
                        inputs.reset ? std::uint8_t{1} : std::uint8_t{0}};
  lane_->sample(first_ + tape::inputs, now_, {reinterpret_cast<const std::uint8_t*>(&all), sizeof(all)});
}

void TapeRecorder::hand_over(Time now, const motion::Request& request) {
  std::array<std::uint8_t, motion::max_request_record> room;
  motion::RequestWriter writer(request, ++handed_over_);
  do {
    const std::size_t size = writer.write(room);
    server_->sample(first_ + tape::requests, now, std::span(room).first(size));
  } while (!writer.done());
}

}  // namespace takt::app
