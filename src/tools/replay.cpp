// takt replay: repeats a recorded run, and tells the first command that differs.
#include "takt/app/replay.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "takt/drives/registry.hpp"
#include "takt/robot/description_json.hpp"
#include "tools/commands.hpp"
#include "tools/open_recording.hpp"

namespace takt::tools {
namespace {

struct ReplayArguments {
  std::string recording;
  std::string robot_file;
  std::vector<std::string> libraries;
  std::vector<std::string> folders;
  std::string record;
  bool overwrite = false;
  double speed = 0;
};

int replay_fails(const SetupError& error) {
  fmt::print(stderr, "takt replay: {}\n", error.message);
  return exit_bad_input;
}

int complain(const std::string& file, const std::vector<robot::Mistake>& mistakes) {
  for (const robot::Mistake& mistake : mistakes)
    fmt::print(stderr, "{}: {}\n", file, robot::to_string(mistake));
  return exit_bad_input;
}

int run_replay(const ReplayArguments& arguments) {
  app::ReplayOptions options;
  options.speed = arguments.speed;
  options.options.libraries = arguments.libraries;
  options.options.folders = arguments.folders;
  options.options.recording = arguments.record;
  options.options.overwrite = arguments.overwrite;
  options.options.recorder.compression = recording_compression();
  if (!arguments.robot_file.empty()) {
    auto robot = drives::load_robot_file(arguments.robot_file);
    if (!robot) return complain(arguments.robot_file, robot.error());
    options.robot = std::move(*robot);
  }
  auto recording = open_recording(arguments.recording);
  if (!recording) return replay_fails(recording.error());
  const auto result = app::replay(*recording, std::move(options));
  if (!result) return replay_fails(result.error());
  if (result->recorded)
    fmt::print("recorded {} records in {}\n", result->recorded->records, arguments.record);
  if (recording->truncated()) fmt::print("the recording was cut off\n");
  if (result->left_out > 0)
    fmt::print("{} requests were left out: the limits of this robot forbid them\n", result->left_out);
  if (!result->ended_early.empty()) fmt::print("the replay ended early: {}\n", result->ended_early);
  if (!result->difference) {
    fmt::print("{} cycles, all commands as recorded, bit for bit\n", result->cycles);
    return exit_ok;
  }
  fmt::print("{} of {} cycles differ; the first: {}\n", result->differing, result->cycles,
             result->difference->text());
  return exit_failed;
}

}  // namespace

void add_replay(CLI::App& app) {
  auto arguments = std::make_shared<ReplayArguments>();
  CLI::App* command = app.add_subcommand("replay", "Repeat a recorded run, and compare its commands");
  command->add_option("recording", arguments->recording, "A file that takt run --record wrote")->required();
  command->add_option("--robot", arguments->robot_file,
                      "Another description of the same joints, for example with other gains");
  command->add_option("--controller", arguments->libraries,
                      "A plug-in with controllers; without '/', it is searched in the folders");
  command->add_option("--folder", arguments->folders, "Folder of plug-ins");
  CLI::Option* record = command->add_option("--record", arguments->record, "Record the replay to this file");
  command->add_flag("--overwrite", arguments->overwrite, "Let --record replace an existing file")
      ->needs(record);
  command
      ->add_option("--speed", arguments->speed, "Recorded seconds per second; by default as fast as possible")
      ->check(CLI::Range(0.0, 1e6));
  command->footer(
      "The devices give what was read, at the recorded times, and requests come in the recorded cycles. The "
      "readings do\n"
      "not react to other commands: a difference is true in its first cycle, and a hint after that. Requests "
      "to\n"
      "controllers (takt ctl) are not in a recording.\n"
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
