// takt teleop: drives the base of a running robot by keys, or by a file of twists, over its motion server.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "app/command_words.hpp"
#include "json/strict.hpp"
#include "takt/mobile/pose.hpp"
#include "takt/platform/steady_clock.hpp"
#include "tools/commands.hpp"
#include "tools/connection.hpp"
#include "tools/drive_input.hpp"
#include "tools/json_answer.hpp"
#include "tools/number_checks.hpp"
#include "tools/printer.hpp"
#include "tools/signals.hpp"
#include "tools/terminal.hpp"

namespace takt::tools {
namespace {

using json::Value;

struct TeleopOptions {
  Address address;
  std::string controller = "drive";
  double speed = 1;     ///< m/s
  double rotation = 1;  ///< rad/s
  double hold = 2;      ///< s
  std::string twists;   ///< file
};

/// Sends 20 twists a second to the controller's port, and asks how it is. It has a connection and a thread of
/// its own: a server that is busy with another request delays no stop.
class TwistSender {
 public:
  /// What the last twist met.
  struct Report {
    std::string state;   ///< "drive is active", or the refusal
    bool obeys = false;  ///< the base is driven by these twists
    bool is_lost = false;
  };

  TwistSender(MotionClient client, std::string controller)
      : client_(std::move(client)), controller_(std::move(controller)), thread_([this] { run(); }) {}
  /// Sends a last twist of zero.
  ~TwistSender() {
    {
      const std::scoped_lock lock(mutex_);
      twist_ = {};
      ends_ = true;
    }
    thread_.join();
  }
  TwistSender(const TwistSender&) = delete;
  TwistSender& operator=(const TwistSender&) = delete;

  void set(const mobile::Twist& twist) {
    const std::scoped_lock lock(mutex_);
    twist_ = twist;
  }
  /// Starts a controller that has failed.
  void restart() {
    const std::scoped_lock lock(mutex_);
    restarts_ = true;
  }
  [[nodiscard]] Report report() {
    const std::scoped_lock lock(mutex_);
    return report_;
  }

 private:
  void run() {
    constexpr Duration period = std::chrono::milliseconds(50);
    platform::SteadyClock clock;
    for (bool ends = false; !ends; clock.sleep_until(clock.now() + period)) {
      mobile::Twist twist;
      bool restarts = false;
      {
        const std::scoped_lock lock(mutex_);
        twist = twist_;
        restarts = std::exchange(restarts_, false);
        ends = ends_;
      }
      if (restarts) restart_controller();
      Report report = send(twist);
      ends = ends || report.is_lost;
      const std::scoped_lock lock(mutex_);
      report_ = std::move(report);
    }
  }

  Report send(const mobile::Twist& twist) {
    refusal_.clear();
    ask(Value{{"write",
               {{"port", controller_ + ".command"},
                {"value", {{"forward", twist.forward}, {"rotation", twist.rotation}}}}}});
    std::string state = "unloaded";
    for (const Value& row : rows_of("list")) {
      if (text_in(row, "name") != controller_) continue;
      state = text_in(row, "state");
      if (const std::string why = text_in(row, "error"); !why.empty()) state += ": " + why;
    }
    bool obeys = state == "active";
    for (const Value& row : rows_of("interfaces")) {
      if (text_in(row, "name") != controller_ + "/ready" || number_in(row, "value") == 1) continue;
      if (obeys) state += ", but its vehicle is not ready";
      obeys = false;
    }
    if (!refusal_.empty()) return {refusal_, false, is_lost_};
    return {controller_ + " is " + state, obeys, false};
  }
  void restart_controller() {
    ask(Value{{"reset", {{"name", controller_}}}});
    ask(Value{{"start", {{"name", controller_}}}});
  }

  Value rows_of(const char* verb) {
    Value rows = ask(Value{{verb, Value::object()}});
    return rows.is_array() ? rows : Value::array();
  }
  /// The content of the controllers' answer.
  Value ask(const Value& request) {
    if (is_lost_) return {};
    const auto reply = client_.controllers(app::to_line(request), answer_time);
    if (!reply) {
      is_lost_ = !reply.error().rejection;
      if (refusal_.empty() || is_lost_)
        refusal_ = is_lost_ ? reply.error().message : to_text(*reply.error().rejection);
      return {};
    }
    const auto answer = json::parse(reply->answer);
    return answer && answer->is_object() && !answer->empty() ? answer->begin().value() : Value();
  }

  MotionClient client_;
  std::string controller_;
  std::string refusal_;  ///< of the present round
  bool is_lost_ = false;
  std::mutex mutex_;  ///< for the members below
  mobile::Twist twist_{};
  bool restarts_ = false;
  bool ends_ = false;
  Report report_{"the robot is asked", false, false};
  std::thread thread_;
};

/// Drives by keys or by a file.
class Teleop {
 public:
  Teleop(const TeleopOptions& options, std::optional<TwistScript> script)
      : stops_(connect_or_exit(options.address)),
        sender_(connect_or_exit(options.address), options.controller),
        keys_(options.speed, options.speed, options.rotation, options.hold),
        script_(std::move(script)) {}

  /// Whether the robot was reached until the end, and obeyed all of a file.
  bool run(const sigset_t& signals) {
    const RawTerminal terminal;
    constexpr timespec at_once{};
    obeyed_ = now_ = clock_.now();
    while (!script_over() && !is_given_up() && printer_.has_reader()) {
      if (listen() || sigtimedwait(&signals, nullptr, &at_once) > 0) break;
      clock_.sleep_until(now_ + period);
      const Duration passed = clock_.now() - std::exchange(now_, clock_.now());
      const TwistSender::Report report = sender_.report();
      tell(report);
      if (report.is_lost) return false;
      if (report.obeys) {
        obeyed_ = now_;
        driven_ += to_seconds(passed);
      }
      sender_.set(script_ ? script_->twist(driven_) : keys_.twist(now_));
    }
    return !script_ || script_over();
  }

 private:
  static constexpr Duration period = std::chrono::milliseconds(20);
  static constexpr Duration start_up = std::chrono::seconds(20);
  static constexpr Duration patience = std::chrono::seconds(5);  ///< with a stop that no key ends

  [[nodiscard]] bool script_over() const { return script_ && script_->ended(driven_); }
  /// Whether the base does not obey a file, and so never will.
  [[nodiscard]] bool is_given_up() const {
    return script_ && now_ - obeyed_ > (driven_ > 0 ? patience : start_up);
  }

  void tell(const TwistSender::Report& report) {
    if (std::exchange(told_, report.state) != report.state) say(report.state);
    if (!is_terminal_) return;
    const mobile::Twist twist = keys_.twist(now_);
    const std::string line = fmt::format("{:5.2f} m/s {:5.2f} rad/s", twist.forward, twist.rotation);
    if (!script_ && std::exchange(shown_, line) != line)
      printer_.print("\r\x1b[K" + line.substr(0, terminal_columns() - 1));
  }

  /// Whether the program should end.
  bool listen() {
    for (const char key : text_.take()) {
      switch (keys_.press(key, now_)) {
        case DriveKey::none:
          break;
        case DriveKey::stop_at_once:
          command(motion::EmergencyStopMessage{StopCategory::category_0});
          break;
        case DriveKey::stop:
          command(motion::EmergencyStopMessage{StopCategory::category_1});
          break;
        case DriveKey::recover:
          recover();
          break;
        case DriveKey::quit:
          return true;
      }
    }
    return false;
  }

  /// Leaves a stop of the robot, or starts a controller that has failed.
  void recover() {
    const auto state = stops_.state(answer_time);
    if (!state) exit_with(state.error());
    if (state->robot == motion::RobotState::stopped) return command(motion::ResetMessage{});
    sender_.restart();
  }
  template <class Message>
  void command(Message message) {
    const auto done = stops_.request({"", std::move(message)}, answer_time);
    if (done) return;
    if (!done.error().rejection) exit_with(done.error());
    say(to_text(*done.error().rejection));
  }

  void say(const std::string& text) {
    printer_.print((is_terminal_ ? "\r\x1b[K" : "") + text + '\n');
    shown_.clear();
  }

  MotionClient stops_;
  TwistSender sender_;
  KeyDriver keys_;
  std::optional<TwistScript> script_;
  Printer printer_;
  TypedText text_;
  platform::SteadyClock clock_;
  bool is_terminal_ = ::isatty(STDOUT_FILENO) == 1;
  Time now_{};
  Time obeyed_{};      ///< last time when the base obeyed
  double driven_ = 0;  ///< s in which it obeyed
  std::string told_;   ///< last state
  std::string shown_;  ///< last line of the twist
};

void teleoperate(const TeleopOptions& options) {
  std::optional<TwistScript> script;
  if (!options.twists.empty()) {
    auto loaded = TwistScript::load(options.twists);
    if (!loaded) {
      fmt::print(stderr, "takt teleop: {}\n", loaded.error().message);
      throw CLI::RuntimeError(exit_bad_input);
    }
    script = std::move(*loaded);
  }
  const sigset_t signals = block_ending_signals();
  Teleop teleop(options, std::move(script));
  if (!teleop.run(signals)) throw CLI::RuntimeError(exit_failed);
}

}  // namespace

void add_teleop(CLI::App& app) {
  const auto options = std::make_shared<TeleopOptions>();
  CLI::App* command =
      app.add_subcommand("teleop", "Drive the base of a running robot by keys, or by a file of twists");
  options->address.add_options(*command);
  command->add_option("--controller", options->controller, "Name of the base's controller")
      ->capture_default_str();
  command->add_option("--speed", options->speed, "Largest speed, m/s; the controller has its own limits")
      ->check(positive_number())
      ->capture_default_str();
  command->add_option("--rotation", options->rotation, "Largest rotation, rad/s; likewise")
      ->check(positive_number())
      ->capture_default_str();
  CLI::Option* hold = command->add_option("--hold", options->hold,
                                          "Seconds without a key press after which the twist becomes zero");
  hold->check(positive_number())->capture_default_str();
  command
      ->add_option(
          "--twists", options->twists,
          "File of twists instead of keys: 'seconds m/s rad/s' on each line; the last line is the end")
      ->excludes(hold);
  command->footer(
      "Keys: w s faster, slower or backwards; a d left, right; . hold the twist; c controlled stop of the "
      "robot; x stop without power;\n"
      "      r continue after a stop; q quit; space and any other key: slow to a standstill.\n"
      "For all controllers with a port \"command\" of twists, such as VehicleDriveController.\n"
      "A file's time counts while the base obeys.\n"
      "Exit code: 0 done, 1 the base did not obey all of a file, or was not reached, 2 the command line is "
      "wrong.\n"
      "Example:\n"
      "  takt run my_vehicle.json --simulate --record run.mcap &\n"
      "  takt teleop");
  command->callback([options] { teleoperate(*options); });
}

}  // namespace takt::tools
