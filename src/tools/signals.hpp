// How a program waits for the signals that end it.
#pragma once

#include <csignal>

namespace takt::tools {

/// Blocks the signals that end the process, in this thread and all that it starts, so that one thread can wait for them: whoever
/// moves something brings it to a stand first, also when the terminal is gone (SIGHUP) or somebody types ^\ (SIGQUIT). Who was
/// started not to mind the terminal, as by nohup, does not.
inline sigset_t block_ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGQUIT);
  struct sigaction hangup {};
  if (sigaction(SIGHUP, nullptr, &hangup) != 0 || hangup.sa_handler != SIG_IGN) sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

}  // namespace takt::tools
