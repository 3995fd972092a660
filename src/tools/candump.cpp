// takt candump: prints the frames of a bus or of a log as lines of candump -L, and decodes them by a DBC
// file.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "takt/app/bus.hpp"
#include "takt/can/candump_file.hpp"
#include "takt/dbc/database.hpp"
#include "takt/describe.hpp"
#include "takt/platform/socket_can_bus.hpp"
#include "takt/platform/steady_clock.hpp"
#include "tools/commands.hpp"
#include "tools/decoded_frame.hpp"
#include "tools/frame_checks.hpp"
#include "tools/number_checks.hpp"
#include "tools/printer.hpp"
#include "tools/signals.hpp"

namespace takt::tools {
namespace {

namespace candump = can::candump;

constexpr std::uint64_t named_lines = 20;  ///< bad lines of a log that are named; the rest is counted

struct CandumpOptions {
  std::string place;                 ///< a bus, or a file
  std::string dbc;                   ///< empty: do not decode
  std::vector<std::string> rules{};  ///< of counters and checksums
  std::uint32_t bit_rate = 1'000'000;
  double duration = 0;  ///< s; 0: until a signal
};

int fails(std::string_view why, ExitCode code) {
  fmt::print(stderr, "takt candump: {}\n", why);
  return code;
}

std::string unwritten(int error) {
  return "the output cannot be written: " + std::error_code(error, std::generic_category()).message();
}

/// Turns entries into lines.
class Lines {
 public:
  Lines() = default;
  Lines(const dbc::Database& dbc, FrameChecks checks) : decoder_(dbc), checks_(std::move(checks)) {}

  /// The line with its end.
  [[nodiscard]] std::string line_of(const candump::LogEntry& entry) {
    const auto line = format_line(entry);
    if (!line) return fmt::format("a frame that no line can hold: {}\n", describe(line.error()));
    const std::string signals = decoder_ ? decoder_->text_of(entry.frame) : std::string();
    const std::string_view mistake = checks_.mistake_in(entry.frame);
    return fmt::format("{}{}{}{}{}\n", line->text(), signals.empty() ? "" : " :: ", signals,
                       mistake.empty() ? "" : " !! ", mistake);
  }

  /// Call it after the last line. Returns whether all frames passed the checks.
  [[nodiscard]] bool end() const {
    fmt::print(stderr, "{}", checks_.summary());
    return checks_.all_good();
  }

 private:
  std::optional<FrameDecoder> decoder_;
  FrameChecks checks_;
};

// ---- A log

void name_bad_line(const std::string& path, const candump::LineError& error, std::uint64_t count) {
  if (count > named_lines) return;
  fmt::print(stderr, "{}:{}:{}: {}\n", path, error.line, error.column, describe(error.error));
}

void name_passed_over(const std::string& path, const can::asc::PassedOver& lines) {
  if (lines == can::asc::PassedOver{}) return;
  fmt::print(stderr, "{}: {} error frames and {} other events have no data and were left out\n", path,
             lines.error_frames, lines.other_events);
}

std::string_view known_lines(candump::LogFormat format) {
  if (format == candump::LogFormat::asc) return "Vector's lines are such as \"0.5 1 123 Rx d 1 00\"";
  return "Lines are such as \"(1.5) can0 123#00\" or \"can0  123   [1]  00\"; a log of Vector begins with "
         "\"date\" or \"base\"";
}

int print_log(const CandumpOptions& options, Lines& lines) {
  auto log = candump::LogFile::open(options.place);
  if (!log) return fails(log.error().message, exit_bad_input);
  const bool may_be_live = options.place == "-";
  const std::string name = may_be_live ? "standard input" : options.place;
  std::uint64_t bad_lines = 0;
  while (const auto entry = log->next()) {
    if (!*entry) {
      name_bad_line(name, entry->error(), ++bad_lines);
      continue;
    }
    const std::string line = lines.line_of(**entry);
    const bool is_written = std::fwrite(line.data(), 1, line.size(), stdout) == line.size();
    if (!is_written || (may_be_live && std::fflush(stdout) != 0)) return fails(unwritten(errno), exit_failed);
  }
  if (std::fflush(stdout) != 0) return fails(unwritten(errno), exit_failed);
  if (!log->status()) return fails(fmt::format("{}: {}", name, describe(log->status().error())), exit_failed);
  name_passed_over(name, log->passed_over());
  const bool all_good = lines.end();
  if (bad_lines == 0) return all_good ? exit_ok : exit_failed;
  return fails(fmt::format("{}: {} lines have no frame that can be read; the others were printed. {}", name,
                           bad_lines, known_lines(log->format())),
               exit_bad_input);
}

// ---- A bus

/// An open bus that is only listened to.
struct LiveBus {
  std::function<std::size_t(std::span<can::Frame>)> receive;
  std::function<bool()> is_up;
  std::function<std::uint64_t()> dropped;  ///< frames that the system lost, because nobody read them
};

/// With FD frames, if the interface is set up for them. Its bit rate is not ours to ask for.
SetupResult<LiveBus> open_interface(const std::string& interface) {
  using platform::SocketCanBus;
  platform::SocketCanOptions options{.fd = true, .deliver_error_frames = true};
  auto opened = SocketCanBus::open(interface, options);
  if (!opened && opened.error().error == platform::Errc::no_can_fd) {
    options.fd = false;
    opened = SocketCanBus::open(interface, options);
  }
  if (!opened) return tl::unexpected(std::move(opened.error()));
  const auto bus = std::make_shared<SocketCanBus>(std::move(*opened));
  return LiveBus{.receive = [bus](std::span<can::Frame> frames) { return bus->receive(frames); },
                 .is_up = [bus] { return bus->link() == platform::LinkState::up; },
                 .dropped = [bus] { return bus->counters().dropped; }};
}

SetupResult<LiveBus> open_adapter(const app::BusAddress& address, std::uint32_t bit_rate) {
  auto opened = app::open_bus(address, {.bit_rate = bit_rate});
  if (!opened) return tl::unexpected(std::move(opened.error()));
  const std::shared_ptr<robot::CanPort> port = std::move(*opened);
  return LiveBus{.receive = [port](std::span<can::Frame> frames) { return port->receive(frames); },
                 .is_up = [port] { return port->link() == robot::BusLink::up; },
                 .dropped = [] { return std::uint64_t{0}; }};
}

/// The name in the lines: that of the interface, or of the serial line's device, as far as it fits.
candump::InterfaceName name_of(const app::BusAddress& address) {
  const std::string device = std::filesystem::path(address.place).filename().string();
  const auto name =
      candump::InterfaceName::create(std::string_view(device).substr(0, candump::InterfaceName::max_length));
  return name.value_or(*candump::InterfaceName::create("slcan"));
}

/// Time since 1970 less the bus's own time.
Duration unix_shift() {
  const auto unix = std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch());
  return unix - platform::SteadyClock().now().time_since_epoch();
}

/// All frames that have arrived, as lines.
std::string arrived(const LiveBus& bus, candump::InterfaceName name, Duration shift, Lines& lines) {
  std::string text;
  std::array<can::Frame, 64> frames{};
  while (const std::size_t count = bus.receive(frames)) {
    for (can::Frame& frame : std::span<can::Frame>(frames).first(count)) {
      frame.stamp += shift;
      text += lines.line_of({frame, name});
    }
    if (count < frames.size()) break;
  }
  return text;
}

int print_bus(const CandumpOptions& options, const app::BusAddress& address, Lines& lines) {
  const sigset_t signals = block_ending_signals();
  const bool is_interface = address.kind == app::BusAddress::Kind::socket_can;
  const auto bus = is_interface ? open_interface(address.place) : open_adapter(address, options.bit_rate);
  if (!bus) {
    const bool is_unknown = bus.error().error == platform::Errc::no_such_can_interface ||
                            bus.error().error == platform::Errc::no_can;
    return fails(bus.error().message + (is_unknown ? "; there is no file of that name, either" : ""),
                 exit_failed);
  }
  const platform::SteadyClock clock;
  const Time end = clock.now() + from_seconds(options.duration);
  const Duration shift = unix_shift();
  const candump::InterfaceName name = name_of(address);
  Printer printer;
  constexpr timespec tick{0, 1'000'000};
  bool is_up = true;
  bool is_over = false;
  while (is_up && !is_over && printer.has_reader()) {
    is_over = sigtimedwait(&signals, nullptr, &tick) > 0 || (options.duration > 0 && clock.now() >= end);
    if (std::string text = arrived(*bus, name, shift, lines); !text.empty()) printer.print(std::move(text));
    is_up = bus->is_up();
  }
  if (!is_up) printer.print_error(fmt::format("takt candump: {}: the link is lost\n", options.place));
  if (const std::uint64_t dropped = bus->dropped(); dropped > 0)
    printer.print_error(fmt::format("takt candump: {}: the system lost {} frames\n", options.place, dropped));
  const bool had_reader = printer.has_reader();
  const int error = printer.end();
  if (had_reader && error != 0) return fails(unwritten(error), exit_failed);
  return lines.end() && is_up && had_reader ? exit_ok : exit_failed;
}

// ---- Both

int print_place(const CandumpOptions& options, Lines& lines) {
  std::error_code ignored;
  if (options.place == "-" || std::filesystem::exists(options.place, ignored)) {
    if (options.duration > 0)
      return fails("--duration is for a bus; a file is read to its end", exit_bad_input);
    return print_log(options, lines);
  }
  const auto address = app::parse_bus_address(options.place);
  if (!address) return fails(address.error().message + ". There is no such file, either", exit_bad_input);
  if (address->kind == app::BusAddress::Kind::virtual_bus)
    return fails("virtual: this bus is inside of a simulation; takt run --record writes its frames' values",
                 exit_bad_input);
  return print_bus(options, *address, lines);
}

int candump_place(const CandumpOptions& options) {
  Lines plain;
  if (options.dbc.empty()) return print_place(options, plain);
  const auto dbc = dbc::Database::load(options.dbc);
  if (!dbc) return fails(dbc.error().message, exit_bad_input);
  for (const dbc::Warning& warning : dbc->warnings())
    fmt::print(stderr, "{}: {}\n", options.dbc, to_string(warning));
  auto checks = FrameChecks::create(*dbc, options.rules);
  if (!checks) return fails("--check " + checks.error().message, exit_bad_input);
  Lines decoded(*dbc, std::move(*checks));
  return print_place(options, decoded);
}

}  // namespace

void add_candump(CLI::App& app) {
  auto options = std::make_shared<CandumpOptions>();
  CLI::App* command =
      app.add_subcommand("candump", "Print the frames of a bus or of a log, decoded by a DBC file");
  command
      ->add_option("place", options->place,
                   "A bus: can0, or slcan:/dev/ttyACM0. Or a log; - is the standard input")
      ->required();
  CLI::Option* const dbc = command->add_option(
      "--dbc", options->dbc, "DBC file: adds the signals and units of each frame that it knows");
  command
      ->add_option("--check", options->rules,
                   "MESSAGE:COUNTER:CHECKSUM:KIND: check two signals of a message; may be repeated")
      ->allow_extra_args(false)
      ->needs(dbc);
  command->add_option("--bit-rate", options->bit_rate, "bit/s of an slcan adapter; an interface has its own")
      ->check(CLI::IsMember({125'000, 250'000, 500'000, 800'000, 1'000'000}))
      ->capture_default_str();
  command
      ->add_option("--duration", options->duration,
                   "End after this many seconds (default: on SIGINT, SIGTERM, SIGHUP or SIGQUIT)")
      ->check(number_from_zero());
  command->footer(
      "Sends nothing. A file's name has precedence over a bus. Each frame is a line of candump -L, which "
      "canplayer,\n"
      "python-can and takt candump read again. --dbc appends \" :: Message(Signal: value unit \"text\", "
      "...)\".\n"
      "Logs are those of candump -L, candump's screen output, and Vector's ASC. Bad lines are named with "
      "file, "
      "line\n"
      "and column; the others are printed.\n"
      "--check appends \" !! wrong checksum\", wrong length, wrong counter, repeated or frames lost. The "
      "kinds "
      "are sum,\n"
      "exclusive_or, crc8_j1850, crc8_2f, and e2e_profile_1:DATA_ID of AUTOSAR. Standard error gets the "
      "counts.\n"
      "Examples:\n"
      "  takt candump can0 --dbc drive.dbc\n"
      "  takt candump can0 --dbc drive.dbc --check MotorStatus:Counter:Crc:crc8_j1850 --check "
      "Brake:Count:Crc:e2e_profile_1:0x123\n"
      "  takt candump slcan:/dev/ttyACM0 --bit-rate 500000 --duration 10 > drive.log\n"
      "  takt candump drive.asc > drive.log          # Vector's format to candump's\n"
      "  ssh robot candump can0 | takt candump - --dbc drive.dbc\n"
      "Exit code: 0 it ended as it should, 1 the bus cannot be opened, its link is lost, a check failed, or "
      "the "
      "output\n"
      "cannot be written, 2 an argument, the DBC file or lines of the log are wrong.");
  command->callback([options] {
    const int code = candump_place(*options);
    if (code != exit_ok) throw CLI::RuntimeError(code);
  });
}

}  // namespace takt::tools
