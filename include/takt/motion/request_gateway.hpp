// The loop's end of a Link: brings the requests of a motion server in another process to the loop, and events and the state of the
// robot to the server. For a thread without deadlines in the loop's process; the loop itself knows of none of this.
//
//     motion::RequestGateway gateway(robot, channels);
//     gateway.attach(*link);                                      // a server may come; again, with a new link, after each end
//     while (...) wait_for(gateway.poll(clock.now()));            // or until gateway.has_requests()
//
// The server is not trusted: each request is read as from a stranger (request_message.hpp), and what is not one ends the link. It
// is not relied on either: when it dies (detach()), falls silent, or does not take what it is told, every goal comes to a
// bounded stop with the reason client_lost, and the next server can attach. Goals of different servers have different numbers in
// the loop, whatever each of them calls its own: a server has max_goal of 2^53 numbers, which are enough for two million that use
// all of theirs. When there are none left, the gateway refuses goals (unknown_goal) as long as it lives.
//
// Allocates. One thread at a time. The loop must have ended when a gateway is destroyed, as it frees what the loop borrowed.
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

struct GatewayOptions {
  Duration silence = std::chrono::seconds(1);       ///< a server that is silent for longer is lost
  std::size_t max_segments = default_max_segments;  ///< of one trajectory
  std::size_t max_unread = 8192;                    ///< events that may wait for a server
  /// Told, as ServerOptions' are, of the marks that the server's clients make, of what the server refuses, and of what the gateway
  /// refuses, at the time when they arrive here.
  std::function<void(Time now, std::string_view text)> on_mark;
  std::function<void(Time now, const Refusal& why)> on_refusal;
};

/// How a link ended.
enum class LinkEnd : std::uint8_t {
  none,           ///< it has not, or there never was one
  detached,       ///< by detach()
  silent,         ///< the server gave no sign of life
  malformed,      ///< the server wrote what is no request, or took back that it is there
  unread,         ///< the server did not take its events
  other_version,  ///< the server means something else by the bytes of a link
};

class RequestGateway {
 public:
  /// The gateway is the only producer of `channels.requests` and the only reader of the rest; both must outlive it.
  RequestGateway(const robot::RobotDescription& robot, Channels& channels, GatewayOptions options = {});

  /// Serves the server that comes to the other end of `link`, which was just made, nobody has seen yet, and stays valid until
  /// detach() or the next attach(). What was attached before is detached.
  void attach(Link& link);

  /// The server is gone, or is to go: all goals stop, from the loop's next cycle on unless its ring is full. The link's memory is not
  /// touched any more.
  void detach();

  [[nodiscard]] bool attached() const noexcept { return link_ != nullptr; }

  /// Whether poll() has seen that a server came to the link that was attached last, whatever became of it.
  [[nodiscard]] bool has_server() const noexcept { return has_server_; }

  /// Of the link that was attached last. A link that ended by itself stays untouched as after detach().
  [[nodiscard]] LinkEnd end() const noexcept { return end_; }

  /// Takes everything on, both ways. Wants to be called again after the time that it returns, at the latest: when the loop's next
  /// cycle has something for the server. And as soon as it has_requests(): what these wait adds to every hand-over.
  Duration poll(Time now);

  /// Whether poll() finds something that the server has said since.
  [[nodiscard]] bool has_requests() noexcept;

 private:
  /// What the loop has borrowed.
  struct Owned {
    std::unique_ptr<Request> request;
    std::uint64_t number = 0;   ///< the server's; 0 = the gateway's own
    std::uint32_t session = 0;  ///< whose it is
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
  Heartbeat heartbeat_;
  std::uint32_t beat_ = 0;
  std::uint32_t handled_ = 0;  ///< requests of this link that went into the loop's ring, or were refused
  std::uint32_t session_ = 0;
  GoalId before_ = 0;  ///< goals up to this number are those of earlier links
  GoalId latest_ = 0;  ///< the highest number of all

  std::unordered_map<const Request*, Owned> owned_;
  std::deque<Request*> pending_;    ///< on their way into the loop's ring
  std::deque<LinkEvent> outgoing_;  ///< on their way to the server
};

}  // namespace takt::motion
