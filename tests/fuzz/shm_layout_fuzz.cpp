// Fuzzes the memory of a segment with any bytes. The directory is rejected or parsed, and parsed parts lie
// within the memory. The ends on this memory stay within it, and each of their calls ends.
#include "takt/shm/layout.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "support/require.hpp"

using namespace takt;
using namespace takt::shm;
using takt::test::require;

namespace {

/// Uses each end of this name several times.
void use(const Layout& layout, std::string_view name) {
  constexpr int times = 20;
  std::uint64_t value = 0;
  if (auto ring = layout.producer<SpscRing<std::uint64_t>>(name)) {
    for (int i = 0; i < times; ++i) (void)ring->try_push(value);
  }
  if (auto ring = layout.consumer<SpscRing<std::uint64_t>>(name)) {
    for (int i = 0; i < times; ++i) (void)ring->try_pop(value);
  }
  if (auto ring = layout.producer<SlotRing<std::uint64_t>>(name)) {
    for (int i = 0; i < times; ++i) (void)ring->try_push(value);
  }
  if (auto ring = layout.consumer<SlotRing<std::uint64_t>>(name)) {
    for (int i = 0; i < times; ++i) (void)ring->try_pop(value);
  }
  std::array<std::byte, 24> record{};
  if (auto ring = layout.producer<ByteRing>(name)) {
    for (int i = 0; i < times; ++i) (void)ring->try_write(record);
  }
  if (auto ring = layout.consumer<ByteRing>(name)) {
    for (int i = 0; i < times; ++i) {
      const auto got = ring->peek();
      if (!got) continue;
      for (const std::byte byte : *got) value += static_cast<std::uint64_t>(byte);
      ring->release();
    }
  }
  if (auto latest = layout.producer<LatestValue<std::uint64_t>>(name)) latest->write(value);
  if (auto latest = layout.consumer<LatestValue<std::uint64_t>>(name)) (void)latest->read(value);
  if (auto broadcast = layout.producer<BroadcastValue<std::uint64_t>>(name)) (*broadcast)->write(value);
  if (auto broadcast = layout.consumer<BroadcastValue<std::uint64_t>>(name)) (void)broadcast->read(value);
  if (auto ring = layout.producer<BroadcastRing<std::uint64_t>>(name)) ring->write(value);
  if (auto ring = layout.consumer<BroadcastRing<std::uint64_t>>(name)) {
    for (int i = 0; i < times; ++i) (void)ring->try_read(value);
  }
  if (auto raw = layout.producer<RawMemory>(name)) raw->back() = raw->front();
  volatile std::uint64_t keep = value;
  static_cast<void>(keep);
}

struct Free {
  void operator()(std::byte* memory) const {
    ::operator delete (memory, std::align_val_t{interference_size});
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::unique_ptr<std::byte, Free> memory(
      static_cast<std::byte*>(::operator new (size, std::align_val_t{interference_size})));
  if (size != 0) std::memcpy(memory.get(), data, size);
  const auto layout = Layout::read({memory.get(), size});
  if (!layout) return 0;
  std::array<char, max_schema> text{};
  for (const Exchange& exchange : layout->exchanges()) {
    require(exchange.offset <= size && exchange.bytes <= size - exchange.offset);
    require(exchange.first_owner_slot + exchange.extent.producers + exchange.extent.consumers <=
            layout->owner_slots());
    require(layout->schema(exchange, text).has_value());
    use(*layout, exchange.name());
  }
  for (std::uint32_t i = 0; i < layout->owner_slots(); ++i) layout->owner_slot(i).heartbeat = i;
  return 0;
}
