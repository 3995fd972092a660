// takt drive: drives a vehicle over UDP by keys or by a file of twists. It shows the vehicle's reports with
// their age, also in a log and in shared memory. It ends with a controlled stop.
#include <fmt/format.h>

#include <csignal>
#include <cstddef>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "takt/describe.hpp"
#include "takt/platform/key_file.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/secure/client_channel.hpp"
#include "takt/sim/simulated_vehicle.hpp"
#include "takt/vehicle/vehicle_drive.hpp"
#include "tools/commands.hpp"
#include "tools/drive_input.hpp"
#include "tools/drive_program.hpp"
#include "tools/drive_publication.hpp"
#include "tools/number_checks.hpp"
#include "tools/printer.hpp"
#include "tools/signals.hpp"
#include "tools/vehicle_file.hpp"
#include "tools/vehicle_link.hpp"

namespace takt::tools {
namespace {

struct DriveOptions {
  VehicleLinkOptions link{.local = "127.0.0.1:18003", .peer = "127.0.0.1:18004"};
  VehicleFileOption vehicle{};
  std::optional<double> speed{};        ///< m/s; else the vehicle's limit
  std::optional<double> rotation{};     ///< rad/s; else the vehicle's limit
  std::vector<std::string> required{};  ///< systems; empty: as in the vehicle's description
  double hold = 2;
  std::string twists;
  std::string log;
  std::string publish;
  double duration = 0;  ///< s; 0: until the twists end, a signal, or the key
};

[[noreturn]] void refuse_drive(const std::string& why, ExitCode code) {
  fmt::print(stderr, "takt drive: {}\n", why);
  throw CLI::RuntimeError(code);
}

vehicle::SystemSet systems_of(const std::vector<std::string>& names, const vehicle::Layouts& layouts) {
  vehicle::SystemSet systems;
  for (const std::string& name : names) {
    const vehicle::SystemLayout* const found = layouts.find(name);
    if (found == nullptr)
      refuse_drive(fmt::format("--required: there is no system '{}'; there are{}", name, names_of(layouts)),
                   exit_bad_input);
    systems.insert(found->system);
  }
  if (!systems.contains(vehicle::System::traction))
    refuse_drive("--required: traction is missing; it is always required", exit_bad_input);
  return systems;
}

/// The vehicle, with lower limits if requested. Prints which of its values are guesses.
robot::VehicleDescription description_of(const DriveOptions& options) {
  robot::VehicleDescription description = options.vehicle.load();
  if (!description.provisional.empty())
    fmt::print(stderr, "takt drive: {}: these figures are guesses, and were not measured: {}\n",
               description.name, fmt::join(description.provisional, " "));
  vehicle::Telemetry::Configuration& telemetry = description.drive.client.telemetry;
  if (!options.required.empty()) telemetry.required = systems_of(options.required, *telemetry.layouts);
  auto& limits = description.drive.limits;
  if (options.speed) {
    limits.forward = std::min(limits.forward, *options.speed);
    limits.backward = std::min(limits.backward, *options.speed);
  }
  if (options.rotation) limits.rotation = std::min(limits.rotation, *options.rotation);
  return description;
}

DriveOutputs open_outputs(const DriveOptions& options) {
  DriveOutputs outputs;
  auto log = open_log(options.log);
  if (!log) refuse_drive(log.error().message, exit_failed);
  outputs.log = std::move(*log);
  if (!options.publish.empty()) {
    auto publication = DrivePublication::open(options.publish);
    if (!publication) refuse_drive(publication.error().message, exit_failed);
    outputs.publication.emplace(std::move(*publication));
  }
  return outputs;
}

/// Everything besides the vehicle and the way to it.
struct DriveSetup {
  const DriveOptions& options;
  robot::VehicleDescription description;
  std::optional<TwistScript> script;
};

template <secure::Channel C, class Link>
void drive_over(DriveSetup& setup, C channel, Link link) {
  using Drive = vehicle::VehicleDrive<C>;
  const DriveOptions& options = setup.options;
  auto drive = Drive::make(setup.description.drive, std::move(channel));
  if (!drive) refuse_drive(std::string(describe(drive.error())), exit_bad_input);
  const sigset_t signals = block_ending_signals();
  const auto& limits = setup.description.drive.limits;
  const std::ptrdiff_t beyond = setup.script ? setup.script->beyond(limits) : 0;
  if (beyond > 0)
    fmt::print(stderr, "takt drive: {}: twists that are reduced to the vehicle's limits: {}\n",
               options.twists, beyond);
  DriveInputs inputs{{limits.forward, limits.backward, limits.rotation, options.hold},
                     std::move(setup.script),
                     options.duration};
  DriveProgram<Drive, Link> program(std::move(*drive), std::move(link), std::move(inputs),
                                    open_outputs(options));
  const bool ended_well = program.run(signals);
  if (const auto failure = program.log().end()) refuse_drive(*failure, exit_failed);
  if (!ended_well) throw CLI::RuntimeError(exit_failed);
}

template <secure::Channel C>
void drive_real(DriveSetup& setup, C channel) {
  auto socket = setup.options.link.open();
  if (!socket) refuse_drive(socket.error().message, exit_failed);
  drive_over(setup, std::move(channel), UdpLink(std::move(*socket), LinkWatch(setup.options.link, true)));
}

void drive_real(DriveSetup& setup) {
  const VehicleLinkOptions& link = setup.options.link;
  if (link.plain) return drive_real(setup, secure::PlainChannel{});
  const auto keys = link.keys();
  if (!keys) refuse_drive(keys.error().message, exit_bad_input);
  if (link.any_port() && link.send_to.empty())
    refuse_drive("a vehicle with a key does not send first, so --peer ADDRESS:any needs --send-to",
                 exit_bad_input);
  with_authenticator(keys->front(), [&]<Authenticator A>() {
    const auto entropy = platform::random_bytes<A::key_size>();
    if (!entropy) refuse_drive("the system cannot give random bytes", exit_failed);
    auto channel = secure::ClientChannel<A>::make(keys->front().shared<A>(), *entropy);
    if (!channel) refuse_drive(std::string(describe(channel.error())), exit_bad_input);
    drive_real(setup, std::move(*channel));
  });
}

void drive_simulated(DriveSetup& setup) {
  using Vehicle = sim::SimulatedVehicle<secure::PlainChannel>;
  if (const auto why = not_simulable(setup.description)) refuse_drive(*why, exit_bad_input);
  const vehicle::VehicleDriveConfiguration& drive = setup.description.drive;
  auto vehicle = Vehicle::make(sim::options_of(drive), {.payload = drive.client.payload}, {},
                               platform::SteadyClock().now());
  if (!vehicle) refuse_drive(std::string(describe(vehicle.error())), exit_bad_input);
  drive_over(setup, secure::PlainChannel{}, DirectLink(*vehicle));
}

void drive_vehicle(const DriveOptions& options) {
  DriveSetup setup{options, description_of(options), {}};
  if (!options.twists.empty()) {
    auto loaded = TwistScript::load(options.twists);
    if (!loaded) refuse_drive(loaded.error().message, exit_bad_input);
    setup.script = std::move(*loaded);
  }
  if (setup.description.is_simulated) return drive_simulated(setup);
  drive_real(setup);
}

}  // namespace

void add_drive(CLI::App& app) {
  auto options = std::make_shared<DriveOptions>();
  CLI::App* command = app.add_subcommand("drive", "Drive a vehicle over UDP by keys, or by a file of twists");
  options->vehicle.add_option(*command);
  options->link.add_options(*command, 1);
  command->add_option("--speed", options->speed, "Largest speed, m/s, if the vehicle's limit is not lower")
      ->check(positive_number());
  command
      ->add_option("--rotation", options->rotation,
                   "Largest rotation, rad/s, if the vehicle's limit is not lower")
      ->check(positive_number());
  command
      ->add_option("--required", options->required,
                   "Names of the systems that must report and run while the vehicle drives, separated by "
                   "commas; traction must be one of them [those of the vehicle's description]")
      ->delimiter(',');
  CLI::Option* hold = command->add_option("--hold", options->hold,
                                          "Seconds without a key press after which the twist becomes zero");
  hold->check(positive_number())->capture_default_str();
  command
      ->add_option(
          "--twists", options->twists,
          "File of twists instead of keys: 'seconds m/s rad/s' on each line; the last line is the end")
      ->excludes(hold);
  command->add_option("--duration", options->duration, "End after this many seconds")
      ->check(number_from_zero());
  command->add_option("--log", options->log,
                      "Write the vehicle's state and the commands to this file, comma-separated");
  command->add_option(
      "--publish", options->publish,
      "Publish the vehicle's pose, twist, covariance and status in the shared segment of this name");
  command->footer(
      "Keys: w s faster, slower or backwards; a d left, right; . hold the twist; c controlled stop; x full "
      "brake at once;\n"
      "      r continue after a stop; q quit; space and any other key: slow to a standstill.\n"
      "To read the published data in another process: takt shm inspect NAME, shm/opaque.hpp, or takt.h.\n"
      "\"devices\": \"simulated\" in the vehicle's description drives one in this process.\n"
      "To record a vehicle, and to drive it with a robot: \"vehicles\" in a robot's file, `takt run`, `takt "
      "teleop`.\n"
      "Units, limits and gains come from the vehicle's description: measure them on a real vehicle first.\n"
      "Example:\n"
      "  takt key vehicle.key\n"
      "  takt vehicle-sim --key vehicle.key &\n"
      "  takt drive --key vehicle.key");
  command->callback([options] { drive_vehicle(*options); });
}

}  // namespace takt::tools
