// The work of `takt dbc2hpp`, without its command line: takt's own build needs it before the program takt
// exists.
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

/// Makes the header. Prints errors, and what is not in the header, on standard error.
[[nodiscard]] ExitCode make_header_file(const HeaderFile& wanted);

}  // namespace takt::tools
