// The work of `takt dbc2hpp`, apart from its command line: takt's own build needs it before there is a program takt.
#pragma once

#include <string>

#include "takt/dbc/header.hpp"
#include "tools/exit_code.hpp"

namespace takt::tools {

struct HeaderFile {
  std::string dbc;     ///< the file to read
  std::string output;  ///< the header to write; empty: standard output
  dbc::HeaderOptions header{};
  bool partial = false;  ///< succeed although messages or signals of the file are not in the header
};

/// Makes the header. What went wrong, and what is not in it, is said on standard error.
[[nodiscard]] ExitCode make_header_file(const HeaderFile& wanted);

}  // namespace takt::tools
