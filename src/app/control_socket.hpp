// A UNIX socket for commands to a running system: a line of text, and a line of JSON as the answer. Only this
// user may connect. A thread serves one client after the other.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"

namespace takt::app {

/// Serves commands until its end.
class ControlSocket {
 public:
  using Answer = std::function<std::string(std::string_view line)>;

  /// Listens at the path, whose former file must have no listener. `answer` runs in the socket's thread.
  /// Errors: platform's listen_failed.
  [[nodiscard]] static SetupResult<std::unique_ptr<ControlSocket>> open(const std::string& path,
                                                                        Answer answer);
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

 private:
  struct Impl;
  explicit ControlSocket(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// Sends one line and returns the answer's line. Errors: platform's connect_failed, receive_failed.
[[nodiscard]] SetupResult<std::string> ask(const std::string& path, std::string_view line, Duration timeout);

/// The socket of a system, or of one of its processes: in $XDG_RUNTIME_DIR, otherwise in /tmp with the user's
/// number.
[[nodiscard]] std::string control_path(std::string_view system, std::string_view process = {});

}  // namespace takt::app
