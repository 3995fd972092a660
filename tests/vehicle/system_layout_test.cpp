// The table of layouts: the Furbot's, invalid ones, and a user's own with moved fields.
#include "takt/vehicle/system_layout.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "takt/vehicle/status_frame.hpp"

using namespace takt;
using namespace takt::vehicle;
using enum FieldType;

namespace {

constexpr std::array short_state{SystemField{"state", 0, u8}};
constexpr std::array wide_state{SystemField{"state", 0, u16}};
constexpr std::array outside{SystemField{"state", 0, u8}, SystemField{"far", 3, i16}};

constexpr std::array moved{SystemField{"target_angle", 0, i16}, SystemField{"current_angle", 2, i32},
                           SystemField{"state", 6, u8}};
constexpr std::array own_systems{SystemLayout{System::steering, "steering", 7, false, moved},
                                 SystemLayout{static_cast<System>(31), "crane", 1, false, short_state}};
constexpr Layouts own = *Layouts::make(own_systems);

Error refused(const std::vector<SystemLayout>& table) {
  const auto made = Layouts::make(table);
  return made ? Error() : made.error();
}

}  // namespace

TEST_CASE("the known table has the lengths of all twelve systems, 96 bytes together, and few are certain") {
  std::size_t bytes = 0;
  SystemSet listed, certain;
  for (const SystemLayout& layout : furbot_layouts.systems()) {
    bytes += layout.length;
    listed.insert(layout.system);
    if (!layout.provisional) certain.insert(layout.system);
    CHECK(furbot_layouts.length(layout.system) == layout.length);
    CHECK(furbot_layouts.find(layout.system) == &layout);
  }
  CHECK(bytes == 96);
  CHECK(listed == furbot_systems);
  CHECK(certain == SystemSet{System::traction});
  CHECK(furbot_layouts.length(static_cast<System>(12)) == 0);
  CHECK(furbot_layouts.length(static_cast<System>(255)) == 0);
}

TEST_CASE("fields are found by name") {
  CHECK(furbot_layouts.find(System::traction, "odometer")->offset == 13);
  CHECK(furbot_layouts.find(System::traction, "odometer")->type == i32);
  CHECK(furbot_layouts.find(System::traction, "colour").error() == Errc::unknown_field);
  CHECK(furbot_layouts.find(static_cast<System>(12), "state").error() == Errc::unknown_system);
}

TEST_CASE("tables that are none are refused") {
  const auto other = static_cast<System>(20);
  CHECK(refused({{other, "other", 4, false, short_state}}) == Error());
  CHECK(refused(std::vector<SystemLayout>{}) == Errc::bad_layout);
  CHECK(refused({{other, "other", 0, false, short_state}}) == Errc::bad_layout);
  CHECK(refused({{other, "other", 243, false, short_state}}) == Errc::bad_layout);
  CHECK(refused({{other, "other", 4, false, outside}}) == Errc::bad_layout);
  CHECK(refused({{other, "other", 4, false, wide_state}}) == Errc::bad_layout);
  CHECK(refused({{other, "other", 4, false, {}}}) == Errc::bad_layout);
  CHECK(refused({{static_cast<System>(32), "other", 4, false, short_state}}) == Errc::bad_layout);
  CHECK(refused({{other, "a", 4, false, short_state}, {other, "b", 4, false, short_state}}) ==
        Errc::bad_layout);
  CHECK(refused({{System::steering, "steering", 5, false, short_state}}) == Errc::bad_layout);
  constexpr std::array unsigned_angle{SystemField{"state", 0, u8}, SystemField{"current_angle", 1, u32},
                                      SystemField{"target_angle", 1, i16}};
  CHECK(refused({{System::steering, "steering", 5, false, unsigned_angle}}) == Errc::bad_layout);
}

TEST_CASE("with a table of one's own the typed blocks, the states and the values go by it") {
  StatusFrame status(own);
  const Steering steering{2, -100000, -300};
  CHECK(status.set(steering).has_value());
  CHECK(status.set(static_cast<System>(31), SystemState::halted).has_value());
  CHECK(status.set(Steering{2, 0, 40000}).error() == Errc::out_of_range);
  CHECK(status.set(Traction{}).error() == Errc::unknown_system);
  std::array<std::uint8_t, max_status_bytes> bytes{};
  const auto size = encode_status(status, bytes);
  CHECK(size == 12 + 2 + 7 + 2 + 1);
  const auto again = decode_status(std::span(bytes).first(*size), own);
  CHECK(again == status);
  CHECK(again->steering() == steering);
  CHECK(again->state(System::steering) == SystemState::running);
  CHECK(again->state(static_cast<System>(31)) == SystemState::halted);
  CHECK(again->value(System::steering, "target_angle") == -300);
  CHECK(again->bytes(System::steering)[6] == 2);
}
