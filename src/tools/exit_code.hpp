// The exit codes of takt's programs.
#pragma once

namespace takt::tools {

/// Exit codes that all sub-commands share.
enum ExitCode : int {
  exit_ok = 0,
  exit_failed = 1,     ///< the command was valid, but did not succeed
  exit_bad_input = 2,  ///< a file or an argument is wrong; the mistakes were listed
};

}  // namespace takt::tools
