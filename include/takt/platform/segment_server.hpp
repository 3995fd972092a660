// Hands a sealed segment to other processes of this machine, over a UNIX socket: who connects and may have it gets its descriptor.
// The kernel says who asks and who answers (SO_PEERCRED); nobody has to be believed.
//
//     SegmentServer server;
//     const auto opened = server.open("/run/takt/motion", segment);         // the process that made it
//     auto segment = receive_segment("/run/takt/motion", 1s);               // the others
//
// A path that begins with '@' is a name without a file ("abstract"): nothing is left behind, but anybody can connect, and is then
// refused. A file gets mode 0600 when only our own user may connect. One that a dead server left behind is replaced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/platform/segment.hpp"

namespace takt::platform {

struct SegmentServerOptions {
  std::vector<std::uint32_t> users;     ///< users, beside our own, who may read and write
  std::vector<std::uint32_t> watchers;  ///< users who may only read (and hold up seats that are free)
  std::size_t max_clients = 16;         ///< at a time; further ones wait
  Duration client_deadline = std::chrono::seconds(1);  ///< from connecting to having asked
  Duration lock_patience =
      std::chrono::seconds(1);  ///< how long open() waits for others who start in the same folder
};

/// Serves in a thread of its own, which takes no signals; whoever works with the segment is never kept waiting. A child of fork()
/// does not serve: its parent does, and when that has died somebody else can.
class SegmentServer {
 public:
  SegmentServer();
  ~SegmentServer();
  SegmentServer(const SegmentServer&) = delete;
  SegmentServer& operator=(const SegmentServer&) = delete;

  /// Begins to serve. Keeps the segment's memory alive, not its seats. Errors: listen_failed (with the reason: somebody else serves
  /// there, the path is too long, ...), not_sealed.
  [[nodiscard]] SetupResult<void> open(const std::string& path, const Segment& segment,
                                       const SegmentServerOptions& options = {});

  /// Stops serving and removes the path; who has the segment keeps it.
  void close() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Gets a segment from its server; waits up to `timeout` for one to be there, and, if it came late, up to 100 ms longer for its
/// answer. options.owner is the user that the server must run as; if not given, our own or root. Errors: connect_failed,
/// wrong_owner, not_allowed, receive_failed, and as Segment::attach().
[[nodiscard]] SetupResult<Segment> receive_segment(const std::string& path, Duration timeout,
                                                   const SegmentOptions& options = {});

}  // namespace takt::platform
