#include "platform/can_socket.hpp"

#include <linux/can.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>

#include "takt/platform/error.hpp"

namespace takt::platform::detail {
namespace {

Errc no_socket_error(int number) {
  const bool is_unknown = number == EAFNOSUPPORT || number == EPROTONOSUPPORT || number == ESOCKTNOSUPPORT;
  return is_unknown ? Errc::no_can : Errc::can_failed;
}

/// Why frames cannot be exchanged over the interface; empty if they can.
SetupResult<int> check_interface(int socket, const std::string& interface, bool fd) {
  const auto failed = [&](Errc code, std::string_view why) {
    return fail(code, fmt::format("{}: {}", interface, why));
  };
  ifreq request{};
  if (interface.empty() || interface.size() >= sizeof request.ifr_name) {
    return failed(Errc::no_such_can_interface,
                  fmt::format("a name has 1 to {} letters", sizeof request.ifr_name - 1));
  }
  std::ranges::copy(interface, request.ifr_name);
  if (::ioctl(socket, SIOCGIFINDEX, &request) != 0) {
    return failed(Errc::no_such_can_interface, "there is no network interface of this name");
  }
  const int index = request.ifr_ifindex;
  if (::ioctl(socket, SIOCGIFHWADDR, &request) != 0 || request.ifr_hwaddr.sa_family != ARPHRD_CAN) {
    return failed(Errc::no_such_can_interface, "this network interface is none of CAN");
  }
  if (::ioctl(socket, SIOCGIFFLAGS, &request) != 0 || (request.ifr_flags & IFF_UP) == 0) {
    return failed(Errc::can_interface_down,
                  fmt::format("the interface is down; ip link set {} up", interface));
  }
  if (fd && (::ioctl(socket, SIOCGIFMTU, &request) != 0 || request.ifr_mtu < static_cast<int>(CANFD_MTU))) {
    return failed(Errc::no_can_fd, fmt::format("the interface takes classic frames only (mtu {}, not {})",
                                               request.ifr_mtu, CANFD_MTU));
  }
  return index;
}

}  // namespace

SetupResult<CanSocket> open_can_socket(const std::string& interface, int type, int protocol, bool fd) {
  Descriptor descriptor(::socket(PF_CAN, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
  if (!descriptor.is_open()) {
    const int number = errno;
    return fail(no_socket_error(number), fmt::format("{}: no CAN socket: {}", interface, text_of(number)));
  }
  const auto index = check_interface(descriptor.get(), interface, fd);
  if (!index) return tl::unexpected(index.error());
  return CanSocket{std::move(descriptor), *index};
}

}  // namespace takt::platform::detail
