// The server's end of a Link: it takes the place of a loop that runs in another process. A Server with local
// Channels works with it as with the loop itself. Requests, events and the state arrive unchanged to the bit.
//
//     motion::Channels channels;
//     motion::Server server(robot, channels.requests, channels.events, channels.state);
//     motion::RemoteLoop loop(robot, channels);
//
//     if (const Status attached = loop.attach(*link); !attached) return attached;
//     loop.poll(now); server.poll(now); loop.poll(now);  // all on one thread
//
// A long trajectory passes in pieces. Emergency stops and cancels overtake it and every request that waits
// behind it. A stop recalls all requests that it overtakes, except other stops. A cancel recalls the motions
// that it concerns. Recalled requests are rejected (recalled), as if the server had never sent them. At most
// as many requests are in the link as the loop takes in one cycle. A stop therefore waits for at most one
// cycle and the bytes in the link (Link::request_bytes).
//
// The loop is lost when its process dies (detach()), falls silent or ends the link. All borrowed requests
// then come back. Running goals end aborted with the reason loop_lost; other requests, and all later ones,
// are rejected with it. The state becomes `stopped` with this reason. Another link may be attached then.
//
// This class does not trust the other process. It validates everything before the server sees it. Messages
// that the server has not taken stay in the link, which bounds their memory.
//
// Not real-time safe: it allocates. Use it from the server's thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "takt/core/error.hpp"
#include "takt/core/time.hpp"
#include "takt/motion/channels.hpp"
#include "takt/motion/link.hpp"
#include "takt/motion/request_message.hpp"
#include "takt/robot/description.hpp"

namespace takt::motion {

/// The settings of a RemoteLoop.
struct RemoteLoopOptions {
  Duration silence = std::chrono::seconds(1);  ///< a loop's process that is silent for longer is lost
  std::function<void()> on_sent;               ///< called when the link has new data for the loop's side
};

/// Connects a Server's Channels to a loop in another process.
class RemoteLoop {
 public:
  /// Takes the loop's place at `channels`. The robot and the channels must outlive it.
  RemoteLoop(const robot::RobotDescription& robot, Channels& channels, RemoteLoopOptions options = {});

  /// Continues with the loop at the other end of `link`, which must stay valid until detach() or the next
  /// attach(). Detaches the previous link first. Errors: other_version, other_robot, loop_taken (also for a
  /// link that has ended). On error nothing is attached.
  [[nodiscard]] Status attach(Link& link);

  /// Ends the work with the link, because the loop is gone. The link's memory is not accessed any more.
  void detach();

  /// Whether a link is attached. False also after poll() found that the loop is lost.
  [[nodiscard]] bool attached() const noexcept { return link_ != nullptr; }

  /// Sends a note to the recording of the loop's process: a mark or a refusal, as ServerOptions::on_mark and
  /// on_refusal report it. The note is lost if no loop is attached, if it is invalid, or if half the link
  /// stays full.
  void note(Note note);

  /// Moves requests, notes, events and the state in both directions. Returns the time until the next
  /// necessary call. It is 0 while a long request is in progress, and short while an answer is due.
  Duration poll(Time now);

 private:
  /// A request that the server has handed over.
  struct Borrowed {
    Request* request = nullptr;
    bool begun = false;    ///< sent to the loop, at least in part; before, the loop cannot answer it
    bool runs = false;     ///< its goal is active
    bool stopped = false;  ///< kind cancel: it recalled at least one request, so it succeeds
  };

  void take_requests();
  void recall(const Request& overtaking, Borrowed& by);
  void reject(std::uint64_t number, Errc reason, GoalState state = GoalState::rejected);
  void send_requests();
  void send_notes();
  [[nodiscard]] bool may_send() const noexcept;
  [[nodiscard]] bool send_record();
  void take_events(bool all);
  void take(LinkEvent event);
  void take_state();
  void push_events();
  [[nodiscard]] Duration until_answer(Time now) const;

  const robot::RobotDescription* robot_;
  Channels* channels_;
  RemoteLoopOptions options_;
  std::uint64_t fingerprint_;

  Link* link_ = nullptr;
  std::optional<shm::ByteProducer> requests_;
  std::optional<shm::RingConsumer<LinkEvent>> events_;
  std::optional<shm::BroadcastValue<Snapshot>::Reader> state_;
  LinkHeartbeat heartbeat_;
  std::uint32_t beat_ = 0;
  std::uint32_t sent_ = 0;  ///< requests of this link that were sent whole, or rejected before
  bool has_sent_ = false;   ///< in this poll()
  Time sent_at_{};

  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, Borrowed> borrowed_;  ///< by number, in order of arrival
  std::deque<std::uint64_t> urgent_;            ///< stops, then cancels
  std::deque<std::uint64_t> waiting_;           ///< all others
  std::deque<Note> notes_;                      ///< not sent yet
  std::optional<RequestWriter> sending_;        ///< the request that is partly sent
  std::deque<Event> incoming_;                  ///< not yet in the server's ring
  Snapshot latest_;
};

}  // namespace takt::motion
