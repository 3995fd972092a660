// takt simulate: runs the drives of a robot as a process of their own, on real buses. Any master on the other
// end finds the same as on the robot.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "takt/app/bus.hpp"
#include "takt/app/devices.hpp"
#include "takt/app/error.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/robot/drive_protocol.hpp"
#include "takt/rt/thread_setup.hpp"
#include "takt/sim/robot_simulation.hpp"
#include "tools/bus_options.hpp"
#include "tools/commands.hpp"
#include "tools/number_checks.hpp"
#include "tools/printer.hpp"
#include "tools/pty_adapter.hpp"
#include "tools/robot_file.hpp"
#include "tools/signals.hpp"

namespace takt::tools {
namespace {

struct SimulateOptions {
  std::string robot_file;
  std::vector<std::string> buses;
  double duration = 0;  ///< s; 0 = until a signal
};

/// One bus of the simulation, with the real bus that it is bridged to.
struct Bridge {
  std::size_t bus = 0;
  std::string interface;
  std::unique_ptr<robot::CanPort> port;
};

constexpr std::string_view pty = "pty:";

SetupResult<std::unique_ptr<robot::CanPort>> open(const robot::BusDescription& bus, const std::string& text) {
  const auto named = [&bus](const SetupError& error) {
    return fail(error.error, fmt::format("bus {}: {}", bus.name, error.message));
  };
  if (text.rfind(pty, 0) == 0) {
    if (bus.protocol->has_fd_frames()) {
      return fail(app::Errc::no_fd_adapter,
                  fmt::format("bus {}: slcan carries classic frames only, and protocol {} sends FD frames; "
                              "an interface such as vcan0 carries both",
                              bus.name, bus.protocol->name()));
    }
    auto adapter = open_pty_adapter(text.substr(pty.size()));
    if (!adapter) return named(adapter.error());
    return adapter;
  }
  auto address = app::parse_bus_address(text);
  if (!address) return named({address.error().error, address.error().message + ", and \"pty:/tmp/arm\""});
  return app::open_bus(*address, {.name = bus.name,
                                  .bit_rate = bus.bit_rate,
                                  .data_bit_rate = bus.data_bit_rate,
                                  .fd = bus.protocol->has_fd_frames()});
}

/// The bridges by options and description. Error: a bus that neither has.
SetupResult<std::vector<Bridge>> open_bridges(const robot::RobotDescription& robot,
                                              const std::vector<std::string>& buses) {
  const auto interfaces = app::interfaces_of(robot, false, to_overrides(buses));
  if (!interfaces) return tl::unexpected<SetupError>(interfaces.error());
  std::vector<Bridge> bridges;
  for (std::size_t i = 0; i < interfaces->size(); ++i) {
    const robot::BusDescription& bus = robot.buses[i];
    if ((*interfaces)[i] == "virtual") {
      return fail(app::Errc::not_a_real_bus, fmt::format("bus {} is virtual: give the interface of its "
                                                         "boards with --bus {}=can0 or --bus {}=pty:/tmp/{}",
                                                         bus.name, bus.name, bus.name, bus.name));
    }
    auto port = open(bus, (*interfaces)[i]);
    if (!port) return tl::unexpected<SetupError>(std::move(port.error()));
    bridges.push_back({i, (*interfaces)[i], std::move(*port)});
  }
  return bridges;
}

/// Frames of the real bus enter the virtual one at the simulation's time; the drives' answers go out.
void pass_frames(sim::RobotSimulation& world, const Bridge& bridge) {
  std::array<can::Frame, 64> frames{};
  sim::VirtualCanBus::Port host = world.host(bridge.bus);
  if (const std::size_t count = host.receive(frames); count > 0)
    bridge.port->send(std::span<const can::Frame>(frames).first(count));
  while (const std::size_t count = bridge.port->receive(frames)) {
    host.send(std::span<const can::Frame>(frames).first(count));
    if (count < frames.size()) break;
  }
}

int simulate(const SimulateOptions& options) {
  const auto robot = open_robot_file(options.robot_file);
  if (!robot) return robot.error();
  const sigset_t signals = block_ending_signals();
  Printer printer;
  const auto fails = [&printer](const SetupError& error) {
    printer.print_error("takt simulate: " + error.message + "\n");
    return exit_failed;
  };
  platform::SteadyClock clock;
  auto world = sim::RobotSimulation::create(*robot, clock.now());
  if (!world) return fails(world.error());
  const auto bridges = open_bridges(*robot, options.buses);
  if (!bridges) return fails(bridges.error());
  rt::ThreadConfig thread;
  thread.fifo = thread.timer_slack = rt::Want::attempt;
  thread.priority = 70;  // below the loop's: on one machine the master has precedence
  const auto granted = rt::set_up_thread(thread);
  for (const Bridge& bridge : *bridges)
    printer.print(
        fmt::format("boards of bus {} are on {}\n", robot->buses[bridge.bus].name, bridge.interface));

  const Time end = clock.now() + from_seconds(options.duration);
  constexpr timespec tick{0, 200'000};
  while (printer.has_reader() && sigtimedwait(&signals, nullptr, &tick) <= 0) {
    world->advance(clock.now());
    for (const Bridge& bridge : *bridges) pass_frames(*world, bridge);
    if (options.duration > 0 && clock.now() >= end) break;
  }
  const bool had_reader = printer.has_reader();
  for (const Bridge& bridge : *bridges) {
    printer.print(
        fmt::format("bus {}: {} frames\n", robot->buses[bridge.bus].name, bridge.port->traffic().frames));
  }
  return had_reader ? exit_ok : exit_failed;
}

}  // namespace

void add_simulate(CLI::App& app) {
  auto options = std::make_shared<SimulateOptions>();
  CLI::App* command = app.add_subcommand(
      "simulate", "Simulate the boards of a robot on real buses, to try a master without the robot");
  add_robot_option(*command, options->robot_file);
  add_bus_option(*command, options->buses,
                 "NAME=INTERFACE: interface of a bus's boards: can0, slcan:/dev/ttyACM0, or pty:/tmp/arm: an "
                 "slcan adapter on a pseudo terminal at that path");
  command
      ->add_option("--duration", options->duration,
                   "End after this many seconds (default: on SIGINT, SIGTERM, SIGHUP or SIGQUIT)")
      ->check(number_from_zero());
  command->footer(
      "Examples, each pair in two terminals:\n"
      "  takt simulate mhubo --bus left_and_waist=pty:/tmp/left --bus right=pty:/tmp/right\n"
      "  takt run mhubo --bus left_and_waist=slcan:/tmp/left --bus right=slcan:/tmp/right\n"
      "  takt simulate arm6 --bus arm=vcan0      # after: ip link add vcan0 type vcan; ip link set vcan0 mtu "
      "72 up\n"
      "  takt run arm6 --bus arm=vcan0\n"
      "Exit code: 0 it ended as it should, 1 a bus could not be opened, or the reader of its output closed "
      "it, 2 the file is wrong.");
  command->callback([options] {
    const int code = simulate(*options);
    if (code != exit_ok) throw CLI::RuntimeError(code);
  });
}

}  // namespace takt::tools
