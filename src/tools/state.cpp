// takt state: what a running robot is doing, once, as a table or as the JSON of the wire.
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
  };
  auto* command = app.add_subcommand("state", "Show what a running robot is doing");
  const auto options = std::make_shared<Options>();
  command->add_flag("--json", options->json, "One line of JSON, as the protocol sends it");
  options->address.add_options(*command);
  command->footer("Example:\n  takt state --json | python3 -m json.tool");
  command->callback([options] {
    MotionClient client = connect_or_exit(options->address);
    auto state = client.state(answer_time);
    if (!state) exit_with(state.error());
    state->id.clear();
    fmt::print("{}", options->json ? motion::to_line(*state) : state_table(*state));
  });
}

}  // namespace takt::tools
