#include "app/recorded_ports.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "app/recorded_devices.hpp"
#include "takt/component/component.hpp"
#include "takt/robot/controller.hpp"
#include "takt/shm/schema.hpp"

namespace takt::app {
namespace {

std::vector<component::InPortBase*> in_ports(robot::Manager& manager) {
  std::vector<component::InPortBase*> all;
  for (const robot::ControllerStatus& status : manager.controllers()) {
    for (component::Port* const port : manager.find(status.name)->ports()) {
      if (auto* const in = dynamic_cast<component::InPortBase*>(port)) all.push_back(in);
    }
  }
  return all;
}

}  // namespace

std::string read_schema(const RecordedPort& port) {
  std::string schema = std::string(shm::schema_text<RecordedRead>()) + ", " + port.sample_schema;
  return shm::parse_schema(schema) ? schema : std::string();
}

component::InPortBase* find_in_port(robot::Manager& manager, std::string_view name) {
  const auto all = in_ports(manager);
  const auto found = std::ranges::find(all, name, &component::InPortBase::full_name);
  return found == all.end() ? nullptr : *found;
}

PortReads::PortReads(robot::Manager& manager) {
  for (component::InPortBase* const port : in_ports(manager)) {
    // A name may have dots, so two ports could have one full name. The second is left out.
    if (std::ranges::find(ports_, port->full_name(), &RecordedPort::name) != ports_.end()) continue;
    port->add_tap(taps_.emplace_back(*this, ports_.size(), port->last_sample().size()));
    ports_.push_back({port->full_name(), std::string(port->sample_schema())});
    schemas_.push_back(read_schema(ports_.back()));
  }
}

std::vector<record::Topic> PortReads::topics() const {
  std::vector<record::Topic> topics;
  for (std::size_t i = 0; i < ports_.size(); ++i)
    topics.push_back(
        {std::string(read_topics) + ports_[i].name, message_type("read " + ports_[i].name), schemas_[i]});
  return topics;
}

bool PortReads::Tap::read(component::InPortBase& port) noexcept {
  if (!read_behind(port)) {
    ++head_.empty;
    return false;
  }
  ++head_.number;
  head_.cycle = reads_->moment_->cycle;
  head_.missed = port.missed() - std::exchange(missed_, port.missed());
  const std::span<const std::byte> sample = port.last_sample();
  std::memcpy(message_.data(), &head_, sizeof head_);
  std::memcpy(message_.data() + sizeof head_, sample.data(), sample.size());
  reads_->lane_->sample(reads_->first_ + port_, reads_->moment_->time, message_);
  head_.empty = 0;
  return true;
}

}  // namespace takt::app
