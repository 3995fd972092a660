// The loop's side of `takt run --serve-at`: gives the loop to one motion server after another, each with
// memory of its own.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "takt/app/report_line.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/motion/channels.hpp"
#include "takt/motion/link.hpp"
#include "takt/motion/request_gateway.hpp"
#include "takt/platform/doorbell.hpp"
#include "takt/platform/segment.hpp"
#include "takt/platform/segment_server.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/robot/description.hpp"
#include "takt/rt/thread_setup.hpp"
#include "takt/shm/spsc_ring.hpp"

namespace takt::app {

/// The name of a segment with a loop's link, for people, and of the link in it.
inline constexpr const char* loop_segment = "takt-loop";
inline constexpr const char* link_exchange = "link";

/// The memory that the two processes share.
struct SharedLoop {
  motion::Link link;
  platform::Doorbell bell;              ///< rung by the server when it has put requests into the link
  std::array<char, 2048> interfaces{};  ///< of the loop's buses, a zero after each; see write_interfaces()
};

/// Writes the interfaces of the loop's buses, in the order of the description. Call it before the memory is
/// handed out. The first text without room is left out, and so are all after it.
void write_interfaces(SharedLoop& shared, const robot::RobotDescription& robot) noexcept;
/// Reads them, one text for each bus or fewer. Any bytes are safe, because another process wrote them.
/// Characters that are not printable ASCII become question marks.
[[nodiscard]] std::vector<std::string> read_interfaces(const SharedLoop& shared);

class LoopHost {
 public:
  /// Serves at `path`, a UNIX socket, after open(). Its thread is set up by `thread`, as far as that is
  /// granted. The other arguments must outlive it, and the loop must have ended before its destruction.
  LoopHost(const robot::RobotDescription& robot, motion::Channels& channels, motion::GatewayOptions options,
           rt::ThreadConfig thread, std::string path)
      : robot_(&robot),
        gateway_(robot, channels, std::move(options)),
        thread_config_(std::move(thread)),
        path_(std::move(path)) {}
  ~LoopHost() { stop(); }
  LoopHost(const LoopHost&) = delete;
  LoopHost& operator=(const LoopHost&) = delete;

  /// Waits for the first server, and starts the thread.
  [[nodiscard]] SetupResult<void> open();
  /// Call it after the loop's end: sends the remaining events to the server, and detaches it.
  void stop();
  /// What happened to servers, oldest first. For one thread that may allocate; the own thread may not.
  [[nodiscard]] std::optional<ReportLine> next_report();

 private:
  /// The memory of one server, from before it attaches until it is gone.
  struct Session {
    Session(platform::Segment made, platform::Doorbell& its_bell)
        : segment(std::move(made)), bell(&its_bell) {}
    platform::Segment segment;
    platform::SegmentServer server;
    platform::Doorbell* bell;
  };

  /// A line to be printed.
  struct News {
    bool is_failure = false;
    std::uint8_t length = 0;
    std::array<char, 254> text{};
  };

  [[nodiscard]] SetupResult<void> begin_session(const platform::SegmentServerOptions& options);
  void run();
  void wait_until(Time deadline);
  void watch_server(Time now);
  void say(std::string_view text, bool is_failure = false);
  [[nodiscard]] bool server_is_gone(Time now) const;

  const robot::RobotDescription* robot_;
  motion::RequestGateway gateway_;
  rt::ThreadConfig thread_config_;
  std::string path_;
  platform::SteadyClock clock_;
  std::unique_ptr<Session> session_;
  Time next_look_{};
  bool has_reported_ = false;  ///< that a server attached
  shm::SpscRing<News> news_{16};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace takt::app
