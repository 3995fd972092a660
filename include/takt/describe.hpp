// Converts an Error of any room into its text, for logs and for the C API. Code that knows the room calls the
// room's own describe(Errc).
#pragma once

#include <string_view>

#include "takt/app/error.hpp"
#include "takt/can/error.hpp"
#include "takt/component/error.hpp"
#include "takt/control/error.hpp"
#include "takt/controllers/error.hpp"
#include "takt/core/error.hpp"
#include "takt/mobile/error.hpp"
#include "takt/motion/error.hpp"
#include "takt/platform/error.hpp"
#include "takt/record/error.hpp"
#include "takt/robot/error.hpp"
#include "takt/rt/error.hpp"
#include "takt/secure/error.hpp"
#include "takt/shm/error.hpp"
#include "takt/sim/error.hpp"
#include "takt/trajectory/error.hpp"
#include "takt/vehicle/error.hpp"

namespace takt {

/// The text of an error: a literal with static lifetime, never empty, with a NUL after its last character. An
/// unused code gives a text that begins with "unknown". Real-time safe.
[[nodiscard]] constexpr std::string_view describe(Error error) noexcept {
  switch (error.room) {
    case Room::trajectory:
      return describe(static_cast<trajectory::Errc>(error.code));
    case Room::control:
      return describe(static_cast<control::Errc>(error.code));
    case Room::mobile:
      return describe(static_cast<mobile::Errc>(error.code));
    case Room::can:
      return describe(static_cast<can::Errc>(error.code));
    case Room::vehicle:
      return describe(static_cast<vehicle::Errc>(error.code));
    case Room::shm:
      return describe(static_cast<shm::Errc>(error.code));
    case Room::rt:
      return describe(static_cast<rt::Errc>(error.code));
    case Room::component:
      return describe(static_cast<component::Errc>(error.code));
    case Room::robot:
      return describe(static_cast<robot::Errc>(error.code));
    case Room::controllers:
      return describe(static_cast<controllers::Errc>(error.code));
    case Room::motion:
      return describe(static_cast<motion::Errc>(error.code));
    case Room::record:
      return describe(static_cast<record::Errc>(error.code));
    case Room::sim:
      return describe(static_cast<sim::Errc>(error.code));
    case Room::platform:
      return describe(static_cast<platform::Errc>(error.code));
    case Room::app:
      return describe(static_cast<app::Errc>(error.code));
    case Room::secure:
      return describe(static_cast<secure::Errc>(error.code));
    case Room::none:
    case Room::core:
    case Room::capi:
      break;
  }
  return "unknown error: the room has no error codes";
}

}  // namespace takt
