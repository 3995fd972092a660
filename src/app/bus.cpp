#include "takt/app/bus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "app/kept_port.hpp"
#include "app/slcan_line.hpp"
#include "takt/platform/socket_can_bus.hpp"

namespace takt::app {
namespace {

constexpr std::string_view slcan_prefix = "slcan:";
constexpr std::string_view silent_prefix = "slcan-silent:";
constexpr std::size_t max_interface_name = 15;
constexpr std::size_t max_path = 1000;
constexpr std::size_t quoted_letters = 60;  ///< quoted in a message about a bad text
constexpr std::string_view allowed =
    R"(allowed are a CAN interface such as "can0", "slcan:/dev/ttyACM0", "slcan:/dev/ttyUSB0@115200" and "virtual")";

/// The text in quotes, shortened, without characters that cannot be printed.
std::string quoted(std::string_view text) {
  std::string letters(text.substr(0, quoted_letters));
  for (char& letter : letters) {
    if (letter < ' ' || letter > '~') letter = '?';
  }
  return fmt::format("\"{}{}\"", letters, text.size() > quoted_letters ? "..." : "");
}

bool is_interface_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.';
}

bool is_path(std::string_view path) {
  const bool is_printable = std::ranges::all_of(path, [](char c) { return c > ' ' && c <= '~'; });
  return path.starts_with('/') && !path.ends_with('/') && path.size() <= max_path && is_printable;
}

std::optional<std::uint32_t> parse_baud(std::string_view text) {
  std::uint32_t baud = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, baud);
  if (error != std::errc{} || stop != end || baud == 0) return std::nullopt;
  return baud;
}

std::optional<BusAddress> parse_slcan(std::string_view place, bool silent) {
  BusAddress address{.kind = BusAddress::Kind::slcan, .silent = silent};
  if (const std::size_t at = place.rfind('@'); at != std::string_view::npos) {
    const auto baud = parse_baud(place.substr(at + 1));
    if (!baud) return std::nullopt;
    address.baud = *baud;
    place = place.substr(0, at);
  }
  if (!is_path(place)) return std::nullopt;
  address.place = place;
  return address;
}

/// A SocketCAN interface, as a Bus of KeptPort.
class SocketCanLine {
 public:
  static SetupResult<std::unique_ptr<SocketCanLine>> open(const BusAddress& address,
                                                          const BusRequest& request) {
    auto bus = platform::SocketCanBus::open(address.place, {.fd = request.fd,
                                                            .bit_rate = request.bit_rate,
                                                            .data_bit_rate = request.data_bit_rate,
                                                            .filters = request.filters,
                                                            .frames_per_cycle = request.frames_per_cycle});
    if (!bus) return tl::unexpected(bus.error());
    return std::make_unique<SocketCanLine>(std::move(*bus));
  }
  explicit SocketCanLine(platform::SocketCanBus bus) noexcept : bus_(std::move(bus)) {}

  std::size_t send(std::span<const can::Frame> frames) noexcept { return bus_.send(frames); }
  std::size_t receive(std::span<can::Frame> frames) noexcept { return bus_.receive(frames); }
  /// An interface that was down is opened again, although its socket would work: its bit rate may have
  /// changed.
  [[nodiscard]] bool broken() const noexcept { return bus_.counters().link_losses > 0; }
  [[nodiscard]] bool off() const noexcept { return bus_.health().state == can::BusState::bus_off; }
  [[nodiscard]] std::uint64_t unacknowledged() const noexcept { return bus_.health().missing_acknowledges; }

 private:
  platform::SocketCanBus bus_;
};

template <class Bus>
SetupResult<std::unique_ptr<robot::CanPort>> open_kept(const BusAddress& address, const BusRequest& request) {
  auto bus = Bus::open(address, request);
  if (!bus) return tl::unexpected(bus.error());
  return KeptPort<Bus>::create(std::move(*bus), [address, request] { return Bus::open(address, request); },
                               {.nominal = request.bit_rate, .data = request.data_bit_rate});
}

}  // namespace

SetupResult<BusAddress> parse_bus_address(std::string_view text) {
  if (text == "virtual") return BusAddress{};
  const bool is_silent = text.starts_with(silent_prefix);
  if (const std::string_view prefix = is_silent ? silent_prefix : slcan_prefix; text.starts_with(prefix)) {
    if (auto address = parse_slcan(text.substr(prefix.size()), is_silent)) return *std::move(address);
  } else if (!text.empty() && text.size() <= max_interface_name &&
             std::ranges::all_of(text, is_interface_letter)) {
    return BusAddress{.kind = BusAddress::Kind::socket_can, .place = std::string(text)};
  }
  return fail(Errc::bad_bus_address, fmt::format("{} is no bus; {}", quoted(text), allowed));
}

std::string to_string(const BusAddress& address) {
  switch (address.kind) {
    case BusAddress::Kind::socket_can:
      return address.place;
    case BusAddress::Kind::slcan: {
      const std::string text =
          fmt::format("{}{}", address.silent ? silent_prefix : slcan_prefix, address.place);
      return address.baud == BusAddress{}.baud ? text : fmt::format("{}@{}", text, address.baud);
    }
    case BusAddress::Kind::virtual_bus:
      break;
  }
  return "virtual";
}

SetupResult<std::unique_ptr<robot::CanPort>> open_bus(const BusAddress& address, const BusRequest& request) {
  const auto opened = [&]() -> SetupResult<std::unique_ptr<robot::CanPort>> {
    switch (address.kind) {
      case BusAddress::Kind::socket_can:
        return open_kept<SocketCanLine>(address, request);
      case BusAddress::Kind::slcan:
        return open_kept<SlcanLine>(address, request);
      case BusAddress::Kind::virtual_bus:
        break;
    }
    return fail(Errc::not_a_real_bus,
                "virtual: this bus belongs to a simulation; give it an address such as \"can0\"");
  };
  auto port = opened();
  if (!port && !request.name.empty())
    port.error().message = fmt::format("bus {}: {}", quoted(request.name), port.error().message);
  return port;
}

}  // namespace takt::app
