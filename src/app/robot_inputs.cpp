#include "app/robot_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "takt/component/error.hpp"
#include "takt/robot/controller.hpp"
#include "takt/robot/error.hpp"
#include "takt/shm/schema.hpp"

namespace takt::app {

using component::InPortBase;

SetupResult<std::unique_ptr<RobotInputs>> RobotInputs::create(robot::Manager& manager,
                                                              const std::vector<RobotInput>& wanted) {
  auto made = std::make_unique<RobotInputs>();
  for (const RobotInput& one : wanted) {
    const std::size_t point = std::min(one.port.rfind('.'), one.port.size());
    const std::string owner = one.port.substr(0, point);
    const std::string name = one.port.substr(std::min(point + 1, one.port.size()));
    robot::Controller* const controller = manager.find(owner);
    if (controller == nullptr)
      return fail(robot::Errc::no_such_controller,
                  fmt::format("input \"{}\": no controller \"{}\" is loaded", one.port, owner));
    auto* const target = dynamic_cast<InPortBase*>(controller->find_port(name));
    if (target == nullptr || made->find(one.port) != nullptr)
      return fail(component::Errc::no_such_port,
                  fmt::format("input \"{}\": {} has {} \"{}\"", one.port, owner,
                              target == nullptr ? "no in-port" : "one input of the name", name));
    Input input{.wanted = one, .owner = std::make_unique<PortOwner>(owner)};
    auto in = component::OpaqueInPort::create(*input.owner, name, target->schema());
    if (!in) return tl::unexpected<SetupError>(std::move(in.error()));
    auto out = component::OpaqueOutPort::create(*input.owner, "to_controller", target->schema());
    if (!out) return tl::unexpected<SetupError>(std::move(out.error()));
    // So that connections change at a boundary of the loop.
    if (auto added = manager.context().add(*input.owner); !added)
      return tl::unexpected<SetupError>(std::move(added.error()));
    auto connected = component::connect(**out, *target, one.options);
    if (!connected) return tl::unexpected<SetupError>(std::move(connected.error()));
    input.in = std::move(*in);
    input.out = std::move(*out);
    input.connection = std::move(*connected);
    input.sample.resize(shm::parse_schema(target->sample_schema()).value_or(shm::Fields{}).bytes);
    made->inputs_.push_back(std::move(input));
  }
  return made;
}

InPortBase* RobotInputs::find(std::string_view port) const noexcept {
  const auto is_it = [port](const Input& input) { return input.wanted.port == port; };
  const auto found = std::ranges::find_if(inputs_, is_it);
  return found == inputs_.end() ? nullptr : found->in.get();
}

std::vector<RecordedInput> RobotInputs::recorded() const {
  std::vector<RecordedInput> list;
  for (const Input& input : inputs_)
    list.push_back({input.wanted.port, std::string(input.in->schema()),
                    std::string(input.in->sample_schema()), input.wanted.options});
  return list;
}

std::vector<record::Topic> RobotInputs::topics() const {
  std::vector<record::Topic> topics;
  for (const Input& input : inputs_)
    topics.push_back({std::string(input_topics) + input.wanted.port, message_type(input.wanted.port),
                      input.in->sample_schema()});
  return topics;
}

void RobotInputs::on_inputs(const motion::LoopInputs&) noexcept {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    Input& input = inputs_[i];
    // A writer that is faster than this loop does not keep it.
    for (std::uint32_t left = std::max(input.wanted.options.capacity, 1U); left > 0; --left) {
      if (!input.waits && input.in->read() != shm::Freshness::new_data) break;
      input.waits = !input.out->write(input.in->value(), input.in->stamp());
      if (input.waits) break;
      record(i);
    }
  }
}

/// A sample has a number of its own: a value that waited has one, though it was written more than once.
void RobotInputs::record(std::size_t index) noexcept {
  Input& input = inputs_[index];
  ++input.taken;
  if (lane_ == nullptr) return;
  const Time stamp = input.in->stamp();
  std::memcpy(input.sample.data(), &stamp, sizeof stamp);
  std::memcpy(input.sample.data() + sizeof stamp, &input.taken, sizeof input.taken);
  std::memcpy(input.sample.data() + sample_head, input.in->value(), input.in->value_bytes());
  lane_->sample(first_ + index, now_, input.sample);
}

}  // namespace takt::app
