// The alive messages of a process to its launcher: from time to time its status, as a line of JSON. The
// sender never waits. A launcher that hears nothing for too long says so.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "takt/core/time.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace takt::tools {

/// Longer messages are not sent.
inline constexpr std::size_t max_alive_bytes = 4096;

/// The process's end: a descriptor that it inherited, and owns. -1: nobody listens.
class AliveSender {
 public:
  explicit AliveSender(int descriptor) noexcept : descriptor_(descriptor) {}
  ~AliveSender() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  AliveSender(const AliveSender&) = delete;
  AliveSender& operator=(const AliveSender&) = delete;

  /// Whether a period has passed since the last message.
  [[nodiscard]] bool is_due(Time now, Duration period) noexcept {
    if (descriptor_ < 0 || now < next_) return false;
    next_ = now + period;
    return true;
  }
  /// A message that finds no room is lost.
  void send(std::string_view message) const noexcept {
    if (message.size() > max_alive_bytes) return;
    static_cast<void>(::send(descriptor_, message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
  }

 private:
  int descriptor_;
  Time next_ = Time::min();
};

/// The launcher's end.
class AliveReceiver {
 public:
  AliveReceiver() = default;
  ~AliveReceiver() { close(); }
  AliveReceiver(AliveReceiver&& other) noexcept { *this = std::move(other); }
  AliveReceiver& operator=(AliveReceiver&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(message_, other.message_);
    std::swap(silence_, other.silence_);
    std::swap(last_look_, other.last_look_);
    return *this;
  }

  /// Begins anew. Returns the descriptor for the process, which the caller closes; -1: there is none.
  [[nodiscard]] int open() {
    close();
    *this = AliveReceiver();
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return -1;
    descriptor_ = ends[0];
    return ends[1];
  }
  void close() noexcept {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

  /// Takes the messages that have come. Returns whether there was one.
  bool look(Time now) {
    // Time in which this program did not look, as in a paused machine, is not the process's silence.
    constexpr Duration longest = std::chrono::milliseconds(200);
    if (last_look_) silence_ += std::min(now - *last_look_, longest);
    last_look_ = now;
    bool came = false;
    std::array<char, max_alive_bytes> buffer{};
    for (ssize_t size = 0; (size = ::recv(descriptor_, buffer.data(), buffer.size(), MSG_DONTWAIT)) > 0;) {
      message_.assign(buffer.data(), static_cast<std::size_t>(size));
      came = true;
    }
    if (came) silence_ = {};
    return came;
  }

  /// The newest message; empty: none yet.
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  /// Time since then, or since open().
  [[nodiscard]] Duration silence() const noexcept { return silence_; }

 private:
  int descriptor_ = -1;
  std::string message_;
  Duration silence_{};
  std::optional<Time> last_look_;
};

}  // namespace takt::tools
