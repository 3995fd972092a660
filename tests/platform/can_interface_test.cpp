// Parses the kernel's description of a network interface: valid answers, impossible answers, and those of
// this machine.
#include "takt/platform/can_interface.hpp"

#include <doctest/doctest.h>
#include <linux/can/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "support/random.hpp"

using namespace takt;
using namespace takt::platform;

namespace {

using Bytes = std::vector<std::uint8_t>;

template <class T>
Bytes bytes_of(const T& value) {
  Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// With the kernel's padding to a multiple of 4.
Bytes attribute(unsigned type, const Bytes& data) {
  const nlattr header{static_cast<std::uint16_t>(sizeof(nlattr) + data.size()),
                      static_cast<std::uint16_t>(type)};
  Bytes bytes = bytes_of(header) + data;
  bytes.resize((bytes.size() + 3) / 4 * 4);
  return bytes;
}
Bytes attribute(unsigned type, std::string_view text) {
  Bytes data(text.begin(), text.end());
  data.push_back(0);
  return attribute(type, data);
}
Bytes attribute(unsigned type, std::uint32_t number) { return attribute(type, bytes_of(number)); }

Bytes message(std::uint16_t type, const Bytes& body) {
  nlmsghdr header{};
  header.nlmsg_len = static_cast<std::uint32_t>(sizeof header + body.size());
  header.nlmsg_type = type;
  return bytes_of(header) + body;
}

Bytes link(const Bytes& attributes, bool up = true, std::uint16_t type = ARPHRD_CAN) {
  ifinfomsg info{};
  info.ifi_type = type;
  info.ifi_index = 3;
  info.ifi_flags = up ? unsigned{IFF_UP} : 0U;
  return message(RTM_NEWLINK, bytes_of(info) + attributes);
}

Bytes timing(unsigned type, std::uint32_t rate) {
  can_bittiming timing{};
  timing.bitrate = rate;
  return attribute(type, bytes_of(timing));
}

/// The message of a CAN FD controller, with the flag that some kernels set on nested attributes.
Bytes controller_message() {
  const Bytes data = timing(IFLA_CAN_BITTIMING, 1'000'000) + timing(IFLA_CAN_DATA_BITTIMING, 5'000'000) +
                     attribute(IFLA_CAN_STATE, 2U) + attribute(IFLA_CAN_RESTART_MS, 100U);
  const Bytes info =
      attribute(IFLA_INFO_KIND, "can") + attribute(IFLA_INFO_DATA | unsigned{NLA_F_NESTED}, data);
  return link(attribute(IFLA_IFNAME, "can0") + attribute(IFLA_TXQLEN, 10U) + attribute(IFLA_MTU, 72U) +
              attribute(IFLA_ADDRESS, Bytes{1, 2, 3}) +
              attribute(IFLA_LINKINFO | unsigned{NLA_F_NESTED}, info));
}

CanInterface controller() {
  return {.name = "can0",
          .kind = "can",
          .index = 3,
          .is_can = true,
          .is_up = true,
          .mtu = 72,
          .queue_length = 10,
          .bit_rate = 1'000'000,
          .data_bit_rate = 5'000'000,
          .controller = CanController::passive,
          .restart_ms = 100};
}

CanInterface virtual_interface() {
  return {.name = "vcan0",
          .kind = "vcan",
          .index = 4,
          .is_can = true,
          .is_up = true,
          .mtu = 72,
          .queue_length = 1000};
}

Errc code_of(const Error& error) { return static_cast<Errc>(error.code); }

/// The error message for a rejected interface.
std::string refusal(Errc code, const CanInterface& interface, const CanNeeds& needs) {
  const auto fit = check_can_interface(interface, needs);
  REQUIRE_FALSE(fit.has_value());
  CHECK(fit.error().error == code);
  return fit.error().message;
}

}  // namespace

TEST_CASE("a controller's description is read whole") {
  const auto got = read_link_message(controller_message());
  REQUIRE(got.has_value());
  CHECK(*got == controller());
  CHECK(got->fd());
}

TEST_CASE("values that a driver does not report stay unknown, and only CAN drivers are asked for bit rates") {
  const auto vcan = read_link_message(link(attribute(IFLA_IFNAME, "vcan0") + attribute(IFLA_MTU, 16U) +
                                           attribute(IFLA_LINKINFO, attribute(IFLA_INFO_KIND, "vcan"))));
  REQUIRE(vcan.has_value());
  CHECK(vcan->kind == "vcan");
  CHECK_FALSE(vcan->bit_rate.has_value());
  CHECK_FALSE(vcan->controller.has_value());
  CHECK_FALSE(vcan->fd());

  // Other drivers use the same attribute numbers differently.
  const Bytes info =
      attribute(IFLA_INFO_KIND, "vlan") + attribute(IFLA_INFO_DATA, attribute(IFLA_CAN_STATE, 3U));
  const auto vlan = read_link_message(
      link(attribute(IFLA_IFNAME, "eth0.1") + attribute(IFLA_LINKINFO, info), false, ARPHRD_ETHER));
  REQUIRE(vlan.has_value());
  CHECK_FALSE(vlan->is_can);
  CHECK_FALSE(vlan->is_up);
  CHECK_FALSE(vlan->controller.has_value());

  const Bytes future =
      attribute(IFLA_INFO_KIND, "can") + attribute(IFLA_INFO_DATA, attribute(IFLA_CAN_STATE, 77U));
  const auto unknown = read_link_message(link(attribute(IFLA_LINKINFO, future)));
  REQUIRE(unknown.has_value());
  CHECK_FALSE(unknown->controller.has_value());
}

TEST_CASE("the kernel's own errors are named") {
  const auto error_of = [](std::int32_t number) {
    return code_of(read_link_message(message(NLMSG_ERROR, bytes_of(number) + Bytes(16))).error());
  };
  CHECK(error_of(-ENODEV) == Errc::no_such_can_interface);
  CHECK(error_of(-EPERM) == Errc::can_failed);
}

TEST_CASE("messages that lie about their lengths are refused") {
  const auto refused = [](const Bytes& bytes) {
    const auto got = read_link_message(bytes);
    return !got && got.error() == Errc::bad_link_message;
  };
  CHECK(refused({}));
  CHECK(refused(message(RTM_NEWLINK, {})));
  CHECK(refused(message(RTM_DELLINK, bytes_of(ifinfomsg{}))));
  CHECK(refused(message(NLMSG_ERROR, {1, 2})));
  const Bytes whole = controller_message();
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK(refused(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))));
  CHECK(refused(link(bytes_of(nlattr{0, IFLA_MTU}))));    // would loop for ever
  CHECK(refused(link(bytes_of(nlattr{3, IFLA_MTU}))));    // shorter than itself
  CHECK(refused(link(bytes_of(nlattr{500, IFLA_MTU}))));  // longer than the message
  CHECK(refused(link(attribute(IFLA_MTU, Bytes{1, 2}))));
  CHECK(refused(link(attribute(IFLA_IFNAME, "a name"))));
  CHECK(refused(link(attribute(IFLA_IFNAME, std::string(64, 'x')))));
  const Bytes short_timing = attribute(IFLA_INFO_DATA, attribute(IFLA_CAN_BITTIMING, 1U));
  CHECK(refused(link(attribute(IFLA_LINKINFO, attribute(IFLA_INFO_KIND, "can") + short_timing))));
}

TEST_CASE("random changes of a message do no harm") {
  std::mt19937_64 random = test::generator();
  const Bytes whole = controller_message();
  std::size_t read = 0;
  for (int round = 0; round < 20'000; ++round) {
    Bytes bytes = whole;
    for (std::int64_t change = test::uniform_int(random, 1, 4); change > 0; --change) {
      bytes[static_cast<std::size_t>(test::uniform_int(random, 0, std::ssize(bytes) - 1))] =
          static_cast<std::uint8_t>(random());
    }
    if (const auto got = read_link_message(bytes)) {
      ++read;
      CHECK(got->name.size() < 64);
      CHECK(got->kind.size() < 64);
    }
  }
  CHECK(read > 0);
}

TEST_CASE("an interface that does is accepted, with a bit rate that the clock cannot divide exactly, too") {
  const CanNeeds needs{.fd = true, .bit_rate = 1'000'000, .data_bit_rate = 5'000'000, .frames_per_cycle = 10};
  CHECK(check_can_interface(controller(), needs).has_value());
  CHECK(check_can_interface(virtual_interface(), needs).has_value());
  CanInterface nearly = controller();
  nearly.bit_rate = 995'000;
  CHECK(check_can_interface(nearly, needs).has_value());
  nearly.bit_rate = 994'999;
  CHECK_FALSE(check_can_interface(nearly, needs).has_value());
}

TEST_CASE("an interface that does not do is refused with the command that mends it") {
  CanInterface other = controller();
  other.is_can = false;
  CHECK(refusal(Errc::not_can, other, {}).find("not a CAN interface") != std::string::npos);

  CanInterface down = controller();
  down.is_up = false;
  CHECK(refusal(Errc::can_interface_down, down, {.bit_rate = 500'000}) ==
        "can0: the interface is down; ip link set can0 up type can bitrate 500000");
  CanInterface virtual_down = virtual_interface();
  virtual_down.is_up = false;
  CHECK(refusal(Errc::can_interface_down, virtual_down, {.bit_rate = 500'000}) ==
        "vcan0: the interface is down; ip link set vcan0 up");

  CHECK(refusal(Errc::wrong_can_bit_rate, controller(), {.bit_rate = 500'000}) ==
        "can0: runs at 1000000 bit/s, not 500000; ip link set can0 down && ip link set can0 up type can "
        "bitrate 500000");
  CHECK(refusal(Errc::wrong_can_bit_rate, controller(), {.fd = true, .data_bit_rate = 2'000'000}) ==
        "can0: sends data of FD frames at 5000000 bit/s, not 2000000; ip link set can0 down && "
        "ip link set can0 up type can bitrate 1000000 dbitrate 2000000 fd on");

  CanInterface classic = controller();
  classic.mtu = 16;
  CHECK(refusal(Errc::no_can_fd, classic, {.fd = true}) ==
        "can0: the interface takes classic frames only (mtu 16, not 72); ip link set can0 down && "
        "ip link set can0 up type can bitrate 1000000 dbitrate 5000000 fd on");
  CanInterface virtual_classic = virtual_interface();
  virtual_classic.mtu = 16;
  CHECK(refusal(Errc::no_can_fd, virtual_classic, {.fd = true}).ends_with("ip link set vcan0 up mtu 72"));

  CHECK(refusal(Errc::can_queue_too_short, controller(), {.frames_per_cycle = 31}) ==
        "can0: its send queue holds 10 frames, but a cycle sends 31; ip link set can0 txqueuelen 31");

  CanInterface off = controller();
  off.controller = CanController::bus_off;
  CHECK(refusal(Errc::can_bus_off, off, {}).ends_with("; ip link set can0 type can restart"));
}

TEST_CASE("this machine's kernel describes its interfaces, and says which it does not have") {
  const auto loopback = find_can_interface("lo");
  REQUIRE(loopback.has_value());
  CHECK(loopback->name == "lo");
  CHECK(loopback->index > 0);
  CHECK_FALSE(loopback->is_can);
  CHECK_FALSE(loopback->fd());
  for (const std::string name : {"can77", "", "a_name_that_is_too_long", "a%b"}) {
    const auto nothing = find_can_interface(name);
    REQUIRE_FALSE(nothing.has_value());
    CHECK(nothing.error().error == Errc::no_such_can_interface);
    CHECK(nothing.error().message.starts_with(name + ": "));
  }
}
