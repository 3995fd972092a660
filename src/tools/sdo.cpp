// takt sdo: reads or writes one object of a CANopen device. It sends nothing else to the bus.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "json/strict.hpp"
#include "takt/app/bus.hpp"
#include "takt/can/canopen/sdo_client.hpp"
#include "takt/platform/steady_clock.hpp"
#include "tools/choice.hpp"
#include "tools/commands.hpp"
#include "tools/number_checks.hpp"

namespace takt::tools {
namespace {

namespace canopen = can::canopen;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t longest_object = std::size_t{4} << 20;

/// Converts a VALUE to the bytes of an object; nothing if it is not one of the type.
using Encode = std::optional<Bytes> (*)(std::string_view text);

struct SdoOptions {
  std::string bus;
  std::uint8_t node = 0;
  std::optional<bool> writes;
  std::string object;
  std::optional<std::string> value;
  std::optional<Encode> type;
  std::string in;
  std::string out;
  bool block = false;
  double timeout = 1;  ///< s
  std::uint32_t bit_rate = 1'000'000;
};

[[noreturn]] void refuse_sdo(std::string_view why, ExitCode code) {
  fmt::print(stderr, "takt sdo: {}\n", why);
  throw CLI::RuntimeError(code);
}

/// Parses all of the text.
template <class Number>
std::optional<Number> parse(std::string_view text, int base) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

template <class Number>
std::optional<Bytes> encode_number(std::string_view text) {
  const auto number = text.starts_with("0x") ? parse<Number>(text.substr(2), 16) : parse<Number>(text, 10);
  if (!number) return std::nullopt;
  Bytes bytes(sizeof(Number));
  can::store_little<sizeof(Number)>(bytes.data(), static_cast<std::uint64_t>(*number));
  return bytes;
}
std::optional<Bytes> encode_text(std::string_view text) { return Bytes(text.begin(), text.end()); }

/// Parses "1018:1" or "0x1018:1"; both numbers are hexadecimal.
canopen::Address parse_object(std::string_view text) {
  const std::size_t colon = text.find(':');
  std::string_view index = text.substr(0, colon);
  if (index.starts_with("0x")) index.remove_prefix(2);
  const auto object = parse<std::uint16_t>(index, 16);
  const auto subindex = parse<std::uint8_t>(colon < text.size() ? text.substr(colon + 1) : "0", 16);
  if (!object || !subindex)
    refuse_sdo(fmt::format("'{}' is no INDEX[:SUB] in hexadecimal, as 1018:1", text), exit_bad_input);
  return {*object, *subindex};
}

void print_value(std::span<const std::uint8_t> bytes) {
  std::string line = fmt::format("{:02x}", fmt::join(bytes, " "));
  if (!bytes.empty() && bytes.size() <= 4) {
    std::uint32_t number = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) number = number << 8 | bytes[i];
    line += fmt::format(" = 0x{:0{}x} = {}", number, 2 * bytes.size(), number);
    if (bytes.back() >= 0x80) line += fmt::format(" or {}", number - (std::int64_t{1} << 8 * bytes.size()));
  }
  const bool is_text = std::ranges::all_of(bytes, [](int byte) { return std::isprint(byte) != 0; });
  if (is_text) line += fmt::format(" \"{}\"", std::string(bytes.begin(), bytes.end()));
  fmt::print("{}\n", line);
}

/// Carries frames until the transfer has ended. A frame that the bus refuses for the timeout is dropped.
void transfer(robot::CanPort& port, canopen::SdoClient& client, Duration timeout) {
  const platform::SteadyClock clock;
  std::optional<can::Frame> frame;
  Time end{};
  while (client.state() == canopen::SdoState::busy || frame) {
    std::array<can::Frame, 64> frames{};
    while (const std::size_t count = port.receive(frames))
      for (const can::Frame& received : std::span(frames).first(count)) (void)client.receive(received);
    if (!frame) {
      frame = client.poll(clock.now());
      end = clock.now() + timeout;
    }
    if (frame && (port.send({&*frame, 1}) == 1 || clock.now() >= end))
      frame.reset();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

Bytes bytes_to_write(const SdoOptions& options) {
  if (options.value.has_value() == !options.in.empty() || !options.out.empty())
    refuse_sdo("write needs VALUE with --type, or --in FILE", exit_bad_input);
  if (options.value) {
    const auto bytes = options.type ? (*options.type)(*options.value) : std::nullopt;
    if (!bytes || bytes->empty())
      refuse_sdo(fmt::format("'{}' is no value of --type", *options.value), exit_bad_input);
    return *bytes;
  }
  const auto text = json::read_file(options.in, longest_object);
  if (!text || text->empty())
    refuse_sdo(fmt::format("{}: {}", options.in, text ? "there are no bytes to write" : text.error().reason),
               exit_bad_input);
  return {text->begin(), text->end()};
}

void sdo(const SdoOptions& options) {
  const canopen::Address object = parse_object(options.object);
  if (!*options.writes && (options.value || !options.in.empty()))
    refuse_sdo("read takes no VALUE and no --in", exit_bad_input);
  Bytes data = *options.writes ? bytes_to_write(options) : Bytes(longest_object);
  const auto address = app::parse_bus_address(options.bus);
  if (!address) refuse_sdo(address.error().message, exit_bad_input);
  const auto port = app::open_bus(
      *address, {.bit_rate = options.bit_rate, .filters = {{.id = canopen::sdo_reply_base + options.node}}});
  if (!port) refuse_sdo(port.error().message, exit_failed);

  const Duration timeout = from_seconds(options.timeout);
  canopen::SdoClient client(options.node, timeout);
  if (*options.writes)
    (void)(options.block ? client.download_block(object, data) : client.download(object, data));
  else
    options.block ? client.upload_block(object, data) : client.upload(object, data);
  transfer(**port, client, timeout);
  if (client.state() == canopen::SdoState::aborted)
    refuse_sdo(fmt::format("{} (abort code 0x{:08X})", describe(client.abort()),
                           static_cast<std::uint32_t>(client.abort())),
               exit_failed);
  if (*options.writes) return;
  if (options.out.empty()) return print_value(client.received());
  std::ofstream file(options.out, std::ios::binary);
  for (const std::uint8_t byte : client.received()) file.put(static_cast<char>(byte));
  file.close();
  if (!file) refuse_sdo(options.out + " cannot be written", exit_failed);
}

}  // namespace

void add_sdo(CLI::App& app) {
  auto options = std::make_shared<SdoOptions>();
  CLI::App* command = app.add_subcommand("sdo", "Read or write one object of a CANopen device");
  command->add_option("bus", options->bus, "can0, or slcan:/dev/ttyACM0")->required();
  command->add_option("node", options->node, "Its number")->required()->check(CLI::Range(1, 127));
  add_choice<std::optional<bool>, bool>(*command, "action", options->writes,
                                        {{"read", false}, {"write", true}}, "What to do")
      ->required();
  command->add_option("object", options->object, "INDEX or INDEX:SUB, in hexadecimal: 1018:1")->required();
  CLI::Option* const value = command->add_option("value", options->value, "Value to write, with --type");
  const Choices<Encode> types = {{"u8", encode_number<std::uint8_t>},
                                 {"i8", encode_number<std::int8_t>},
                                 {"u16", encode_number<std::uint16_t>},
                                 {"i16", encode_number<std::int16_t>},
                                 {"u32", encode_number<std::uint32_t>},
                                 {"i32", encode_number<std::int32_t>},
                                 {"u64", encode_number<std::uint64_t>},
                                 {"i64", encode_number<std::int64_t>},
                                 {"text", encode_text}};
  add_choice(*command, "--type", options->type, types, "Type of VALUE; numbers may be 0x1F")->needs(value);
  command->add_option("--in", options->in, "File with the bytes to write")->excludes(value);
  command->add_option("--out", options->out, "File for the bytes that were read");
  command->add_flag("--block", options->block, "By a block transfer: fewer frames, if the device can do it");
  command->add_option("--timeout", options->timeout, "Longest time for each answer, in seconds")
      ->check(number_between(0.001, 3600, "number from 0.001 to 3600"))
      ->capture_default_str();
  command->add_option("--bit-rate", options->bit_rate, "bit/s")
      ->check(CLI::IsMember({125'000, 250'000, 500'000, 800'000, 1'000'000}))
      ->capture_default_str();
  command->footer(
      "A write may move or disable a drive, at once and without any limit of takt's.\n"
      "Examples:\n"
      "  takt sdo can0 5 read 1018:1\n"
      "  takt sdo can0 5 write 6098 35 --type i8\n"
      "  takt sdo slcan:/dev/ttyACM0 5 write 1F50:1 --in firmware.bin --block --timeout 10\n"
      "Exit code: 0 done, 1 the device aborted or did not answer, or a bus or file failed, 2 an argument is "
      "wrong.");
  command->callback([options] { sdo(*options); });
}

}  // namespace takt::tools
