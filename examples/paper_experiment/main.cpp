// Repeats the experiment of the paper on M-Hubo's motion interface with takt, on the humanoid and on a
// 6-joint arm. Prints a table of the results. The script examples/run.sh calls it. To call it by hand, start
// `takt run examples/robots/mhubo.json --record mhubo.mcap` first:
//
//     paper_experiment mhubo --data examples/data --out mhubo.json
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "experiment.hpp"
#include "table.hpp"

namespace {

struct Options {
  std::uint16_t port = paper::motion::default_port;
  std::string data = "examples/data";
  std::string out;
  std::string directory;
  std::string section;
};

bool run_experiment(const Options& options, void (*on_robot)(paper::Experiment&, const std::string&)) {
  paper::Session session(options.port);
  paper::Experiment experiment(session, options.section);
  try {
    on_robot(experiment, options.data);
  } catch (const paper::Interruption&) {
    // finish() reports the missing section.
  }
  return experiment.finish(options.out);
}

void write_file(const std::string& path, const std::string& contents) {
  std::ofstream file(path, std::ios::binary);
  file << contents;
  if (!file.flush()) paper::give_up(path + " cannot be written");
}

bool show_table(const Options& options) {
  const paper::Findings findings = paper::gather(options.directory);
  const std::string picture = options.directory + "/picture.svg";
  write_file(options.directory + "/summary.json", findings.summary.dump(2) + "\n");
  write_file(options.directory + "/index.html",
             paper::to_html(findings, std::filesystem::exists(picture) ? paper::read_file(picture) : ""));
  fmt::print("{}", paper::to_text(findings));
  return findings.mistakes.empty();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The experiment of the paper on M-Hubo's motion interface, done with takt");
  app.require_subcommand(1);
  Options options;
  const auto add_experiment = [&](const char* name, const char* what, auto on_robot) {
    CLI::App* command = app.add_subcommand(name, what);
    command->add_option("--port", options.port, "Of `takt run` on 127.0.0.1")->capture_default_str();
    command->add_option("--data", options.data, "Folder of the example data")->capture_default_str();
    command->add_option("--out", options.out, "Where to write what came out (JSON)")->required();
    command->add_option("--section", options.section, "Only the section of this name");
    command->callback([&options, on_robot] {
      if (!run_experiment(options, on_robot)) throw CLI::RuntimeError(1);
    });
  };
  add_experiment("mhubo", "On the humanoid: `takt run examples/robots/mhubo.json`", paper::run_on_mhubo);
  add_experiment("arm6", "On the 6-joint arm: `takt run examples/robots/arm6.json`", paper::run_on_arm6);

  CLI::App* table =
      app.add_subcommand("table", "Print the table; write summary.json and index.html beside it");
  table->add_option("DIR", options.directory, "What examples/run.sh has filled")->required();
  table->callback([&options] {
    if (!show_table(options)) throw CLI::RuntimeError(1);
  });
  CLI::App* ways = app.add_subcommand(
      "ways", "Cut the three ways of commanding out of the humanoid's report, for picture.gp");
  ways->add_option("DIR", options.directory, "What examples/run.sh has filled")->required();
  ways->add_option("--out", options.out, "Where to write")->required();
  ways->callback([&options] { paper::write_ways(options.directory, options.out); });
  app.footer(
      "Exit code: 0 every request was answered and every step went as expected, 1 not so.\n"
      "A section that a pause of the machine hit is repeated from its start, three times at most.");
  CLI11_PARSE(app, argc, argv);
  return 0;
}
