// takt dbc2hpp: a C++ header of typed messages out of a DBC file.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include "takt/can/dbc_header.hpp"
#include "tools/commands.hpp"

namespace takt::tools {
namespace {

struct Dbc2hpp {
  std::string file;
  std::string output;
  can::dbc::HeaderOptions header;
  bool partial = false;
};

[[noreturn]] void refuse_dbc(const std::string& why, ExitCode code) {
  fmt::print(stderr, "takt dbc2hpp: {}\n", why);
  throw CLI::RuntimeError(code);
}

void write_header(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    std::remove(path.c_str());  // half a header may compile
    refuse_dbc(fmt::format("{} cannot be written", path), exit_failed);
  }
}

void make_header_file(const Dbc2hpp& arguments) {
  const auto dbc = can::Dbc::load(arguments.file);
  if (!dbc) refuse_dbc(dbc.error().message, exit_bad_input);
  can::dbc::HeaderOptions options = arguments.header;
  options.source = std::filesystem::path(arguments.file).filename().string();
  const auto header = make_header(*dbc, options);
  if (!header) refuse_dbc(fmt::format("{}: {}", arguments.file, header.error().message), exit_bad_input);

  for (const can::dbc::Warning& warning : dbc->warnings()) {
    fmt::print(stderr, "{}: {}\n", arguments.file, to_string(warning));
  }
  for (const std::string& warning : header->warnings) fmt::print(stderr, "{}: {}\n", arguments.file, warning);
  if (arguments.output.empty()) {
    fmt::print("{}", header->text);
  } else {
    write_header(arguments.output, header->text);
  }
  if (const std::size_t left_out = dbc->left_out() + header->left_out; left_out != 0 && !arguments.partial)
    refuse_dbc(
        fmt::format("{} messages or signals of {} are not in the header, for the reasons above; mend the "
                    "file, or accept that with --partial",
                    left_out, arguments.file),
        exit_failed);
}

}  // namespace

void add_dbc2hpp(CLI::App& app) {
  auto arguments = std::make_shared<Dbc2hpp>();
  CLI::App* command = app.add_subcommand("dbc2hpp", "Turn a DBC file into a C++ header of typed messages");
  command->add_option("file", arguments->file, "The DBC file")->required();
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
  command->callback([arguments] { make_header_file(*arguments); });
}

}  // namespace takt::tools
