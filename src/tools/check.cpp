// takt check: opens the buses of a robot, reads the state of each drive, and moves nothing.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "takt/app/devices.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/robot/bus_plan.hpp"
#include "takt/robot/drive_fault.hpp"
#include "takt/robot/drive_protocol.hpp"
#include "tools/bus_options.hpp"
#include "tools/commands.hpp"
#include "tools/number_checks.hpp"
#include "tools/robot_file.hpp"

namespace takt::tools {
namespace {

struct CheckOptions {
  std::string robot;  ///< as the user names it
  std::string robot_file;
  std::vector<std::string> buses;
  bool simulate = false;
  double duration = 1;  ///< s
};

/// The answers of one joint's drive.
struct Heard {
  robot::JointFeedback last;
  Time stamp{};                    ///< of the last answer that was counted
  std::vector<double> round_trip;  ///< s, from a cycle's requests to the stamp of the answer
  std::optional<double> tail;      ///< s, from the last requests to the last answer; none: it sends unasked
};

struct Delay {
  double median = 0;  ///< s
  double jitter = 0;  ///< s: standard deviation
};

Delay delay_of(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  double sum = 0;
  double squares = 0;
  for (const double time : times) {
    sum += time;
    squares += time * time;
  }
  const double n = static_cast<double>(times.size());
  return {*middle, std::sqrt(std::max(0.0, squares / n - sum / n * (sum / n)))};
}

/// Answers per period: half of those of one more drive.
constexpr double most_surplus = 0.5;

const char* name_of(CommandMode mode) {
  switch (mode) {
    case CommandMode::position:
      return "position";
    case CommandMode::velocity:
      return "velocity";
    case CommandMode::effort:
      return "effort";
  }
  return "?";
}

std::uint64_t answers_of(const robot::HardwareCounters& counters) {
  return counters.frames_received - counters.frames_unexpected;
}

/// Number of frames from the file's drives for `cycles` requests within the time `passed`.
double planned_answers(const robot::RobotDescription& robot, double cycles, Duration passed) {
  double sum = 0;
  for (std::size_t bus = 0; bus < robot.buses.size(); ++bus) {
    for (const can::PlannedFrame& frame : robot::plan_bus(robot, bus).replies) {
      const bool is_asked = frame.period == robot.period;
      sum += static_cast<double>(frame.count) *
             (is_asked ? cycles : to_seconds(passed) / to_seconds(frame.period));
    }
  }
  return sum;
}

/// The time from requests to their answer, s: the median of all if frames have stamps and answers come within
/// a period. Otherwise an answer cannot be assigned to its request, except the last one.
std::optional<Delay> delay_of(const Heard& heard, bool has_stamps, Duration period) {
  const bool is_late = heard.tail && *heard.tail > to_seconds(period);
  if (has_stamps && !is_late && !heard.round_trip.empty()) return delay_of(heard.round_trip);
  if (heard.tail) return Delay{*heard.tail, 0};
  return std::nullopt;
}

/// An slcan adapter sends no stamps: its frames have those of their arrival.
bool has_stamps(const std::string& interface) { return interface.rfind("slcan", 0) != 0; }

/// Reads without further requests: for half a second, and on to three while answers are missing and still
/// come. The time of a drive's last answer is the age of what the loop works with.
void wait_for_last_answers(app::Devices& devices, Time asked, double planned, std::vector<Heard>& heard) {
  constexpr Duration step = std::chrono::milliseconds(1);
  constexpr Duration wait = std::chrono::milliseconds(500);
  constexpr Duration longest = std::chrono::seconds(3);
  constexpr Duration silence = wait / 4;
  platform::SteadyClock clock;
  std::vector<robot::JointFeedback> feedback(heard.size());
  std::vector<Time> last(heard.size());
  Time now = asked;
  Duration waited{0};
  Duration last_heard{0};  // of what was waited
  // An adapter may pause, too. Without this wait, an earlier request's answer counts as the last one's.
  const auto still_comes = [&] {
    return waited - last_heard < wait && static_cast<double>(answers_of(devices.counters())) < planned;
  };
  while (waited < wait || (waited < longest && still_comes())) {
    devices.read(now, feedback);
    for (std::size_t i = 0; i < heard.size(); ++i) {
      if (!feedback[i].heard || feedback[i].stamp <= std::max(asked, last[i])) continue;
      last[i] = feedback[i].stamp;
      last_heard = waited;
    }
    clock.sleep_until(now + step);
    const Time before = std::exchange(now, clock.now());
    waited += std::min(now - before, 5 * step);  // a pause of this computer is no silence
  }
  const Time quiet = now - silence;
  for (std::size_t i = 0; i < heard.size(); ++i) {
    if (last[i] > asked && last[i] < quiet) heard[i].tail = to_seconds(last[i] - asked);
  }
}

struct Listened {
  std::vector<Heard> joints;
  double surplus = 0;  ///< answers per period beyond those of the file's drives; negative if some are silent
};

/// Answers a period since `begin` beyond those that the file's drives give.
double surplus_since(const robot::RobotDescription& robot, Time begin, Time end, double cycles,
                     std::uint64_t answers) {
  const double planned = planned_answers(robot, cycles, end - begin);
  return (static_cast<double>(answers) - planned) / std::max(cycles, 1.0);
}

/// Sends a request to all drives once a period, without power. The surplus is the smaller one of two times.
/// The whole time has further frames of drives that start up. Its second half may have answers that a pause
/// delayed.
Listened listen(app::Devices& devices, const robot::RobotDescription& robot, double duration) {
  platform::SteadyClock clock;
  std::vector<Heard> heard(robot.joints.size());
  std::vector<robot::JointFeedback> feedback(robot.joints.size());
  const std::vector<JointCommand> without_power(robot.joints.size());
  const Time begin = clock.now();
  Time asked = begin;
  const auto periods = std::max<Duration::rep>(from_seconds(duration) / robot.period, 1);
  Time due = asked;
  Time half = asked;
  std::uint64_t answers_by_half = 0;
  for (Duration::rep i = 0; i < periods; ++i) {
    clock.sleep_until(due);
    const Time now = clock.now();
    devices.read(now, feedback);
    if (i == periods / 2) {
      half = now;
      answers_by_half = answers_of(devices.counters());
    }
    for (std::size_t joint = 0; joint < heard.size(); ++joint) {
      Heard& entry = heard[joint];
      entry.last = feedback[joint];
      if (!entry.last.heard || entry.last.stamp <= entry.stamp) continue;
      entry.stamp = entry.last.stamp;
      if (entry.stamp > asked) entry.round_trip.push_back(to_seconds(entry.stamp - asked));
    }
    devices.write(now, without_power);
    asked = clock.now();
    due = now + robot.period;
  }
  const std::uint64_t answers = answers_of(devices.counters());
  const auto cycles = static_cast<double>(periods - 1);  // whose answers were read
  const Duration::rep cycles_of_half = periods / 2;
  const auto cycles_since_half = static_cast<double>(periods - 1 - cycles_of_half);
  const double of_all = surplus_since(robot, begin, asked, cycles, answers);
  const double of_half = surplus_since(robot, half, asked, cycles_since_half, answers - answers_by_half);
  const double planned = planned_answers(robot, cycles + 1, asked - begin);
  wait_for_last_answers(devices, asked, planned, heard);
  return {std::move(heard), std::min(of_all, of_half)};
}

/// The state of one joint's drive as text; "well" comes first if nothing is wrong.
std::string state_of(const robot::RobotDescription& robot, std::size_t joint, const Heard& heard,
                     const app::Devices& devices) {
  const robot::JointDescription& description = robot.joints[joint];
  const double position = heard.last.position;
  const bool has_bus = heard.last.drive != DriveState::no_bus;
  if (devices.link(description.bus) != robot::BusLink::up || !has_bus) return "its bus is down";
  if (heard.last.drive == DriveState::fault)
    return "fault: " + robot::describe_fault(robot, joint, heard.last.fault);
  if (!heard.last.heard) {
    return fmt::format("does not answer: is board {} powered, on this bus, and of protocol {}?",
                       description.board, robot.buses[description.bus].protocol->name());
  }
  if (heard.last.drive == DriveState::unknown) return "answers seldom";
  if (heard.tail && *heard.tail > to_seconds(robot.feedback_timeout)) {
    return fmt::format("answers {:.0f} ms late: its position is older than feedback_timeout, {:g} s",
                       *heard.tail * 1e3, to_seconds(robot.feedback_timeout));
  }
  if (position < description.limits.position_min || position > description.limits.position_max) {
    return fmt::format("outside its limits {:g}..{:g} {}", description.limits.position_min,
                       description.limits.position_max, robot::position_unit(description.kind));
  }
  return "well, power off";
}

/// One row a joint; returns how many are not well.
std::size_t print_rows(const robot::RobotDescription& robot, const std::vector<Heard>& heard,
                       const app::Devices& devices) {
  std::size_t widest = 5;
  std::size_t widest_bus = 3;
  for (const robot::JointDescription& joint : robot.joints) widest = std::max(widest, joint.name.size());
  for (const robot::BusDescription& bus : robot.buses) widest_bus = std::max(widest_bus, bus.name.size());
  for (std::size_t bus = 0; bus < robot.buses.size(); ++bus)
    fmt::print("bus {} is on {}\n", robot.buses[bus].name, devices.interface_of(bus));
  std::vector<std::string> identities;
  std::size_t widest_identity = 8;
  for (std::size_t i = 0; i < heard.size(); ++i) {
    const std::string& said = identities.emplace_back(devices.identity(i));
    widest_identity = std::max(widest_identity, said.size());
  }
  constexpr const char* row = "{:<{}} {:<{}} {:>5} {:<7} {:>9} {:<8} {:>9} {:>6}  {:<{}}  {}\n";
  fmt::print(row, "joint", widest, "bus", widest_bus, "board", "present", "position", "mode", "answer us",
             "jitter", "identity", widest_identity, "state");
  std::size_t missing = 0;
  for (std::size_t i = 0; i < heard.size(); ++i) {
    const robot::JointDescription& joint = robot.joints[i];
    const Heard& entry = heard[i];
    const std::string state = state_of(robot, i, entry, devices);
    if (state.rfind("well", 0) != 0) ++missing;
    const bool has_position = entry.last.heard;
    const bool present = has_position || entry.last.drive == DriveState::fault;
    const auto delay = delay_of(entry, has_stamps(devices.interface_of(joint.bus)), robot.period);
    fmt::print(row, joint.name, widest, robot.buses[joint.bus].name, widest_bus, joint.board,
               present ? "yes" : "no", has_position ? fmt::format("{:.4f}", entry.last.position) : "-",
               has_position ? name_of(entry.last.mode) : "-",
               delay ? fmt::format("{:.0f}", delay->median * 1e6) : "-",
               delay && delay->jitter > 0 ? fmt::format("{:.0f}", delay->jitter * 1e6) : "-",
               identities[i].empty() ? "-" : identities[i], widest_identity, state);
  }
  return missing;
}

int check(const CheckOptions& options) {
  const auto robot = open_robot_file(options.robot_file);
  if (!robot) return robot.error();
  app::DeviceOptions wanted;
  wanted.simulate = options.simulate;
  wanted.buses = to_overrides(options.buses);
  wanted.all_frames = true;
  wanted.start = platform::SteadyClock().now();
  const auto devices = app::Devices::create(*robot, wanted);
  if (!devices) {
    fmt::print(stderr, "takt check: {}\n", devices.error().message);
    return exit_failed;
  }
  (*devices)->ask_identity();
  const Listened listened = listen(**devices, *robot, options.duration);
  const std::size_t missing = print_rows(*robot, listened.joints, **devices);
  const robot::HardwareCounters counters = (*devices)->counters();
  if (counters.frames_unexpected > 0) {
    fmt::print(
        "{} frames have identifiers that no drive of this file uses: another robot's, a second master's, or "
        "a drive that the file does not name\n",
        counters.frames_unexpected);
  }
  if (counters.frames_malformed > 0) {
    fmt::print(
        "{} frames make no sense in the file's protocol: a drive of another kind, or two drives of one "
        "number\n",
        counters.frames_malformed);
  }
  for (std::size_t bus = 0; bus < robot->buses.size(); ++bus) {
    const std::uint64_t count = (*devices)->traffic(bus).unacknowledged;
    robot::BusDescription in_use = robot->buses[bus];
    in_use.interface = (*devices)->interface_of(bus);
    if (count > 0) fmt::print("{}\n", app::describe_unacknowledged(in_use, count));
  }
  const bool is_too_much = listened.surplus > most_surplus;
  if (is_too_much) {
    fmt::print(
        "{:.1f} answers a period more than the file's drives give. Two drives have one number, a second "
        "master "
        "asks them, or drives are set to report more often\n",
        listened.surplus);
  }
  if (missing > 0) {
    fmt::print("{} of {} joints are not well. Mend them, then: takt check again\n", missing,
               robot->joints.size());
    return exit_failed;
  }
  if (counters.frames_malformed > 0 || is_too_much) {
    fmt::print("all {} joints answer, but a bus is not well. Mend it, then: takt check again\n",
               robot->joints.size());
    return exit_failed;
  }
  if (robot->joints.empty()) {
    fmt::print("the robot has no drives: nothing was asked. Next: takt run {}\n", options.robot);
    return exit_ok;
  }
  fmt::print("all {} joints are well. Next: takt jog {} {} 0.05{}\n", robot->joints.size(), options.robot,
             robot->joints.front().name, options.simulate ? " --simulate" : bus_arguments(options.buses));
  return exit_ok;
}

}  // namespace

void add_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command =
      app.add_subcommand("check", "Open a robot's buses, ask each drive how it is, and move nothing");
  add_robot_option(*command, options->robot_file, &options->robot);
  CLI::Option* simulate = command->add_flag("--simulate", options->simulate,
                                            "Simulated drives on every bus, whatever the file says");
  add_bus_option(*command, options->buses,
                 "NAME=INTERFACE: another interface for a bus of the file: can0, slcan:/dev/ttyACM0, virtual")
      ->excludes(simulate);
  command->add_option("--duration", options->duration, "Ask for this many seconds")
      ->check(positive_number())
      ->capture_default_str();
  command->footer(
      "Every drive is told to be off: never run it beside another master that holds the robot up.\n"
      "`answer us` is the time from a period's questions to the drive's answer, by the stamp of its frame: "
      "the median, and the jitter beside it. Slcan adapters give no stamps: there it is the time from the "
      "last question to its answer, to a millisecond. \"-\": the drive also sends unasked.\n"
      "`identity` is what the drive says that it is: hardware and firmware, as far as its protocol tells "
      "them; "
      "else \"-\".\n"
      "Examples:\n"
      "  takt check arm6 --simulate\n"
      "  takt check my_arm.json --bus arm=can0\n"
      "Exit code: 0 every joint is well, 1 one is missing or at fault, a bus has frames that its drives "
      "cannot have sent, or cannot be opened, 2 the file is wrong.");
  command->callback([options] {
    const int code = check(*options);
    if (code != exit_ok) throw CLI::RuntimeError(code);
  });
}

}  // namespace takt::tools
