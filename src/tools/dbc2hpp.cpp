// takt dbc2hpp: makes a C++ header of typed messages from a DBC file.
#include <memory>

#include "tools/commands.hpp"
#include "tools/header_file.hpp"

namespace takt::tools {

void add_dbc2hpp(CLI::App& app) {
  auto arguments = std::make_shared<HeaderFile>();
  CLI::App* command = app.add_subcommand("dbc2hpp", "Turn a DBC file into a C++ header of typed messages");
  command->add_option("file", arguments->dbc, "The DBC file")->required();
  command->add_option("-o,--output", arguments->output, "The header; without it, standard output");
  command->add_option("--namespace", arguments->header.name_space,
                      "Such as robot::drive, or robot:: for the file's name behind it; without it, drive.dbc "
                      "gives drive_dbc");
  command->add_option("--node", arguments->header.node, "Only messages that this node sends or receives");
  command->add_flag("--partial", arguments->partial,
                    "Succeed although messages or signals of the file are not in the header");
  command->footer(
      "What of the file makes no sense, or cannot be in a header, is named on standard error and left out. "
      "The "
      "header is\nmade all the same, but without --partial the exit code is 1.\n"
      "CMake: find_package(takt), then takt_add_dbc(TARGET program FILES drive.dbc) makes drive.hpp for it.\n"
      "Example:\n  takt dbc2hpp drive.dbc -o drive.hpp --namespace robot::drive");
  command->callback([arguments] {
    if (const ExitCode code = make_header_file(*arguments); code != exit_ok) throw CLI::RuntimeError(code);
  });
}

}  // namespace takt::tools
