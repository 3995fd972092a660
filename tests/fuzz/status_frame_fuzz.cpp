// Fuzzes status frames of a vehicle with any bytes: rejected without a change, or re-encoded to the same
// bytes except padding. No field is read outside its block, with the known layouts or with others.
#include "takt/vehicle/status_frame.hpp"

#include <algorithm>
#include <array>

#include "support/require.hpp"

using namespace takt;
using namespace takt::vehicle;
using takt::test::require;

namespace {

constexpr std::array moved_fields{SystemField{"target_angle", 0, FieldType::i32},
                                  SystemField{"state", 4, FieldType::i8},
                                  SystemField{"current_angle", 5, FieldType::u16}};
constexpr std::array end_fields{SystemField{"last", 238, FieldType::u32},
                                SystemField{"state", 241, FieldType::u8}};
constexpr std::array other_systems{SystemLayout{System::steering, "steering", 7, false, moved_fields},
                                   SystemLayout{static_cast<System>(31), "long", 242, true, end_fields}};
constexpr Layouts other_layouts = *Layouts::make(other_systems);

void check_fields(const StatusFrame& status) {
  for (const SystemLayout& layout : status.layouts().systems()) {
    const auto block = status.bytes(layout.system);
    require(status.has(layout.system) == !block.empty());
    require(block.empty() || block.size() == layout.length);
    require(status.has(layout.system) || status.state(layout.system) == SystemState::unknown);
    for (const SystemField& field : layout.fields)
      require(status.value(layout.system, field).has_value() == status.has(layout.system));
  }
}

/// A decoded block encodes to the same bytes, and leaves the bytes around it unchanged.
void set_again(const StatusFrame& status) {
  StatusFrame again = status;
  for (const SystemLayout& layout : status.layouts().systems()) {
    for (const SystemField& field : layout.fields)
      if (const auto value = status.value(layout.system, field))
        require(again.set(layout.system, field.name, *value).has_value());
  }
  if (const auto block = status.traction()) require(again.set(*block).has_value());
  if (const auto block = status.steering()) require(again.set(*block).has_value());
  if (const auto block = status.battery()) require(again.set(*block).has_value());
  require(again == status);
}

void try_layouts(std::span<const std::uint8_t> bytes, const Layouts& layouts) {
  StatusFrame status(layouts);
  const StatusFrame before = status;
  if (!decode_into(status, bytes, layouts)) {
    require(status == before && status.present().empty());
    return;
  }
  check_fields(status);
  set_again(status);
  std::array<std::uint8_t, max_status_bytes> out{};
  require(encode_status(status, out) == bytes.size());
  require(std::equal(bytes.begin(), bytes.begin() + 9, out.begin()));
  require(std::equal(bytes.begin() + status_header_bytes, bytes.end(), out.begin() + status_header_bytes));
  StatusFrame fuller = status;
  for (const SystemLayout& layout : layouts.systems()) {
    const bool fitted = fuller.set(layout.system, SystemState::running).has_value();
    require(fitted == fuller.has(layout.system));
  }
  require(encode_status(fuller, out).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(data, size);
  try_layouts(bytes, furbot_layouts);
  try_layouts(bytes, other_layouts);
  return 0;
}
