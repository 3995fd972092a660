#include "platform/can_socket.hpp"

#include <linux/can.h>
#include <sys/socket.h>

#include <fmt/format.h>
#include <cerrno>

#include "takt/platform/error.hpp"

namespace takt::platform::detail {
namespace {

/// Why the kernel refuses a socket, with the command that fixes it.
tl::unexpected<SetupError> no_socket(const std::string& interface, int number) {
  const auto failed = [&](Errc code, std::string_view remedy) {
    return fail(code, fmt::format("{}: no CAN socket: {}{}", interface, text_of(number), remedy));
  };
  switch (number) {
    case EAFNOSUPPORT:
    case EPROTONOSUPPORT:
    case ESOCKTNOSUPPORT:
      return failed(Errc::no_can, "; sudo modprobe -a can_raw can_bcm");
    case EPERM:
    case EACCES:
      return failed(Errc::no_permission, "; a container needs the host's network (--network host)");
    default:
      return failed(Errc::can_failed, "");
  }
}

}  // namespace

SetupResult<CanSocket> open_can_socket(const std::string& interface, int type, int protocol,
                                       const CanNeeds& needs) {
  Descriptor descriptor(::socket(PF_CAN, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
  if (!descriptor.is_open()) return no_socket(interface, errno);
  const auto found = find_can_interface(interface);
  if (!found) return tl::unexpected(found.error());
  if (const auto fit = check_can_interface(*found, needs); !fit) return tl::unexpected(fit.error());
  return CanSocket{std::move(descriptor), found->index};
}

}  // namespace takt::platform::detail
