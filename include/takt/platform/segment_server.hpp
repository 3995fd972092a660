// Hands a sealed segment to other processes of this machine over a UNIX socket. A permitted client gets the
// segment's descriptor. The kernel tells each side the other's user (SO_PEERCRED), so neither can lie about
// it.
//
//     SegmentServer server;
//     const auto opened = server.open("/run/takt/motion", segment);         // the process that made it
//     auto segment = receive_segment("/run/takt/motion", 1s);               // the others
//
// A path that starts with '@' is an abstract name without a file. It leaves nothing behind, but any user can
// connect and is then rejected. A file gets mode 0600 if only this user may connect. open() replaces the file
// of a dead server.
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

/// Who may get the segment, and limits for clients.
struct SegmentServerOptions {
  std::vector<std::uint32_t> users;     ///< other users (ids) that may read and write
  std::vector<std::uint32_t> watchers;  ///< users (ids) that may only read; they can block free owner slots
  std::size_t max_clients = 16;         ///< at a time; others wait
  Duration client_deadline = std::chrono::seconds(1);  ///< from the connection to the complete request
  /// How long open() waits for other servers that start in the same folder.
  Duration lock_patience = std::chrono::seconds(1);
};

/// Serves in its own thread, which handles no signals, so it never delays users of the segment. A child of
/// fork() does not serve. The parent does, and after its death another process can.
class SegmentServer {
 public:
  SegmentServer();
  ~SegmentServer();
  SegmentServer(const SegmentServer&) = delete;
  SegmentServer& operator=(const SegmentServer&) = delete;

  /// Starts to serve. Keeps the segment's memory alive, but not its owner slots. Errors: not_sealed;
  /// listen_failed with the reason, for example that another server is running or the path is too long.
  [[nodiscard]] SetupResult<void> open(const std::string& path, const Segment& segment,
                                       const SegmentServerOptions& options = {});

  /// Stops serving and removes the path. Processes that have the segment keep it.
  void close() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Gets a segment from its server. Waits up to `timeout` for the server, and, if it appeared late, up to 100
/// ms longer for its answer. The member `owner` of `options` is the required user of the server. Empty: this
/// user or root. Errors: connect_failed, wrong_owner, not_allowed, receive_failed, and as Segment::attach().
[[nodiscard]] SetupResult<Segment> receive_segment(const std::string& path, Duration timeout,
                                                   const SegmentOptions& options = {});

}  // namespace takt::platform
