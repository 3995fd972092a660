#include "app/variable_tap.hpp"

#include <cstdint>

#include "app/recorded_devices.hpp"
#include "record/standard_message.hpp"
#include "takt/shm/schema.hpp"

namespace takt::app {
namespace {

constexpr std::uint32_t port_capacity = 64;  ///< values of a port in one cycle
constexpr std::string_view number_schema = shm::schema_text<double>();

/// The out-port "controller.port"; null: there is none.
component::OutPortBase* port_of(robot::Manager& manager, std::string_view name) {
  const std::size_t point = name.rfind('.');
  if (point == std::string_view::npos) return nullptr;
  robot::Controller* const controller = manager.find(name.substr(0, point));
  if (controller == nullptr) return nullptr;
  return dynamic_cast<component::OutPortBase*>(controller->find_port(name.substr(point + 1)));
}

/// No variable is replayed, so ROS 2's message serves even if it rounds.
std::string type_of(std::string_view name, std::string_view schema) {
  const record::StandardMessage* const standard = record::standard_message(schema);
  return standard != nullptr ? std::string(standard->name) : message_type(name);
}

}  // namespace

SetupResult<std::shared_ptr<VariableTap>> VariableTap::create(robot::Manager& manager,
                                                              std::span<const std::string> names) {
  std::vector<std::string> interfaces;
  std::vector<std::pair<std::string, component::OutPortBase*>> ports;
  for (const std::string& name : names) {
    if (component::OutPortBase* port = port_of(manager, name)) {
      ports.emplace_back(name, port);
    } else {
      interfaces.push_back(name);
    }
  }
  auto tap = std::make_shared<VariableTap>(std::move(interfaces));
  for (const auto& [name, port] : ports) {
    if (auto connected = tap->connect(name, *port); !connected)
      return tl::unexpected<SetupError>(std::move(connected.error()));
  }
  if (auto loaded = manager.load(tap); !loaded) return tl::unexpected<SetupError>(std::move(loaded.error()));
  return tap;
}

SetupResult<void> VariableTap::connect(const std::string& name, component::OutPortBase& port) {
  auto in = component::OpaqueInPort::create(*this, std::to_string(ports_.size()), port.schema());
  if (!in) return tl::unexpected<SetupError>(std::move(in.error()));
  auto made = component::connect(port, **in,
                                 {.buffering = component::Buffering::circular, .capacity = port_capacity});
  if (!made) return tl::unexpected<SetupError>(std::move(made.error()));
  ports_.push_back({name, std::move(*in), std::move(*made)});
  return {};
}

SetupResult<void> VariableTap::on_configure(robot::Resources& resources) {
  for (const std::string& name : names_) {
    auto memory = resources.reading(name);
    if (!memory) return tl::unexpected<SetupError>(std::move(memory.error()));
    const std::string_view schema = memory->schema.empty() ? number_schema : memory->schema;
    values_.push_back({std::move(*memory), shm::parse_schema(schema).value_or(shm::Fields{}).bytes});
  }
  return {};
}

std::vector<record::Topic> VariableTap::topics() const {
  std::vector<record::Topic> topics;
  for (const Value& value : values_) {
    const std::string_view schema = value.memory.schema;
    topics.push_back({.topic = "/variables/" + value.memory.name,
                      .type = schema.empty() ? "takt/msg/Number" : type_of(value.memory.name, schema),
                      .schema = schema.empty() ? number_schema : schema,
                      .unit = value.memory.unit});
  }
  for (const Port& port : ports_)
    topics.push_back({"/variables/" + port.name, type_of(port.name, port.in->schema()), port.in->schema()});
  return topics;
}

void VariableTap::after_cycle(const motion::Snapshot& snapshot) noexcept {
  if (context() == nullptr) return;  // unloaded: what it reads may be gone
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const auto* bytes = static_cast<const std::uint8_t*>(values_[i].memory.value);
    lane_->sample(first_ + i, snapshot.time, {bytes, values_[i].size});
  }
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    component::OpaqueInPort& in = *ports_[i].in;
    // An asynchronous controller may write meanwhile, from its own thread.
    for (std::uint32_t left = port_capacity; left > 0; --left) {
      if (in.read() != shm::Freshness::new_data) break;
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(in.value());
      lane_->sample(first_ + values_.size() + i, in.stamp(), {bytes, in.value_bytes()});
    }
  }
}

}  // namespace takt::app
