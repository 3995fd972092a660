// What can go wrong between us and the operating system.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/core/error.hpp"

namespace takt::platform {

/// Numbers are part of the C API: never reused.
enum class Errc : std::uint16_t {
  listen_failed = 1,
  connect_failed = 2,
  connection_closed = 3,
  send_failed = 4,
  receive_failed = 5,
};

[[nodiscard]] constexpr Room room_of(Errc) noexcept { return Room::platform; }

[[nodiscard]] constexpr std::string_view describe(Errc code) noexcept {
  switch (code) {
    case Errc::listen_failed:
      return "the port cannot be listened on";
    case Errc::connect_failed:
      return "no connection could be made";
    case Errc::connection_closed:
      return "the other side closed the connection";
    case Errc::send_failed:
      return "the connection does not take any more";
    case Errc::receive_failed:
      return "the connection gives nothing any more";
  }
  return "unknown platform error";
}

}  // namespace takt::platform
