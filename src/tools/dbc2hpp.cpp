// takt dbc2hpp: makes a C++ header of typed messages from a DBC file.
#include <memory>

#include "tools/commands.hpp"
#include "tools/header_file.hpp"

namespace takt::tools {

void add_dbc2hpp(CLI::App& app) {
  auto arguments = std::make_shared<HeaderFile>();
  CLI::App* command = app.add_subcommand("dbc2hpp", "Turn a DBC file into a C++ header of typed messages");
  command->add_option("file", arguments->dbc, "The DBC file")->required();
  command->add_option("-o,--output", arguments->output,
                      "The header file; without it, the header goes to standard output");
  command->add_option("--namespace", arguments->header.name_space,
                      "Namespace, such as robot::drive; robot:: appends the file's name. Without it, "
                      "drive.dbc gives drive_dbc");
  command->add_option("--node", arguments->header.node, "Only messages that this node sends or receives");
  command->add_flag("--partial", arguments->partial,
                    "Succeed even if messages or signals of the file are left out of the header");
  command->footer(
      "Parts of the file that are wrong, or that a header cannot hold, are named on standard error and left "
      "out.\n"
      "The header is still written, but without --partial the exit code is then 1.\n"
      "CMake: find_package(takt), then takt_add_dbc(TARGET program FILES drive.dbc) makes drive.hpp for it.\n"
      "Example:\n"
      "  takt dbc2hpp drive.dbc -o drive.hpp --namespace robot::drive");
  command->callback([arguments] {
    if (const ExitCode code = make_header_file(*arguments); code != exit_ok) throw CLI::RuntimeError(code);
  });
}

}  // namespace takt::tools
