#include "takt/app/shared_ports.hpp"

#include <memory>
#include <utility>

namespace takt::app {
namespace {

/// The exchange's memory with the owner slot of this end. The slot keeps the segment's memory, too.
SetupResult<component::SampleMemory> memory_of(platform::Segment& segment, const std::string& exchange,
                                               shm::Role role) {
  const auto found = segment.layout().find(exchange);
  if (!found) return fail(found.error(), segment.name() + " has no exchange \"" + exchange + "\"");
  component::SampleMemory memory{segment.layout(), exchange, nullptr};
  const bool has_slot =
      (role == shm::Role::producer ? (*found)->extent.producers : (*found)->extent.consumers) > 0;
  if (!has_slot) return memory;
  auto slot = segment.take_owner_slot(exchange, role);
  if (!slot) return tl::unexpected<SetupError>(std::move(slot.error()));
  memory.owner = std::make_shared<platform::OwnerSlot>(std::move(*slot));
  return memory;
}

}  // namespace

SetupResult<component::Connection> connect(component::OutPortBase& from, platform::Segment& segment,
                                           const std::string& exchange,
                                           std::shared_ptr<component::Wake> bell) {
  auto memory = memory_of(segment, exchange, shm::Role::producer);
  if (!memory) return tl::unexpected<SetupError>(std::move(memory.error()));
  return component::connect(from, std::move(*memory), std::move(bell));
}

SetupResult<component::Connection> connect(platform::Segment& segment, const std::string& exchange,
                                           component::InPortBase& to, int order) {
  auto memory = memory_of(segment, exchange, shm::Role::consumer);
  if (!memory) return tl::unexpected<SetupError>(std::move(memory.error()));
  return component::connect(std::move(*memory), to, order);
}

}  // namespace takt::app
