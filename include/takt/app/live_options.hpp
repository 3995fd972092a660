// Where a running robot sends what it does: to clients of Foxglove's WebSocket protocol, and to PlotJuggler.
// The README of this room lists the topics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "takt/core/finite_math.hpp"
#include "takt/record/foxglove_server.hpp"

namespace takt::app {

/// The port at which PlotJuggler's UDP server listens by default.
inline constexpr std::uint16_t plotjuggler_port = 9870;

/// An address and a port.
struct LiveAddress {
  std::string address = "127.0.0.1";  ///< numeric IPv4 or IPv6 address
  std::uint16_t port = 0;
};

/// The live streams of a robot. The loop copies samples into a ring and never waits. A slow receiver misses
/// samples.
struct LiveOptions {
  /// Where the Foxglove server listens; port 0: any free one. Clients may set parameters of controllers, so
  /// another address than loopback lets other machines do so. std::nullopt: no server.
  std::optional<LiveAddress> foxglove{};
  /// Web pages that may connect to the Foxglove server.
  std::vector<std::string> foxglove_origins = {record::foxglove_origin};
  /// Where JSON datagrams are sent. std::nullopt: nowhere.
  std::optional<LiveAddress> plotjuggler{};
  double rate = 100;  ///< Hz, samples; at most one a cycle

  /// Whether there is any stream.
  [[nodiscard]] bool any() const noexcept { return foxglove || plotjuggler; }
};

}  // namespace takt::app
