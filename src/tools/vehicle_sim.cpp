// takt vehicle-sim: a simulated vehicle behind a UDP socket, to try driving without risk. Words on its
// standard input change its faults while it runs.
#include <fcntl.h>
#include <fmt/format.h>

#include <csignal>
#include <ctime>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "platform/descriptor.hpp"
#include "takt/describe.hpp"
#include "takt/platform/key_file.hpp"
#include "takt/secure/server_channel.hpp"
#include "takt/sim/simulated_vehicle.hpp"
#include "tools/commands.hpp"
#include "tools/number_checks.hpp"
#include "tools/printer.hpp"
#include "tools/signals.hpp"
#include "tools/terminal.hpp"
#include "tools/vehicle_file.hpp"
#include "tools/vehicle_link.hpp"

namespace takt::tools {
namespace {

struct VehicleSimOptions {
  VehicleLinkOptions link{.local = "127.0.0.1:18004", .peer = "127.0.0.1:18003"};
  VehicleFileOption vehicle{};
  std::vector<std::string> words;
  std::uint64_t seed = 1;
  double duration = 0;  ///< s; 0: until a signal
  std::string log;
};

constexpr double latest_ms = 1e3 * to_seconds(sim::SimulatedVehicle<secure::PlainChannel>::latest);

/// From 0 to `most`.
bool read_fault_number(std::istream& words, double most, double& number) {
  double value = 0;
  if (!(words >> value) || !(value >= 0 && value <= most)) return false;
  number = value;
  return true;
}

bool read_halted(std::istream& words, const vehicle::Layouts& layouts, vehicle::SystemSet& systems) {
  systems = {};
  for (std::string name; words >> name;) {
    const vehicle::SystemLayout* const found = layouts.find(name);
    if (found == nullptr) return false;
    systems.insert(found->system);
  }
  return !systems.empty();
}

/// Changes a vehicle's faults by a line. A line that is not understood changes nothing; the allowed words are
/// returned.
std::optional<std::string> apply_fault(const std::string& line, const vehicle::Layouts& layouts,
                                       sim::VehicleFaults& faults) {
  constexpr std::string_view share = " takes a share of the frames, from 0 to 1";
  std::istringstream words(line);
  std::string what;
  words >> what;
  sim::VehicleFaults changed = faults;
  bool understood = true;
  std::string allowed = " takes no further word";
  if (what == "well") {
    changed = {};
  } else if (what == "silent") {
    changed.silent = true;
  } else if (what == "late") {
    double milliseconds = 0;
    understood = read_fault_number(words, latest_ms, milliseconds);
    changed.late = from_seconds(milliseconds * 1e-3);
    allowed = fmt::format(" takes a number of milliseconds, from 0 to {:g}", latest_ms);
  } else if (what == "lost") {
    understood = read_fault_number(words, 1, changed.lost);
    allowed = share;
  } else if (what == "corrupt") {
    understood = read_fault_number(words, 1, changed.corrupt);
    allowed = share;
  } else if (what == "lying") {
    understood = read_fault_number(words, 1, changed.lying);
    allowed = share;
  } else if (what == "halted") {
    understood = read_halted(words, layouts, changed.halted);
    allowed = " takes one or more of:" + names_of(layouts);
  } else {
    return fmt::format(
        "'{}' is not one of silent, late, lost, corrupt, lying, halted, well, and if typed, recover", line);
  }
  if (!understood || !(words >> std::ws).eof()) return fmt::format("'{}': {}{}", line, what, allowed);
  faults = changed;
  return std::nullopt;
}

constexpr std::string_view sim_log_columns =
    "time,x,y,heading,speed,throttle,brake,steering,state,obeyed,held,sent\n";

/// A line of the log; time is that of the system's steady clock, as for `takt drive`.
template <class Vehicle>
std::string true_line(const Vehicle& vehicle, Time now) {
  const sim::VehiclePlant& plant = vehicle.controller().plant();
  return fmt::format("{:.6f},{:.4f},{:.4f},{:.5f},{:.4f},{:.3f},{:.3f},{:.4f},{},{},{},{}\n",
                     to_seconds(now.time_since_epoch()), plant.pose().x, plant.pose().y, plant.pose().heading,
                     plant.speed(), plant.throttle(), plant.brake(), plant.steering(),
                     to_string(vehicle.controller().state()), vehicle.controller().counters().obeyed,
                     vehicle.controller().counters().held, vehicle.counters().sent);
}

/// Unix time at zero of the steady clock.
vehicle::UnixTime unix_at_zero(Time now) {
  const auto unix = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  return unix - std::chrono::floor<std::chrono::milliseconds>(now.time_since_epoch());
}

/// The requested vehicle, with its initial faults.
struct SimulatedScene {
  robot::VehicleDescription description;
  sim::VehicleFaults faults{};
  double duration = 0;

  [[nodiscard]] const vehicle::Layouts& layouts() const {
    return *description.drive.client.telemetry.layouts;
  }
};

template <class Vehicle>
class VehicleProgram {
 public:
  VehicleProgram(Vehicle vehicle, platform::UdpSocket socket, LinkWatch watch, const SimulatedScene& scene,
                 Printer* log)
      : vehicle_(std::move(vehicle)),
        socket_(std::move(socket)),
        watch_(std::move(watch)),
        scene_(&scene),
        log_(log),
        faults_(scene.faults) {
    vehicle_.set_faults(faults_);
    if (log_ != nullptr) log_->print(std::string(sim_log_columns));
  }

  void run(const sigset_t& signals) {
    const platform::SteadyClock clock;
    const Time start = clock.now();
    constexpr timespec at_once{};
    Time next = start;
    while (sigtimedwait(&signals, nullptr, &at_once) <= 0 && printer_.has_reader()) {
      if (scene_->duration > 0 && to_seconds(next - start) >= scene_->duration) break;
      next = std::max(next + sim::status_period, clock.now());
      heard_ += exchange(socket_, vehicle_, next);
      if (const auto text = watch_.look(heard_, socket_, next)) printer_.print(*text + '\n');
      listen();
      tell(next);
    }
    summarise();
  }

 private:
  void listen() {
    constexpr std::size_t longest_line = 1024;
    typed_ += text_.take();
    for (std::size_t end = typed_.find('\n'); end != std::string::npos; end = typed_.find('\n')) {
      const std::string line = typed_.substr(0, end);
      typed_.erase(0, end + 1);
      if (line == "recover") {
        recover();
      } else if (const auto mistake = apply_fault(line, scene_->layouts(), faults_)) {
        printer_.print_error(fmt::format("takt vehicle-sim: {}\n", *mistake));
      } else {
        vehicle_.set_faults(faults_);
      }
    }
    if (typed_.size() <= longest_line) return;
    printer_.print_error(fmt::format("takt vehicle-sim: a line may have at most {} bytes\n", longest_line));
    typed_.clear();
  }

  void recover() {
    vehicle_.recover();
    if (!faults_.halted.empty()) printer_.print("systems are still broken: type well\n");
  }

  void tell(Time now) {
    const vehicle::SystemState state = vehicle_.controller().state();
    const sim::VehicleCounters& counters = vehicle_.controller().counters();
    if (state != told_) printer_.print(fmt::format("{}{}\n", to_string(state), halt_text(state, counters)));
    const bool held = state == vehicle::SystemState::running && told_ == state && counters.held > held_;
    if (held && !told_held_)
      printer_.print(
          "control frames arrive with throttle: the brake is held until one arrives without throttle\n");
    told_held_ = told_held_ || held;
    held_ = counters.held;
    halts_ = counters.timeouts;
    told_ = state;
    if (log_ != nullptr) log_->print(true_line(vehicle_, now));
  }

  /// The reason for its halt, and the remedy.
  [[nodiscard]] std::string halt_text(vehicle::SystemState state,
                                      const sim::VehicleCounters& counters) const {
    if (state != vehicle::SystemState::halted) return {};
    if (counters.timeouts == halts_) return ": the battery is empty";
    return fmt::format(": no control frame for {:g} ms; type recover to let it start again",
                       1e3 * to_seconds(scene_->description.drive.client.drive.command_timeout));
  }

  void summarise() {
    const auto& link = vehicle_.counters();
    const auto& heard = vehicle_.controller().counters();
    printer_.print(fmt::format(
        "{} control frames obeyed, {} held back by the brake, {} outdated, {} overruled by a stop, {} "
        "refused, {} malformed. {} halts for lack of control frames. {} status frames sent\n",
        heard.obeyed, heard.held, heard.outdated, heard.overruled, link.refused, link.malformed,
        heard.timeouts, link.sent));
  }

  Vehicle vehicle_;
  platform::UdpSocket socket_;
  LinkWatch watch_;
  LinkHeard heard_;
  const SimulatedScene* scene_;
  Printer* log_;
  Printer printer_;
  sim::VehicleFaults faults_;
  TypedText text_;
  std::string typed_;
  std::optional<vehicle::SystemState> told_;
  bool told_held_ = false;
  std::uint64_t held_ = 0;
  std::uint64_t halts_ = 0;  ///< by missing control frames, so far
};

[[noreturn]] void refuse_vehicle(const std::string& why, ExitCode code) {
  fmt::print(stderr, "takt vehicle-sim: {}\n", why);
  throw CLI::RuntimeError(code);
}

template <secure::Channel C>
void simulate(const VehicleSimOptions& options, const SimulatedScene& scene, C channel) {
  const vehicle::VehicleDriveConfiguration& drive = scene.description.drive;
  const Time start = platform::SteadyClock().now();
  auto vehicle = sim::SimulatedVehicle<C>::make(
      sim::options_of(drive),
      {.payload = drive.client.payload, .unix_at_zero = unix_at_zero(start), .seed = options.seed},
      std::move(channel), start);
  if (!vehicle) refuse_vehicle(std::string(describe(vehicle.error())), exit_bad_input);
  auto socket = options.link.open();
  if (!socket) refuse_vehicle(socket.error().message, exit_failed);
  const sigset_t signals = block_ending_signals();
  auto log = open_log(options.log);
  if (!log) refuse_vehicle(log.error().message, exit_failed);
  VehicleProgram(std::move(*vehicle), std::move(*socket), LinkWatch(options.link, false), scene,
                 log->printer.get())
      .run(signals);
  if (const auto failure = log->end()) refuse_vehicle(*failure, exit_failed);
}

SimulatedScene scene_of(const VehicleSimOptions& options) {
  SimulatedScene scene{options.vehicle.load(), {}, options.duration};
  if (const auto why = not_simulable(scene.description)) refuse_vehicle(*why, exit_bad_input);
  for (const std::string& line : options.words) {
    if (const auto mistake = apply_fault(line, scene.layouts(), scene.faults))
      refuse_vehicle("--fault " + *mistake, exit_bad_input);
  }
  return scene;
}

void simulate_vehicle(const VehicleSimOptions& options) {
  const SimulatedScene scene = scene_of(options);
  if (options.link.plain) return simulate(options, scene, secure::PlainChannel{});
  const auto keys = options.link.keys();
  if (!keys) refuse_vehicle(keys.error().message, exit_bad_input);
  with_authenticator(keys->front(), [&]<Authenticator A>() {
    std::vector<secure::SharedKey<A>> shared;
    for (const VehicleKey& key : *keys) shared.push_back(key.shared<A>());
    const auto entropy = platform::random_bytes<A::key_size>();
    if (!entropy) refuse_vehicle("the system cannot give random bytes", exit_failed);
    auto channel = secure::ServerChannel<A>::make(shared, *entropy);
    if (!channel) refuse_vehicle(std::string(describe(channel.error())), exit_bad_input);
    simulate(options, scene, std::move(*channel));
  });
}

}  // namespace

void add_vehicle_sim(CLI::App& app) {
  auto options = std::make_shared<VehicleSimOptions>();
  CLI::App* command =
      app.add_subcommand("vehicle-sim", "Simulate a vehicle that is driven over UDP (see: takt drive)");
  options->vehicle.add_option(*command);
  options->link.add_options(*command, secure::ServerChannel<SipHash128>::max_keys);
  command->add_option("--fault", options->words, "A fault from the start, in the words below");
  command->add_option("--seed", options->seed, "Seed of the random choice of lost, corrupt and lying frames")
      ->check(number_from_zero());
  command->add_option("--duration", options->duration, "End after this many seconds")
      ->check(number_from_zero());
  command->add_option("--log", options->log, "Write the vehicle's true motion to this file, comma-separated");
  command->footer(
      "Lines typed while it runs change its faults:\n"
      "  silent             it sends nothing, but receives and drives\n"
      "  late MILLISECONDS  its frames are sent this much later, " +
      fmt::format("{:g}", latest_ms) +
      " at most\n"
      "  lost SHARE         this share of its frames is lost, from 0 to 1\n"
      "  corrupt SHARE      this share of its frames has a flipped bit\n"
      "  lying SHARE        this share of its frames gives a wrong length of a block\n"
      "  halted SYSTEM...   these systems break down\n"
      "  well               removes all faults, and systems that broke down run again\n"
      "  recover            starts it again after a halt for lack of control frames\n"
      "Systems of the Furbot:" +
      names_of(vehicle::furbot_layouts) +
      "\n"
      "Example:\n  takt key vehicle.key\n  takt vehicle-sim --key vehicle.key --fault 'lost 0.2' --log "
      "true.csv");
  command->callback([options] { simulate_vehicle(*options); });
}

}  // namespace takt::tools
