// Messages that must not compile, one for each value of TAKT_PLANTED; with 0, the good one of which they are
// made.
#include <cstdint>
#include <tuple>

#include "takt/can/message.hpp"

using namespace takt;
using enum can::ByteOrder;
using enum can::NumberType;

constexpr std::uint32_t id = TAKT_PLANTED == 1 ? 0x800 : 0x181;
constexpr std::uint8_t length = TAKT_PLANTED == 2 ? 9 : 4;
constexpr std::uint16_t torque_start = TAKT_PLANTED == 3 ? 15 : TAKT_PLANTED == 4 ? 17 : 16;
constexpr double most = TAKT_PLANTED == 5 ? 70 : 60;
constexpr std::uint8_t state_bits = TAKT_PLANTED == 6 ? 9 : 8;
constexpr std::uint64_t page = TAKT_PLANTED == 7 ? 4 : 3;

struct Planted {
  double speed = 0;
  double torque = 0;
  std::uint8_t state = 0;
  std::uint8_t page_number = 0;

  static constexpr can::MessageSpec message{.name = "Planted", .id = id, .length = length};
  static constexpr std::tuple signals{
      can::bind(&Planted::speed, {"Speed", {{0, 14}, 0.004, 0, 0, most}}),
      can::bind(&Planted::page_number, {TAKT_PLANTED == 8 ? "Speed" : "Page", {{14, 2}}}),
      can::bind(&Planted::torque, {"Torque", {{torque_start, 16}}, "Nm", can::when("Page", 1)}),
      can::bind(&Planted::state,
                {"State", {{16, state_bits}}, "", can::when(TAKT_PLANTED == 9 ? "Pago" : "Page", page)})};
};

int main() { return can::encode(Planted{}).has_value() ? 0 : 1; }
