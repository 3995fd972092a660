// takt drive: a vehicle, driven over UDP by keys or by a file of twists. What it reports is shown as it comes, with its age; the
// log has all of it for plots. Ends with a controlled stop.
#include <fmt/format.h>

#include <csignal>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "takt/describe.hpp"
#include "takt/platform/key_file.hpp"
#include "takt/vehicle/commander_channel.hpp"
#include "takt/vehicle/vehicle_drive.hpp"
#include "tools/commands.hpp"
#include "tools/drive_input.hpp"
#include "tools/drive_publication.hpp"
#include "tools/printer.hpp"
#include "tools/signals.hpp"
#include "tools/vehicle_file.hpp"
#include "tools/vehicle_link.hpp"

namespace takt::tools {
namespace {

struct DriveOptions {
  VehicleLinkOptions link{.local = "127.0.0.1:18003", .peer = "127.0.0.1:18004"};
  VehicleFileOption vehicle{};
  std::optional<double> speed{};     ///< m/s; else the vehicle's limit
  std::optional<double> rotation{};  ///< rad/s; else the vehicle's limit
  double hold = 2;
  std::string twists;
  std::string log;
  std::string publish;
  double duration = 0;  ///< s; 0: until the twists end, or a signal, or the key
};

/// The vehicle, with lower limits if those were asked for. Says what of it was guessed.
robot::VehicleDescription description_of(const DriveOptions& options) {
  robot::VehicleDescription description = options.vehicle.load();
  if (!description.provisional.empty())
    fmt::print(stderr, "takt drive: {}: these figures are guesses, and were not measured: {}\n",
               description.name, fmt::join(description.provisional, " "));
  auto& limits = description.drive.limits;
  if (options.speed) {
    limits.forward = std::min(limits.forward, *options.speed);
    limits.backward = std::min(limits.backward, *options.speed);
  }
  if (options.rotation) limits.rotation = std::min(limits.rotation, *options.rotation);
  return description;
}

/// Of a vehicle's client: what is told when it changes.
struct Situation {
  vehicle::DriveState state = vehicle::DriveState::starting;
  vehicle::StopReason reason{};
  friend bool operator==(const Situation&, const Situation&) = default;
};

std::string situation_text(const Situation& now, const vehicle::Layouts& layouts) {
  std::string text{to_string(now.state)};
  if (now.reason.cause == vehicle::StopCause::none) return text;
  text += fmt::format(": {}", to_string(now.reason.cause));
  const bool of_a_system = now.reason.cause == vehicle::StopCause::system_stale ||
                           now.reason.cause == vehicle::StopCause::system_not_running;
  const auto* const layout = layouts.find(now.reason.system);
  if (of_a_system && layout != nullptr) text += fmt::format(" ({})", layout->name);
  return text;
}

/// Milliseconds; what was never heard is as old as can be.
double milliseconds_old(Duration age) { return age == Duration::max() ? INFINITY : to_seconds(age) * 1e3; }

constexpr std::string_view drive_log_columns =
    "time,state,cause,age_ms,x,y,heading,speed,rotation,steering,throttle,brake,sent,taken,lost,late,"
    "duplicated,"
    "malformed,refused\n";

/// For whom else there is, beside the terminal.
struct DriveOutputs {
  LogFile log;
  std::optional<DrivePublication> publication;
};

template <vehicle::Channel C>
class DriveProgram {
 public:
  using Drive = vehicle::VehicleDrive<C>;

  DriveProgram(Drive drive, platform::UdpSocket socket, const DriveOptions& options,
               const mobile::TwistLimiter::Limits& limits, std::optional<TwistScript> script,
               DriveOutputs outputs)
      : drive_(std::move(drive)),
        socket_(std::move(socket)),
        options_(&options),
        script_(std::move(script)),
        keys_(limits.forward, limits.rotation, options.hold),
        outputs_(std::move(outputs)) {
    if (outputs_.log.printer) outputs_.log.printer->print(std::string(drive_log_columns));
  }

  /// Whether it ended as it was asked to.
  bool run(const sigset_t& signals) {
    const RawTerminal terminal;
    const platform::SteadyClock clock;
    const Time start = next_ = clock.now();
    constexpr timespec at_once{};
    bool asked = false;
    while (!asked && !script_over() && printer_.has_reader()) {
      cycle();
      asked = listen() || sigtimedwait(&signals, nullptr, &at_once) > 0 ||
              (options_->duration > 0 && to_seconds(next_ - start) >= options_->duration);
    }
    come_to_a_stand();
    summarise();
    return printer_.has_reader() && (!script_ || script_over());
  }

  /// For exchange(): the drive, which publishes what it hears as it hears it.
  void receive(std::span<const std::uint8_t> datagram, Time now) {
    const bool taken = drive_.receive(datagram, now).has_value();  // what is refused is counted
    const auto& estimate = drive_.estimate();
    if (taken && estimate.stamp != Time{} && outputs_.publication) outputs_.publication->write(estimate);
  }
  [[nodiscard]] Time next_send() const { return drive_.next_send(); }
  Result<std::size_t> poll(Time now, std::span<std::uint8_t> out) { return drive_.poll(now, out); }

 private:
  static constexpr Duration period{20'000'000};

  void cycle() {
    const platform::SteadyClock clock;
    next_ = std::max(next_ + period, clock.now());
    exchange(socket_, *this, next_);
    const auto state = drive_.client().state();
    if (!ending_ && (state == vehicle::DriveState::ready || state == vehicle::DriveState::driving)) {
      static_cast<void>(drive_.drive(wanted(), clock.now()));  // what is refused is counted, and times out
      driven_ += to_seconds(period);
    }
    tell();
  }

  [[nodiscard]] mobile::Twist wanted() const {
    return script_ ? script_->twist(driven_) : keys_.twist(next_);
  }
  [[nodiscard]] bool script_over() const { return script_ && script_->ended(driven_); }

  /// Whether to end.
  bool listen() {
    for (const char key : text_.take()) {
      switch (keys_.press(key, next_)) {
        case DriveKey::none:
          break;
        case DriveKey::stop_at_once:
          drive_.client().stop(vehicle::StopCategory::category_0, next_);
          break;
        case DriveKey::stop:
          drive_.client().stop(vehicle::StopCategory::category_1, next_);
          break;
        case DriveKey::recover:
          if (const Status recovered = drive_.client().recover(next_); !recovered)
            say(fmt::format("it cannot go on: {}",
                            describe(static_cast<vehicle::Errc>(recovered.error().code))));
          break;
        case DriveKey::quit:
          return true;
      }
    }
    return false;
  }

  /// As far as it can be seen.
  void come_to_a_stand() {
    constexpr Duration patience = std::chrono::seconds(5);
    ending_ = true;
    const Time end = next_ + patience;
    if (drive_.client().state() != vehicle::DriveState::starting)
      drive_.client().stop(vehicle::StopCategory::category_1, next_);
    while (drive_.client().category() && drive_.client().state() != vehicle::DriveState::stopped &&
           next_ < end)
      cycle();
  }

  void tell() {
    const Situation now{drive_.client().state(), drive_.client().reason()};
    if (now != told_) say(situation_text(now, drive_.client().telemetry().last().layouts()));
    told_ = now;
    if (outputs_.log.printer) outputs_.log.printer->print(log_line());
    if (outputs_.publication) outputs_.publication->write(status_of(drive_, next_));
    if (is_terminal_ && ++since_shown_ >= 5) show();
  }

  void say(const std::string& text) { printer_.print((is_terminal_ ? "\r\x1b[K" : "") + text + '\n'); }

  void show() {
    since_shown_ = 0;
    const auto& client = drive_.client();
    const auto& estimate = drive_.estimate();
    const auto battery = client.telemetry().fresh_battery(next_);
    printer_.print(fmt::format(
        "\r\x1b[K{:<8} {:5.0f} ms old  ({:7.2f} {:7.2f}) m {:5.2f} rad  {:5.2f} m/s  steering {:5.2f} "
        "throttle {:5.2f} brake "
        "{:4.2f}  battery {}  lost {}",
        to_string(client.state()), milliseconds_old(client.telemetry().age(next_)), estimate.pose.x,
        estimate.pose.y, estimate.pose.heading, estimate.twist.forward, client.command().steering,
        client.command().throttle, client.command().brake,
        battery ? fmt::format("{:.0f} %", client.units().reading(*battery).charge * 100) : "unknown",
        client.telemetry().counters().lost));
  }

  [[nodiscard]] std::string log_line() const {
    const auto& client = drive_.client();
    const auto& estimate = drive_.estimate();
    const auto& heard = client.telemetry().counters();
    const auto& command = client.command();
    return fmt::format(
        "{:.6f},{},{},{:.1f},{:.4f},{:.4f},{:.5f},{:.4f},{:.4f},{:.4f},{:.3f},{:.3f},{},{},{},{},{},{},{}\n",
        to_seconds(next_.time_since_epoch()), to_string(client.state()), to_string(client.reason().cause),
        milliseconds_old(client.telemetry().age(next_)), estimate.pose.x, estimate.pose.y,
        estimate.pose.heading, estimate.twist.forward, estimate.twist.rotation, command.steering,
        command.throttle, command.brake, client.counters().sent, heard.taken, heard.lost, heard.late,
        heard.duplicated, heard.malformed, client.counters().refused);
  }

  void summarise() {
    const auto& heard = drive_.client().telemetry().counters();
    const auto& sent = drive_.client().counters();
    const auto wire = socket_.counters();
    say(fmt::format(
        "{} control frames sent, {} missed, {} handshakes; status frames: {} taken, {} lost, {} late, {} "
        "duplicated, {} malformed; "
        "{} datagrams received, {} refused, {} too long, {} dropped by the system",
        sent.sent, sent.missed, sent.handshakes, heard.taken, heard.lost, heard.late, heard.duplicated,
        heard.malformed, sent.received, sent.refused, wire.too_long, wire.dropped));
  }

  Drive drive_;
  platform::UdpSocket socket_;
  const DriveOptions* options_;
  std::optional<TwistScript> script_;
  KeyDriver keys_;
  DriveOutputs outputs_;
  Printer printer_;
  TypedText text_;
  bool is_terminal_ = ::isatty(STDOUT_FILENO) == 1;
  bool ending_ = false;
  int since_shown_ = 0;
  double driven_ = 0;  ///< s that the vehicle could be driven
  Time next_{};
  std::optional<Situation> told_;
};

[[noreturn]] void refuse_drive(const std::string& why, ExitCode code) {
  fmt::print(stderr, "takt drive: {}\n", why);
  throw CLI::RuntimeError(code);
}

DriveOutputs open_outputs(const DriveOptions& options) {
  DriveOutputs outputs;
  auto log = open_log(options.log);
  if (!log) refuse_drive(log.error().message, exit_failed);
  outputs.log = std::move(*log);
  if (options.publish.empty()) return outputs;
  auto publication = DrivePublication::open(options.publish);
  if (!publication) refuse_drive(publication.error().message, exit_failed);
  outputs.publication.emplace(std::move(*publication));
  return outputs;
}

template <vehicle::Channel C>
void drive_with(const DriveOptions& options, std::optional<TwistScript> script, C channel) {
  const robot::VehicleDescription description = description_of(options);
  auto drive = vehicle::VehicleDrive<C>::make(description.drive, std::move(channel));
  if (!drive) refuse_drive(std::string(describe(drive.error())), exit_bad_input);
  auto socket = options.link.open();
  if (!socket) refuse_drive(socket.error().message, exit_failed);
  const sigset_t signals = block_ending_signals();
  DriveProgram<C> program(std::move(*drive), std::move(*socket), options, description.drive.limits,
                          std::move(script), open_outputs(options));
  if (!program.run(signals)) throw CLI::RuntimeError(exit_failed);
}

void drive_vehicle(const DriveOptions& options) {
  std::optional<TwistScript> script;
  if (!options.twists.empty()) {
    auto loaded = TwistScript::load(options.twists);
    if (!loaded) refuse_drive(loaded.error().message, exit_bad_input);
    script = std::move(*loaded);
  }
  if (options.link.plain) return drive_with(options, std::move(script), vehicle::PlainChannel{});
  const auto keys = options.link.keys();
  if (!keys) refuse_drive(keys.error().message, exit_bad_input);
  const auto entropy = platform::random_bytes<SipHash128::key_size>();
  if (!entropy) refuse_drive("the system has no random bytes", exit_failed);
  auto channel = vehicle::CommanderChannel<SipHash128>::make(keys->front(), *entropy);
  if (!channel) refuse_drive(std::string(describe(channel.error())), exit_bad_input);
  drive_with(options, std::move(script), std::move(*channel));
}

}  // namespace

void add_drive(CLI::App& app) {
  auto options = std::make_shared<DriveOptions>();
  CLI::App* command = app.add_subcommand("drive", "Drive a vehicle over UDP by keys, or by a file of twists");
  options->vehicle.add_option(*command);
  options->link.add_options(*command, 1);
  command->add_option("--speed", options->speed, "m/s at most, if the vehicle's limits are not lower")
      ->check(CLI::PositiveNumber);
  command->add_option("--rotation", options->rotation, "rad/s at most, likewise")->check(CLI::PositiveNumber);
  CLI::Option* hold = command->add_option("--hold", options->hold,
                                          "Seconds after which a twist that no key confirms is none");
  hold->check(CLI::PositiveNumber)->capture_default_str();
  command
      ->add_option("--twists", options->twists,
                   "A file instead of keys: seconds, m/s, rad/s a line; the last is the end")
      ->excludes(hold);
  command->add_option("--duration", options->duration, "End after this many seconds")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--log", options->log,
                      "Write what is known and commanded to this file, comma-separated");
  command->add_option(
      "--publish", options->publish,
      "Share the vehicle's pose, twist and covariance, and how it is, as the shared segment of "
      "this name");
  command->footer(
      "Keys: w s faster, slower or backwards; a d left, right; . as before; c x controlled stop, full "
      "brake at once;\n"
      "      r goes on after a stop; q ends; space, and any other: to a stand.\n"
      "Another process reads what is published: takt shm inspect NAME, shm/opaque.hpp, or takt.h.\n"
      "Units, limits and gains are the vehicle's: a real one's must be measured first.\n"
      "Example:\n  takt key vehicle.key\n  takt vehicle-sim --key vehicle.key &\n  takt drive --key "
      "vehicle.key --log drive.csv\n"
      "  gnuplot -p -e 'set datafile separator \",\"; plot \"drive.csv\" using \"x\":\"y\" with lines'");
  command->callback([options] { drive_vehicle(*options); });
}

}  // namespace takt::tools
