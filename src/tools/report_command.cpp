// takt report: turns a recording into tables, a summary and plots.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "takt/record/error.hpp"
#include "tools/commands.hpp"
#include "tools/report.hpp"

namespace takt::tools {
namespace {

struct Arguments {
  std::vector<std::string> recordings;
  std::string topic;
  std::string directory;
  std::string bode_joint;
  std::string against;
};

void run(const Arguments& arguments) {
  ReportOptions options{.library = bundled_plots, .bode_joint = arguments.bode_joint};
  if (!arguments.against.empty()) options.against = RecordingPlace(arguments.against, arguments.topic);
  const auto outcome =
      make_report(RecordingPlace(arguments.recordings, arguments.topic), arguments.directory, options);
  if (!outcome) {
    fmt::print(stderr, "takt report: {}\n", outcome.error().message);
    const bool ours = outcome.error().error == record::Errc::write_failed;
    throw CLI::RuntimeError(ours ? exit_failed : exit_bad_input);
  }
  fmt::print("{}: {}\n{}/index.html\n", arguments.recordings.front(), outcome->sentence, arguments.directory);
  if (!outcome->no_plots.empty()) {
    fmt::print(stderr, "takt report: {}\n", outcome->no_plots);
    throw CLI::RuntimeError(exit_failed);
  }
}

}  // namespace

void add_report(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("report", "Turn a recording into CSV, summary.json, plots and one HTML page");
  command
      ->add_option("recording", arguments->recordings,
                   "A file that takt run --record wrote, and those that continue it; another MCAP file, or a "
                   "ROS 1 bag")
      ->required();
  command->add_option("--out", arguments->directory, "Folder for the report; created if it does not exist")
      ->required();
  command->add_option("--topic", arguments->topic,
                      "Of another program's file: the topic with joint states; by default the first");
  command->add_option("--bode", arguments->bode_joint,
                      "Joint whose Bode plot is drawn: its measured position per reference, by frequency");
  command->add_option("--against", arguments->against,
                      "Another recording to compare with: its curves stand beside those of the first");
  command->footer(
      "Writes joints.csv, events.csv, buses.csv, summary.json, index.html (which needs no other file) and, "
      "in plots/,\n"
      "each figure as SVG and PDF beside the gnuplot script that drew it. Damage in the recording is "
      "reported with its byte.\n"
      "Of a rotated recording (--rotate-mb, --rotate-after), the first file is enough: the files that "
      "continue it are read\n"
      "with it. Several files are read in the order of their times, without any other one. A missing file is "
      "named.\n"
      "Files of other programs are read if they have joint states: sensor_msgs/msg/JointState of ROS 2 or "
      "ROS 1,\n"
      "or JSON with \"name\", \"position\", \"velocity\" and \"effort\".\n"
      "For --bode, the joint must have moved at many frequencies, as by the controller SineSweepController; "
      "bode.csv\n"
      "has its numbers.\n"
      "In the page, plots zoom and pan together and rows of tables move them, if takt was built with npm's "
      "uplot.\n"
      "The pictures need gnuplot; without it everything else is written and the exit code is 1.");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace takt::tools
