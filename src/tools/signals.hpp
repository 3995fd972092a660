// How a program waits for the signals that end it.
#pragma once

#include <csignal>

namespace takt::tools {

/// Blocks the signals that end the process, in this thread and all that it starts, so that one thread can wait for them.
inline sigset_t block_ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

}  // namespace takt::tools
