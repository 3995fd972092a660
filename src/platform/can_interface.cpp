#include "takt/platform/can_interface.hpp"

#include <fmt/format.h>
#include <linux/can.h>
#include <linux/can/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "platform/descriptor.hpp"

namespace takt::platform {
namespace {

using Bytes = std::span<const std::uint8_t>;

/// The first bytes of `bytes` as a kernel struct.
template <class T>
std::optional<T> front_as(Bytes bytes) noexcept {
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// `bytes` without the first `count`, rounded up to the multiple of 4 where the kernel puts the next item.
Bytes after(Bytes bytes, std::size_t count) noexcept {
  return bytes.subspan(std::min((count + 3) / 4 * 4, bytes.size()));
}

struct Attribute {
  unsigned type = 0;
  Bytes data;
};

/// Calls `each` for every attribute. Returns false if an attribute does not fit into the bytes, or `each`
/// returns false.
template <class F>
bool for_each_attribute(Bytes bytes, F each) {
  while (bytes.size() >= sizeof(nlattr)) {
    const auto header = *front_as<nlattr>(bytes);
    if (header.nla_len < sizeof header || header.nla_len > bytes.size()) return false;
    const unsigned type = header.nla_type & static_cast<unsigned>(NLA_TYPE_MASK);
    if (!each(Attribute{type, bytes.subspan(sizeof header, header.nla_len - sizeof header)})) return false;
    bytes = after(bytes, header.nla_len);
  }
  return true;
}

template <class T>
bool read_number(Bytes data, T& number) noexcept {
  const auto value = front_as<std::uint32_t>(data);
  if (value) number = *value;
  return value.has_value();
}

/// Reads a name that ends with a zero or with the attribute. It has at most 63 bytes, without spaces and
/// control characters.
bool read_name(Bytes data, std::string& name) {
  const auto end = std::ranges::find(data, std::uint8_t{0});
  const bool is_name = end - data.begin() < 64 &&
                       std::all_of(data.begin(), end, [](std::uint8_t c) { return c > ' ' && c != 0x7F; });
  if (is_name) name.assign(data.begin(), end);
  return is_name;
}

bool read_bit_rate(Bytes data, std::optional<std::uint32_t>& rate) noexcept {
  const auto timing = front_as<can_bittiming>(data);
  if (timing && timing->bitrate != 0) rate = timing->bitrate;
  return timing.has_value();
}

bool read_can_attribute(const Attribute& attribute, CanInterface& interface) {
  switch (attribute.type) {
    case IFLA_CAN_BITTIMING:
      return read_bit_rate(attribute.data, interface.bit_rate);
    case IFLA_CAN_DATA_BITTIMING:
      return read_bit_rate(attribute.data, interface.data_bit_rate);
    case IFLA_CAN_RESTART_MS:
      return read_number(attribute.data, interface.restart_ms);
    case IFLA_CAN_STATE: {
      const auto state = front_as<std::uint32_t>(attribute.data);
      if (state && *state <= CAN_STATE_SLEEPING) interface.controller = static_cast<CanController>(*state);
      return state.has_value();
    }
    default:
      return true;
  }
}

/// Reads the driver's kind, and its numbers if the kind is "can". Other kinds use the numbers differently.
bool read_link_info(Bytes bytes, CanInterface& interface) {
  Bytes data;
  const bool whole = for_each_attribute(bytes, [&](const Attribute& attribute) {
    if (attribute.type == IFLA_INFO_DATA) data = attribute.data;
    return attribute.type != IFLA_INFO_KIND || read_name(attribute.data, interface.kind);
  });
  if (!whole || interface.kind != "can") return whole;
  return for_each_attribute(
      data, [&](const Attribute& attribute) { return read_can_attribute(attribute, interface); });
}

bool read_attribute(const Attribute& attribute, CanInterface& interface) {
  switch (attribute.type) {
    case IFLA_IFNAME:
      return read_name(attribute.data, interface.name);
    case IFLA_MTU:
      return read_number(attribute.data, interface.mtu);
    case IFLA_TXQLEN:
      return read_number(attribute.data, interface.queue_length);
    case IFLA_LINKINFO:
      return read_link_info(attribute.data, interface);
    default:
      return true;
  }
}

/// The request for one interface, in the kernel's form.
struct Question {
  nlmsghdr header{};
  ifinfomsg link{};
  nlattr mask_header{};
  std::uint32_t mask = 0;
  nlattr name_header{};
  std::array<char, IFNAMSIZ> name{};
};
static_assert(sizeof(Question) == sizeof(nlmsghdr) + sizeof(ifinfomsg) + 2 * sizeof(nlattr) + 4 + IFNAMSIZ);

Question question_for(const std::string& name) {
  Question question;
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = RTM_GETLINK;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.header.nlmsg_seq = 1;
  question.link.ifi_family = AF_UNSPEC;
  question.mask_header = {sizeof question.mask_header + sizeof question.mask, IFLA_EXT_MASK};
  question.mask = RTEXT_FILTER_SKIP_STATS;
  question.name_header = {sizeof question.name_header + sizeof question.name, IFLA_IFNAME};
  std::ranges::copy(name, question.name.begin());
  return question;
}

/// The kernel's answer, or the errno of the failure.
tl::expected<std::vector<std::uint8_t>, int> ask(const Question& question) {
  const detail::Descriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  if (!socket.is_open() || ::sendto(socket.get(), &question, sizeof question, 0,
                                    reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel) < 0) {
    return tl::unexpected(errno);
  }
  std::vector<std::uint8_t> answer(std::size_t{1} << 16U);  // the answer for one link is far shorter
  for (;;) {  // the kernel answers before sendto() returns; only a signal can interrupt
    sockaddr_nl sender{};
    socklen_t size = sizeof sender;
    const ssize_t got = ::recvfrom(socket.get(), answer.data(), answer.size(), MSG_TRUNC | MSG_DONTWAIT,
                                   reinterpret_cast<sockaddr*>(&sender), &size);
    if (got < 0 && errno != EINTR) return tl::unexpected(errno);
    if (got < 0 || sender.nl_pid != 0) continue;  // another process may send to this socket too
    answer.resize(std::min(static_cast<std::size_t>(got), answer.size()));
    return answer;
  }
}

// ---- Commands that fix an interface

bool has_bit_rate(const CanInterface& interface) { return interface.kind == "can"; }

/// The arguments of `ip link set` for the wanted bit rates; empty for virtual interfaces.
std::string bit_rate_words(const CanInterface& interface, const CanNeeds& needs) {
  if (!has_bit_rate(interface)) return "";
  const std::uint32_t rate = needs.bit_rate != 0 ? needs.bit_rate : interface.bit_rate.value_or(1'000'000);
  const std::uint32_t data =
      needs.data_bit_rate != 0 ? needs.data_bit_rate : interface.data_bit_rate.value_or(5'000'000);
  return needs.fd ? fmt::format(" type can bitrate {} dbitrate {} fd on", rate, data)
                  : fmt::format(" type can bitrate {}", rate);
}

std::string down_and_up(const CanInterface& interface, const std::string& words) {
  return fmt::format("ip link set {0} down && ip link set {0} up{1}", interface.name, words);
}

bool is_same_rate(std::optional<std::uint32_t> have, std::uint32_t wanted) {
  if (!have || wanted == 0) return true;
  const auto difference = std::abs(std::int64_t{*have} - std::int64_t{wanted});
  return 200 * difference <= std::int64_t{wanted};
}

}  // namespace

bool CanInterface::fd() const noexcept { return is_can && mtu >= CANFD_MTU; }

Result<CanInterface> read_link_message(std::span<const std::uint8_t> message) {
  const auto header = front_as<nlmsghdr>(message);
  if (!header || header->nlmsg_len < sizeof *header || header->nlmsg_len > message.size())
    return fail(Errc::bad_link_message);
  const Bytes body = after(message.first(header->nlmsg_len), sizeof *header);
  if (header->nlmsg_type == NLMSG_ERROR) {
    const auto number = front_as<std::int32_t>(body);
    if (!number) return fail(Errc::bad_link_message);
    return fail(*number == -ENODEV ? Errc::no_such_can_interface : Errc::can_failed);
  }
  const auto link = front_as<ifinfomsg>(body);
  if (header->nlmsg_type != RTM_NEWLINK || !link) return fail(Errc::bad_link_message);
  CanInterface interface;
  interface.index = link->ifi_index;
  interface.is_can = link->ifi_type == ARPHRD_CAN;
  interface.is_up = (link->ifi_flags & static_cast<unsigned>(IFF_UP)) != 0;
  const bool whole = for_each_attribute(after(body, sizeof *link), [&](const Attribute& attribute) {
    return read_attribute(attribute, interface);
  });
  if (!whole) return fail(Errc::bad_link_message);
  return interface;
}

SetupResult<CanInterface> find_can_interface(const std::string& name) {
  const auto failed = [&](Errc code, std::string_view why) {
    return fail(code, fmt::format("{}: {}", name, why));
  };
  if (name.empty() || name.size() >= IFNAMSIZ || name.find('\0') != std::string::npos) {
    return failed(Errc::no_such_can_interface,
                  fmt::format("the name of a network interface has 1 to {} characters", IFNAMSIZ - 1));
  }
  const auto answer = ask(question_for(name));
  if (!answer)
    return failed(Errc::can_failed,
                  "the kernel does not answer about interfaces: " + detail::text_of(answer.error()));
  auto interface = read_link_message(*answer);
  if (interface && interface->name == name) return *interface;
  if (!interface && interface.error() != Errc::no_such_can_interface) {
    return fail(interface.error(),
                fmt::format("{}: the kernel's answer does not describe this interface", name));
  }
  return failed(
      Errc::no_such_can_interface,
      "there is no network interface of this name; to list the CAN interfaces: ip -br link show type can");
}

SetupResult<void> check_can_interface(const CanInterface& interface, const CanNeeds& needs) {
  const auto failed = [&](Errc code, const std::string& why, const std::string& command) {
    return fail(code, fmt::format("{}: {}; {}", interface.name, why, command));
  };
  if (!interface.is_can) {
    return failed(Errc::not_can, "this network interface is not a CAN interface",
                  "to list the CAN interfaces: ip -br link show type can");
  }
  const std::string rates = bit_rate_words(interface, needs);
  if (!interface.is_up) {
    return failed(Errc::can_interface_down, "the interface is down",
                  fmt::format("ip link set {} up{}", interface.name, rates));
  }
  if (!is_same_rate(interface.bit_rate, needs.bit_rate)) {
    return failed(Errc::wrong_can_bit_rate,
                  fmt::format("runs at {} bit/s, not {}", *interface.bit_rate, needs.bit_rate),
                  down_and_up(interface, rates));
  }
  if (needs.fd && !interface.fd()) {
    const std::string words = has_bit_rate(interface) ? rates : fmt::format(" mtu {}", CANFD_MTU);
    return failed(
        Errc::no_can_fd,
        fmt::format("the interface takes classic frames only (mtu {}, not {})", interface.mtu, CANFD_MTU),
        down_and_up(interface, words));
  }
  if (needs.fd && !is_same_rate(interface.data_bit_rate, needs.data_bit_rate)) {
    return failed(Errc::wrong_can_bit_rate,
                  fmt::format("sends data of FD frames at {} bit/s, not {}", *interface.data_bit_rate,
                              needs.data_bit_rate),
                  down_and_up(interface, rates));
  }
  if (interface.queue_length != 0 && interface.queue_length < needs.frames_per_cycle) {
    return failed(Errc::can_queue_too_short,
                  fmt::format("its send queue holds {} frames, but a cycle sends {}", interface.queue_length,
                              needs.frames_per_cycle),
                  fmt::format("ip link set {} txqueuelen {}", interface.name, needs.frames_per_cycle));
  }
  if (interface.controller == CanController::bus_off) {
    return failed(Errc::can_bus_off,
                  "the controller is bus-off after too many errors: check wires, termination, and the bit "
                  "rate of each node",
                  fmt::format("ip link set {} type can restart", interface.name));
  }
  return {};
}

}  // namespace takt::platform
