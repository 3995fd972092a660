// takt state: prints the state of a running robot once, as a table or as the JSON of the protocol.
#include <fmt/format.h>
#include <memory>

#include "tools/commands.hpp"
#include "tools/connection.hpp"
#include "tools/state_table.hpp"

namespace takt::tools {

void add_state(CLI::App& app) {
  struct Options {
    Address address;
    bool json = false;
    bool limits = false;
  };
  auto* command = app.add_subcommand("state", "Show what a running robot is doing");
  const auto options = std::make_shared<Options>();
  CLI::Option* json =
      command->add_flag("--json", options->json, "One line of JSON, as the protocol sends it");
  command->add_flag("--limits", options->limits, "Also the limits of the joints")->excludes(json);
  options->address.add_options(*command);
  command->footer(
      "Units: s, rad, rad/s; for linear joints m, m/s. So are those of --json, and of joints.csv of `takt "
      "report`, whose\n"
      "plots and tables show degrees and millimetres.\n"
      "Example:\n  takt state --json | python3 -m json.tool");
  command->callback([options] {
    motion::GreetingReply greeting;
    MotionClient client = connect_or_exit(options->address, &greeting);
    auto state = client.state(answer_time);
    if (!state) exit_with(state.error());
    state->id.clear();
    fmt::print("{}", options->json ? motion::to_line(*state) : state_table(*state, greeting.robot));
    if (options->limits) fmt::print("{}", limits_table(greeting));
  });
}

}  // namespace takt::tools
