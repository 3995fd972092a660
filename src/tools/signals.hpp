// How a program waits for the signals that end it.
#pragma once

#include <csignal>

namespace takt::tools {

/// Blocks the signals that end the process, in this thread and all that it starts. One thread can then wait
/// for them, and stop the motion before the program ends. They include SIGHUP (the terminal is gone) and
/// SIGQUIT (^\). A program that was started to ignore the terminal, as by nohup, still ignores it.
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
