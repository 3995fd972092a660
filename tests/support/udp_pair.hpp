// Two connected UDP sockets on this machine.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>

#include "takt/platform/udp_socket.hpp"

namespace takt::test {

/// Returns a free port. Another program may take it meanwhile; the caller then tries again.
inline std::uint16_t free_udp_port() {
  const auto probe = platform::UdpSocket::open({});
  REQUIRE(probe.has_value());
  return probe->local_port();
}

struct UdpPair {
  platform::UdpSocket near;
  platform::UdpSocket far;
};

inline UdpPair udp_pair(bool busy_poll = false) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    const platform::UdpEndpoint a{.port = free_udp_port()};
    const platform::UdpEndpoint b{.port = free_udp_port()};
    auto near = platform::UdpSocket::open({.local = a, .peer = b, .busy_poll = busy_poll});
    auto far = platform::UdpSocket::open({.local = b, .peer = a, .busy_poll = busy_poll});
    if (near && far) return {std::move(*near), std::move(*far)};
  }
  FAIL("no two free ports");
  std::abort();
}

}  // namespace takt::test
