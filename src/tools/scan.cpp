// takt scan: listens on a bus, and asks every address of one protocol what is there. It moves and powers
// nothing.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "takt/app/bus.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/bus_plan.hpp"
#include "takt/robot/description_json.hpp"
#include "takt/robot/drive_protocol.hpp"
#include "tools/choice.hpp"
#include "tools/commands.hpp"
#include "tools/number_checks.hpp"

namespace takt::tools {
namespace {

using robot::DriveProtocol;
using std::chrono::steady_clock;

struct ScanOptions {
  std::string bus;
  const DriveProtocol* protocol = nullptr;  ///< null: listen only
  std::uint32_t bit_rate = 1'000'000;
  double duration = 2;  ///< s: of each of listening and asking
};

/// All that was heard of one drive.
struct Drive {
  std::uint8_t channels = 1;
  std::vector<std::string> texts{};
  robot::DriveSettings settings{};
  bool is_unasked = false;  ///< heard before the first question
};

class Scan {
 public:
  Scan(robot::CanPort& port, std::vector<const DriveProtocol*> protocols)
      : port_(&port), protocols_(std::move(protocols)) {}

  void listen(double seconds) {
    const auto end = steady_clock::now() + std::chrono::duration<double>(seconds);
    while (steady_clock::now() < end) {
      take_in();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    take_in();
  }
  /// Sends one frame a millisecond: slow adapters and short queues keep up.
  void ask(const std::vector<can::Frame>& questions) {
    has_asked_ = true;
    for (const can::Frame& question : questions) {
      for (int attempt = 0; attempt < 100 && port_->send({&question, 1}) == 0; ++attempt) listen(0.001);
      listen(0.001);
    }
  }

  [[nodiscard]] std::uint64_t frames() const { return frames_; }
  /// By protocol and board.
  [[nodiscard]] const std::map<std::pair<const DriveProtocol*, std::uint8_t>, Drive>& drives() const {
    return drives_;
  }

 private:
  void take_in() {
    std::array<can::Frame, 64> frames{};
    while (const std::size_t count = port_->receive(frames)) {
      frames_ += count;
      for (const can::Frame& frame : std::span<const can::Frame>(frames).first(count)) look_at(frame);
    }
  }
  void look_at(const can::Frame& frame) {
    for (const DriveProtocol* const protocol : protocols_) {
      const auto seen = protocol->sight(frame);
      if (!seen) continue;
      Drive& drive = drives_[{protocol, seen->board}];
      drive.channels = std::max(drive.channels, seen->channels);
      drive.is_unasked = drive.is_unasked || !has_asked_;
      const bool is_known =
          seen->text.empty() || std::ranges::find(drive.texts, seen->text) != drive.texts.end();
      if (!is_known) drive.texts.push_back(seen->text);
      for (const auto& [key, value] : seen->settings.list()) drive.settings.set(key, value);
    }
  }

  robot::CanPort* port_;
  std::vector<const DriveProtocol*> protocols_;
  std::map<std::pair<const DriveProtocol*, std::uint8_t>, Drive> drives_;
  std::uint64_t frames_ = 0;
  bool has_asked_ = false;
};

/// A robot with the drives of one protocol, with cautious numbers where no frame tells the true one.
robot::RobotDescription robot_of(const Scan& scan, const ScanOptions& options) {
  robot::RobotDescription robot;
  robot.name = "scanned";
  robot.period = std::chrono::milliseconds(10);
  robot.buses.push_back(
      {.name = "bus", .protocol = options.protocol, .interface = options.bus, .bit_rate = options.bit_rate});
  for (const auto& [place, drive] : scan.drives()) {
    for (std::uint8_t channel = 0; channel < drive.channels && robot.joints.size() < max_joints; ++channel) {
      robot::JointDescription& joint = robot.joints.emplace_back();
      joint.name = drive.channels == 1 ? fmt::format("joint_{}", place.second)
                                       : fmt::format("joint_{}_{}", place.second, channel);
      joint.limits = {-3, 3, 0.2, 0.5, 10};
      joint.board = place.second;
      joint.channel = channel;
      joint.drive = drive.settings;
      for (const robot::SettingRule& rule : options.protocol->settings()) {
        if (!rule.required || joint.drive.number(rule.key) || joint.drive.word(rule.key)) continue;
        if (rule.words.empty())
          joint.drive.set(rule.key, std::clamp(1.0, rule.least, rule.most));
        else
          joint.drive.set(rule.key, std::string(rule.words.front()));
      }
      if (options.protocol->has_counts()) joint.counts_per_radian = 1000;
    }
  }
  while (robot::plan_bus(robot, 0).load() > robot::largest_bus_load) robot.period *= 2;
  robot.feedback_timeout = std::max(robot.feedback_timeout, 5 * robot.period);
  if (const auto pause = options.protocol->longest_pause()) {
    const auto most = std::max<Duration::rep>(*pause / robot.period - 2, 0);
    robot.overrun_limit = static_cast<std::uint32_t>(std::min<Duration::rep>(robot.overrun_limit, most));
  }
  return robot;
}

void print_table(const Scan& scan) {
  constexpr const char* row = "{:<9} {:>5}  {:<11} {}\n";
  fmt::print(row, "protocol", "board", "heard", "it says");
  for (const auto& [place, drive] : scan.drives()) {
    std::string texts;
    for (const std::string& text : drive.texts) texts += (texts.empty() ? "" : ", ") + text;
    fmt::print(row, place.first->name(), place.second, drive.is_unasked ? "unasked" : "when asked",
               texts.empty() ? "-" : texts);
  }
}

int scan(const ScanOptions& options) {
  const auto address = app::parse_bus_address(options.bus);
  if (!address) {
    fmt::print(stderr, "takt scan: {}\n", address.error().message);
    return exit_bad_input;
  }
  const auto port = app::open_bus(
      *address,
      {.bit_rate = options.bit_rate, .fd = options.protocol != nullptr && options.protocol->has_fd_frames()});
  if (!port) {
    fmt::print(stderr, "takt scan: {}\n", port.error().message);
    return exit_failed;
  }
  const auto all = drives::all();
  std::vector<const DriveProtocol*> protocols(all.begin(), all.end());
  if (options.protocol != nullptr) protocols = {options.protocol};
  Scan found(**port, protocols);
  found.listen(options.duration);
  const bool is_quiet = found.frames() == 0;
  if (options.protocol != nullptr) {
    const auto questions = options.protocol->questions(is_quiet);
    if (questions.empty())
      fmt::print(
          "nothing was asked: another master is on the bus, and a question would switch its drives off\n");
    found.ask(questions);
    found.listen(options.duration);
  }
  fmt::print("{}: {} frames heard, {} drives\n", options.bus, found.frames(), found.drives().size());
  if (!found.drives().empty()) print_table(found);
  if (options.protocol == nullptr) {
    fmt::print(
        "Nothing was asked. --protocol cia402, hubo, mit, odrive or servo asks the drives of that kind\n");
    return found.drives().empty() ? exit_failed : exit_ok;
  }
  if (found.drives().empty()) {
    fmt::print("no drive answers: are they powered, is the bus terminated, and is {} bit/s their rate?\n",
               options.bit_rate);
    return exit_failed;
  }
  fmt::print(
      "A robot file for them. Replace the limits, counts_per_radian and \"drive\" before any power, and "
      "try:\n"
      "  takt check scanned.json; takt run scanned.json --power off\n{}",
      robot::to_json(robot_of(found, options)));
  return exit_ok;
}

}  // namespace

void add_scan(CLI::App& app) {
  auto options = std::make_shared<ScanOptions>();
  CLI::App* command = app.add_subcommand("scan", "Find the drives on a bus, and move nothing");
  command->add_option("bus", options->bus, "can0, or slcan:/dev/ttyACM0")->required();
  Choices<const DriveProtocol*> protocols;
  for (const DriveProtocol* const protocol : drives::all())
    protocols.emplace_back(protocol->name(), protocol);
  add_choice<const DriveProtocol*, const DriveProtocol*>(
      *command, "--protocol", options->protocol, protocols,
      "Ask every address of this protocol; without it, listen only");
  command->add_option("--bit-rate", options->bit_rate, "bit/s")
      ->check(CLI::IsMember({125'000, 250'000, 500'000, 800'000, 1'000'000}))
      ->capture_default_str();
  command
      ->add_option("--duration", options->duration, "Listen for this many seconds, and as long for answers")
      ->check(positive_number())
      ->capture_default_str();
  command->footer(
      "Questions of one protocol may be commands of another: name the kind of drives that are on the bus.\n"
      "Asked are: cia402, device type and identity by SDO; hubo, encoders; odrive, the version; mit, the "
      "registers\n"
      "of Damiao drives, since every frame to another one acts on the motor; servo, a command without power, "
      "only\n"
      "if the bus is quiet.\n"
      "Prints a table, and a robot file to begin with.\n"
      "Examples:\n"
      "  takt scan can0\n"
      "  takt scan slcan:/dev/ttyACM0 --protocol odrive --bit-rate 250000\n"
      "Exit code: 0 drives were found, 1 none, or the bus cannot be opened, 2 an argument is wrong.");
  command->callback([options] {
    const int code = scan(*options);
    if (code != exit_ok) throw CLI::RuntimeError(code);
  });
}

}  // namespace takt::tools
