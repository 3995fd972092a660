// What a program of takt returns to the shell.
#pragma once

namespace takt::tools {

/// Exit codes that all sub-commands share.
enum ExitCode : int {
  exit_ok = 0,
  exit_failed = 1,     ///< the work was understood but did not succeed
  exit_bad_input = 2,  ///< a file or an argument is wrong; the mistakes were listed
};

}  // namespace takt::tools
