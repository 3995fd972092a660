#include "tools/header_file.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace takt::tools {
namespace {

ExitCode refuse(std::string_view why, ExitCode code) {
  fmt::print(stderr, "takt dbc2hpp: {}\n", why);
  return code;
}

bool write_header(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) std::remove(path.c_str());  // half a header may compile
  return !file.fail();
}

}  // namespace

ExitCode make_header_file(const HeaderFile& wanted) {
  const auto dbc = dbc::Database::load(wanted.dbc);
  if (!dbc) return refuse(dbc.error().message, exit_bad_input);
  dbc::HeaderOptions options = wanted.header;
  options.source = std::filesystem::path(wanted.dbc).filename().string();
  const auto header = make_header(*dbc, options);
  if (!header) return refuse(fmt::format("{}: {}", wanted.dbc, header.error().message), exit_bad_input);

  for (const dbc::Warning& warning : dbc->warnings()) {
    fmt::print(stderr, "{}: {}\n", wanted.dbc, to_string(warning));
  }
  for (const std::string& warning : header->warnings) fmt::print(stderr, "{}: {}\n", wanted.dbc, warning);
  if (wanted.output.empty()) {
    fmt::print("{}", header->text);
  } else if (!write_header(wanted.output, header->text)) {
    return refuse(fmt::format("{} cannot be written", wanted.output), exit_failed);
  }
  const std::size_t left_out = dbc->left_out() + header->left_out;
  if (left_out == 0 || wanted.partial) return exit_ok;
  return refuse(fmt::format("{} messages or signals of {} are not in the header, for the reasons above; "
                            "correct the file, or accept this with --partial",
                            left_out, wanted.dbc),
                exit_failed);
}

}  // namespace takt::tools
