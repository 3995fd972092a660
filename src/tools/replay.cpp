// takt replay: repeats a recorded run, and tells the first command that differs.
#include "takt/app/replay.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "takt/robot/description_json.hpp"
#include "tools/commands.hpp"
#include "tools/open_recording.hpp"
#include "tools/replay_result.hpp"
#include "tools/robot_file.hpp"

namespace takt::tools {
namespace {

struct ReplayArguments {
  std::vector<std::string> recordings;
  std::string robot_file;
  std::vector<std::string> libraries;
  std::vector<std::string> folders;
  std::string record;
  std::vector<std::string> variables;
  bool overwrite = false;
  double speed = 0;
  bool step = false;
};

/// Shows the robot between two cycles, and asks how many cycles to go.
class Stepper {
 public:
  [[nodiscard]] bool operator()(app::Robot& robot, std::uint64_t cycle) {
    if (cycle < next_) return true;
    fmt::print("before cycle {}:\n", cycle);
    for (const robot::Joint& joint : robot.manager().joints())
      fmt::print("  {} reference {} measured {}\n", joint.name(), joint.reference().position,
                 joint.feedback().position);
    return ask(cycle);
  }

 private:
  [[nodiscard]] bool ask(std::uint64_t cycle) {
    std::string line;
    while (true) {
      fmt::print("cycles to go [1], or q: ");
      std::fflush(stdout);
      if (!std::getline(std::cin, line) || line == "q") return false;
      std::uint64_t count = 1;
      const auto parsed = std::from_chars(line.data(), line.data() + line.size(), count);
      if (line.empty() || (parsed.ec == std::errc{} && parsed.ptr == line.data() + line.size())) {
        next_ = cycle + count;
        return true;
      }
    }
  }

  std::uint64_t next_ = 0;
};

/// What the result does not cover.
void print_limits_of(const app::ReplayResult& result, const record::Reader& recording) {
  for (const record::LostPart& part : recording.lost())
    fmt::print("damaged, and left out: {}\n", part.text(Time{}));
  if (recording.truncated()) {
    fmt::print("the recording was cut off\n");
  } else if (!recording.totals() && result.ended_early.empty()) {
    fmt::print("another file continues the recording\n");
  }
  if (result.left_out > 0)
    fmt::print("{} requests were left out: the limits of this robot forbid them\n", result.left_out);
  if (!result.ended_early.empty()) fmt::print("the replay ended early: {}\n", result.ended_early);
}

int replay_fails(const SetupError& error, const std::vector<record::LostPart>& lost = {}) {
  fmt::print(stderr, "takt replay: {}\n", error.message);
  for (const record::LostPart& part : lost)
    fmt::print(stderr, "takt replay: damaged, and left out: {}\n", part.text(Time{}));
  return exit_bad_input;
}

int run_replay(const ReplayArguments& arguments) {
  app::ReplayOptions options;
  options.speed = arguments.speed;
  options.options.libraries = arguments.libraries;
  options.options.folders = arguments.folders;
  options.options.recording = arguments.record;
  options.options.recorded_variables = arguments.variables;
  options.options.overwrite = arguments.overwrite;
  options.options.recorder.compression = recording_compression();
  if (!arguments.robot_file.empty()) {
    auto robot = open_robot_file(arguments.robot_file);
    if (!robot) return robot.error();
    options.robot = std::move(*robot);
  }
  if (arguments.step) options.step = Stepper();
  auto recording = open_recording(RecordingPlace(arguments.recordings), true);
  if (!recording) return replay_fails(recording.error());
  const auto result = app::replay(*recording, std::move(options));
  if (!result) return replay_fails(result.error(), recording->lost());
  return print_result(*result, *recording, arguments.record);
}

}  // namespace

int print_result(const app::ReplayResult& result, const record::Reader& recording, const std::string& made) {
  if (result.recorded) fmt::print("recorded {} records in {}\n", result.recorded->records, made);
  print_limits_of(result, recording);
  if (!result.difference) {
    fmt::print("{} cycles, all commands as recorded, bit for bit\n", result.cycles);
    return exit_ok;
  }
  fmt::print("{} of {} cycles differ; the first: {}\n", result.differing, result.cycles,
             result.difference->text());
  return exit_failed;
}

void add_replay(CLI::App& app) {
  auto arguments = std::make_shared<ReplayArguments>();
  CLI::App* command = app.add_subcommand("replay", "Repeat a recorded run, and compare its commands");
  command
      ->add_option("recording", arguments->recordings,
                   "A file that takt run --record wrote; of a rotated recording, its first file or several")
      ->required();
  command->add_option("--robot", arguments->robot_file,
                      "Another description of the same joints, for example with other gains");
  command->add_option("--controller", arguments->libraries,
                      "A plug-in with controllers; without '/', it is searched in the folders");
  command->add_option("--folder", arguments->folders, "Folder of plug-ins");
  CLI::Option* record = command->add_option("--record", arguments->record, "Record the replay to this file");
  command->add_option("--variable", arguments->variables, "Record this interface or out-port too")
      ->needs(record);
  command->add_flag("--overwrite", arguments->overwrite, "Let --record replace an existing file")
      ->needs(record);
  CLI::Option* speed = command
                           ->add_option("--speed", arguments->speed,
                                        "Recorded seconds per second; by default as fast as possible")
                           ->check(CLI::Range(0.0, 1e6));
  command->add_flag("--step", arguments->step, "Show the joints between cycles, and wait for Enter")
      ->excludes(speed);
  command->footer(
      "The devices give what was read, at the recorded times, and requests come in the recorded cycles. The "
      "readings do\n"
      "not react to other commands: a difference is true in its first cycle, and a hint after that. A robot "
      "file with\n"
      "\"devices\": \"recorded:day.mcap\" does the same with takt run, at the recorded speed.\n"
      "Exit code: 0 all commands are the recorded ones, 1 one differs, 2 the recording or the robot is "
      "wrong.\n"
      "Examples:\n"
      "  takt run examples/robots/arm6.json --virtual-time --requests day.jsonl --record day.mcap\n"
      "  takt replay day.mcap\n"
      "  takt replay day.mcap --robot arm6_stiffer.json --record new.mcap");
  command->callback([arguments] {
    const int code = run_replay(*arguments);
    if (code != exit_ok) throw CLI::RuntimeError(code);
  });
}

}  // namespace takt::tools
