// takt import: makes a robot file of a URDF file, and says what it could not take over.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "tools/commands.hpp"

#ifdef TAKT_WITH_URDF
#include <set>

#include "takt/drives/registry.hpp"
#include "takt/robot/urdf.hpp"
#include "tools/number_checks.hpp"
#endif

namespace takt::tools {
namespace {

[[noreturn]] void refuse(ExitCode code, std::string_view why) {
  fmt::print(stderr, "takt import: {}\n", why);
  throw CLI::RuntimeError(code);
}

#ifdef TAKT_WITH_URDF

struct ImportArguments {
  std::string urdf;
  std::string output;  ///< empty: standard output
  bool overwrite = false;
  std::string protocol = "servo";
  robot::UrdfOptions options;
};

std::set<std::string> protocol_names() {
  std::set<std::string> names;
  for (const robot::DriveProtocol* protocol : drives::all()) names.emplace(protocol->name());
  return names;
}

void write(const ImportArguments& arguments, const std::string& text) {
  if (arguments.output.empty()) {
    fmt::print("{}", text);
    return;
  }
  std::ofstream file(arguments.output, std::ios::binary);
  file << text;
  file.close();
  if (!file) refuse(exit_failed, arguments.output + " cannot be written");
}

void import_robot(const ImportArguments& arguments) {
  std::error_code unknown;
  if (!arguments.overwrite && !arguments.output.empty() && std::filesystem::exists(arguments.output, unknown))
    refuse(exit_failed, arguments.output + " exists: name another file, or say --overwrite to replace it");
  robot::UrdfOptions options = arguments.options;
  options.protocol = drives::find(arguments.protocol);
  const auto imported = robot::import_urdf_file(arguments.urdf, options);
  const std::vector<robot::UrdfNote>& notes = imported ? imported->notes : imported.error().notes;
  for (const robot::UrdfNote& note : notes)
    fmt::print(stderr, "{}: {}\n", arguments.urdf, robot::to_string(note));
  if (!imported) {
    for (const robot::Mistake& mistake : imported.error().mistakes)
      fmt::print(stderr, "{}: {}\n", arguments.urdf, robot::to_string(mistake));
    throw CLI::RuntimeError(exit_bad_input);
  }
  write(arguments, to_json(imported->robot));
  const robot::RobotDescription& made = imported->robot;
  fmt::print(stderr, "{}: {} joints, {} mimic joints, {} transmissions; {} notes\n", made.name,
             made.joints.size(), made.mimics.size(), made.transmissions.size(), notes.size());
}

void add_options(CLI::App& command, const std::shared_ptr<ImportArguments>& arguments) {
  robot::UrdfOptions& options = arguments->options;
  command.add_option("urdf", arguments->urdf, "The URDF file, with all macros expanded")->required();
  command.add_option("-o,--out", arguments->output,
                     "The robot file to write; without it, it goes to standard output");
  command.add_flag("--overwrite", arguments->overwrite, "The robot file may replace an existing file");
  command.add_option("--protocol", arguments->protocol, "Drive protocol of all joints")
      ->check(CLI::IsMember(protocol_names()))
      ->capture_default_str();
  command.add_option("--rate", options.rate, "Hz: rate of the control loop")
      ->check(number_between(1, 10'000, "number from 1 to 10000"))
      ->capture_default_str();
  command
      .add_option("--acceleration-time", options.acceleration_time,
                  "s: acceleration limit = velocity limit / this")
      ->check(positive_number())
      ->capture_default_str();
  command.add_option("--jerk-time", options.jerk_time, "s: jerk limit = acceleration limit / this")
      ->check(positive_number())
      ->capture_default_str();
  command.add_option("--velocity", options.velocity, "rad/s or m/s: limit of joints that have none")
      ->check(positive_number())
      ->capture_default_str();
  command.add_option("--counts-per-radian", options.counts_per_radian, "Resolution of all encoders")
      ->check(positive_number())
      ->capture_default_str();
  command.add_option("--counts-per-metre", options.counts_per_metre, "The same of linear joints")
      ->check(positive_number())
      ->capture_default_str();
  command.footer(
      "Notes on standard error name all that the robot file has instead, or does not have. The result runs "
      "in "
      "simulation at once.\n"
      "Exit code: 0 the file is written, 1 it cannot be written, 2 the URDF file is wrong.\n"
      "Example:\n"
      "  takt import arm.urdf --out arm.json && takt run ./arm.json");
  command.callback([arguments] { import_robot(*arguments); });
}

#else

void add_options(CLI::App& command) {
  command.allow_extras();
  command.footer("This program was built without urdfdom (Debian: liburdfdom-dev, libtinyxml2-dev).");
  command.callback([] {
    refuse(exit_failed,
           "this program was built without urdfdom; install liburdfdom-dev and libtinyxml2-dev, build again");
  });
}

#endif

}  // namespace

void add_import(CLI::App& app) {
  CLI::App* command = app.add_subcommand("import", "Turn a URDF file into a robot file");
#ifdef TAKT_WITH_URDF
  add_options(*command, std::make_shared<ImportArguments>());
#else
  add_options(*command);
#endif
}

}  // namespace takt::tools
