// takt move: moves one joint of a running robot to a position.
#include <memory>
#include <optional>
#include <string>

#include "tools/commands.hpp"
#include "tools/motion_command.hpp"
#include "tools/number_checks.hpp"

namespace takt::tools {

void add_move(CLI::App& app) {
  struct Options {
    std::string joint;
    double position = 0;
    std::optional<double> duration;
    MotionOptions motion;
  };
  auto* command =
      app.add_subcommand("move", "Move a joint of a running robot to a position, and wait until it is there");
  const auto options = std::make_shared<Options>();
  command->add_option("joint", options->joint, "The joint's name, as `takt state` shows it")->required();
  command->add_option("position", options->position, "Target position, rad (m for a linear joint)")
      ->required()
      ->check(finite_number());
  command
      ->add_option("--duration", options->duration,
                   "Duration in seconds; without it, as fast as the limits allow")
      ->check(positive_number());
  options->motion.add_options(*command);
  command->footer(std::string("Examples, with `takt run examples/robots/arm6.json` in another terminal:\n"
                              "  takt move elbow_joint 1.2\n"
                              "  takt move wrist_1_joint -1.9 --duration 2\n") +
                  motion_footer + ".");
  command->callback([options] {
    motion::MoveMessage message;
    message.joints.names = {options->joint};
    message.positions = {options->position};
    message.duration = options->duration;
    options->motion.apply(message);
    move_or_exit(options->motion, {"", std::move(message)});
  });
}

}  // namespace takt::tools
