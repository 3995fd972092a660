// The loop's end of a Link. It brings the requests of a motion server in another process to the loop. It
// brings events and the state of the robot to that server. It runs on a non-real-time thread of the loop's
// process. The loop does not know about it.
//
//     motion::RequestGateway gateway(robot, channels);
//     gateway.attach(*link);  // one server may come; after it ends, attach a new link
//     for (;;) wait_for(gateway.poll(clock.now()));  // or until gateway.has_requests()
//
// The gateway does not trust the server. It validates each request completely (request_message.hpp), and
// invalid bytes end the link. The robot does not depend on the server either. The server is lost when it dies
// (detach()), falls silent, or does not take its events. Then every goal comes to a bounded stop with the
// reason client_lost, and the next server can attach.
//
// Goals of different servers have different numbers in the loop. Of the 2^53 possible numbers each server may
// use max_goal, which is enough for two million servers that use all of theirs. When no numbers are left, the
// gateway refuses goals (unknown_goal) for the rest of its life.
//
// Not real-time safe: it allocates. Use it from one thread at a time. The loop must have ended before the
// gateway is destroyed, because the destructor frees the requests that the loop borrowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "takt/core/time.hpp"
#include "takt/motion/channels.hpp"
#include "takt/motion/link.hpp"
#include "takt/motion/request_message.hpp"
#include "takt/robot/description.hpp"

namespace takt::motion {

/// The settings of a RequestGateway.
struct GatewayOptions {
  Duration silence = std::chrono::seconds(1);       ///< a server that is silent for longer is lost
  std::size_t max_segments = default_max_segments;  ///< segments of one trajectory
  std::size_t max_unread = 8192;                    ///< events that may wait for a server
  /// Callbacks, as in ServerOptions: marks of the server's clients, and refusals of the server and of the
  /// gateway. Argument `now`: the time at which they arrive here.
  std::function<void(Time now, std::string_view text)> on_mark;
  std::function<void(Time now, const Refusal& why)> on_refusal;
  /// Each request, right before the loop can take it, in that order.
  std::function<void(Time now, const Request& request)> on_hand_over{};
};

/// Why a link ended.
enum class LinkEnd : std::uint8_t {
  none,           ///< it has not ended, or there was none
  detached,       ///< by detach()
  silent,         ///< the server's beat stopped
  malformed,      ///< the server wrote an invalid request, or withdrew its presence
  unread,         ///< the server did not take its events
  other_version,  ///< the server uses another layout of the link
};

/// Connects a loop's Channels to a motion server in another process.
class RequestGateway {
 public:
  /// The gateway is the only producer of `channels.requests` and the only reader of the other two channels.
  /// The robot and the channels must outlive it.
  RequestGateway(const robot::RobotDescription& robot, Channels& channels, GatewayOptions options = {});

  /// Waits for a server at the other end of `link`. The link must be new and unseen by any server, and must
  /// stay valid until detach() or the next attach(). Detaches the previous link first.
  void attach(Link& link);

  /// Ends the link: the server is gone, or has to go. All goals stop, beginning with the loop's next cycle
  /// unless its ring is full. The link's memory is not accessed any more.
  void detach();

  /// Whether a link is attached that has not ended.
  [[nodiscard]] bool attached() const noexcept { return link_ != nullptr; }

  /// Whether poll() has seen a server on the link that was attached last, even if that link has ended.
  [[nodiscard]] bool has_server() const noexcept { return has_server_; }

  /// Why the link that was attached last ended. After a link ended by itself, its memory is not accessed any
  /// more.
  [[nodiscard]] LinkEnd end() const noexcept { return end_; }

  /// Moves requests, events and the state in both directions. Returns the time until the next necessary call,
  /// which is when the loop's next cycle may have events. Call it also as soon as has_requests() is true: a
  /// waiting request adds its wait to its hand-over latency.
  Duration poll(Time now);

  /// Whether the server has written something since the last poll().
  [[nodiscard]] bool has_requests() noexcept;

 private:
  /// A request that the loop has borrowed.
  struct Owned {
    std::unique_ptr<Request> request;
    std::uint64_t number = 0;   ///< the server's; 0 = the gateway's own
    std::uint32_t session = 0;  ///< the session that it belongs to
  };

  void finish(LinkEnd end);
  [[nodiscard]] std::uint64_t layout_of_server() const noexcept;
  [[nodiscard]] bool serves() const noexcept { return link_ != nullptr && has_server_; }
  void see_server();
  void take_events();
  void forward(Event event);
  void forward_state();
  void send_events();
  bool take_requests(Time now);
  void take(TakenRequest&& taken, Time now);
  void refused(const Refusal& why, Time now) const;
  void take(const Note& note, Time now) const;
  void own(std::unique_ptr<Request> request, std::uint64_t number);
  void push_requests();
  void report();
  [[nodiscard]] Duration until_next_cycle(Time now) const;

  const robot::RobotDescription* robot_;
  Channels* channels_;
  GatewayOptions options_;
  std::uint64_t fingerprint_;

  Link* link_ = nullptr;
  LinkEnd end_ = LinkEnd::none;
  bool has_server_ = false;
  std::optional<shm::ByteConsumer> requests_;
  std::optional<shm::RingProducer<LinkEvent>> events_;
  std::optional<RequestReader> reader_;
  LinkHeartbeat heartbeat_;
  std::uint32_t beat_ = 0;
  std::uint32_t handled_ = 0;  ///< requests of this link that went into the loop's ring, or were refused
  std::uint32_t session_ = 0;
  GoalId before_ = 0;  ///< goals up to this number belong to earlier links
  GoalId latest_ = 0;  ///< the highest number of all

  Time now_{};  ///< of the last poll()
  std::unordered_map<const Request*, Owned> owned_;
  std::deque<Request*> pending_;    ///< not yet in the loop's ring
  std::deque<LinkEvent> outgoing_;  ///< not yet in the link
};

}  // namespace takt::motion
