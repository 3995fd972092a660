// takt send: requests a motion from a file, and shows its progress.
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "json/strict.hpp"
#include "tools/commands.hpp"
#include "tools/motion_command.hpp"
#include "tools/number_checks.hpp"

namespace takt::tools {
namespace {

struct SendOptions {
  std::string file;
  MotionOptions motion;
  bool stop_at_end = false;
  std::optional<double> start;
};

constexpr std::size_t longest_file = std::size_t{4} << 20;  // the server's limit of one message

[[noreturn]] void refuse_file(const std::string& path, std::string_view why) {
  fmt::print(stderr, "takt: {}: {}\n", path, why);
  throw CLI::RuntimeError(exit_bad_input);
}

/// Reads the file's message; options of the command line override its values.
motion::ClientMessage read_message_or_exit(const SendOptions& options) {
  const auto text = json::read_file(options.file, longest_file);
  if (!text) refuse_file(options.file, text.error().reason);
  auto message = motion::parse_motion_file(*text);
  if (!message) refuse_file(options.file, to_text(message.error().why));
  if (auto* trajectory = std::get_if<motion::TrajectoryMessage>(&message->body)) {
    options.motion.apply(*trajectory);
    if (options.stop_at_end) trajectory->at_end = motion::AtEnd::stop;
    if (options.start) trajectory->start = options.start;
  } else if (auto* move = std::get_if<motion::MoveMessage>(&message->body);
             move != nullptr && !options.start) {
    options.motion.apply(*move);
  } else {
    refuse_file(options.file, options.start ? "holds no trajectory, and only a trajectory has a start"
                                            : "holds neither a trajectory nor a move");
  }
  return *message;
}

}  // namespace

void add_send(CLI::App& app) {
  auto* command =
      app.add_subcommand("send", "Send a trajectory or a move to a running robot and wait for its end");
  const auto options = std::make_shared<SendOptions>();
  command
      ->add_option("file", options->file,
                   "JSON: a trajectory as trajectory_msgs/JointTrajectory spells it, or a request")
      ->required()
      ->type_name("FILE");
  command->add_flag("--stop-at-end", options->stop_at_end,
                    "Bring a trajectory that ends in motion to a bounded stop");
  command
      ->add_option(
          "--start", options->start,
          "Begin a trajectory at this time on the loop's clock, in seconds; `takt state` shows that time")
      ->check(positive_number());
  options->motion.add_options(*command);
  command->footer(
      std::string("Examples, with `takt run examples/robots/arm6.json` in another terminal. The first starts "
                  "from any\n"
                  "position of the arm; the second, from a planner, starts where the first ends:\n"
                  "  takt send examples/data/arm6_wave.json\n"
                  "  takt send examples/data/ur_arm_planned.json --stop-at-end\n") +
      motion_footer + ", unless the file says \"on_disconnect\": \"continue\".");
  command->callback([options] { move_or_exit(options->motion, read_message_or_exit(*options)); });
}

}  // namespace takt::tools
