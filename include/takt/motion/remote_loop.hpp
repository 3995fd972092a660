// The server's end of a Link: stands in for a loop that runs in another process. A Server, with Channels of its own process, cannot
// tell it from the loop itself: requests, events and the state go through to the bit.
//
//     motion::Channels channels;
//     motion::Server server(robot, channels.requests, channels.events, channels.state);
//     motion::RemoteLoop loop(robot, channels);
//     if (Status attached = loop.attach(*link); !attached) ...
//     loop.poll(now); server.poll(now); loop.poll(now);           // one thread
//
// A long trajectory goes through in pieces. Emergency stops and cancels overtake it, and whatever waits behind it: a stop recalls
// all that it overtakes but other stops, a cancel the motions that it is about (rejected, recalled), as if they had never been
// handed over. No more requests are under way than the loop takes in one cycle, so that a stop waits for one cycle at most, and
// for what is in the link (Link::request_bytes).
//
// When the loop's process dies (detach()), falls silent or ends the link, all that it had borrowed comes back: goals that ran end
// aborted with the reason loop_lost, other requests are rejected with it, and so is every further one; the state says `stopped`,
// for this reason. Another link may be attached then.
//
// The other process is not trusted with this one's memory: what it says is checked before the server looks at it, and what the
// server has not taken yet stays in the link, which bounds it.
//
// Allocates; for the side without deadlines. One thread at a time, the server's.
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

struct RemoteLoopOptions {
  Duration silence = std::chrono::seconds(1);  ///< a loop's process that is silent for longer is lost
  std::function<void()> on_sent;  ///< told whenever the link has something new for the loop's side
};

class RemoteLoop {
 public:
  /// Takes the loop's place at `channels`; both must outlive it.
  RemoteLoop(const robot::RobotDescription& robot, Channels& channels, RemoteLoopOptions options = {});

  /// Goes on with the loop at the other end of `link`, which stays valid until detach() or the next attach(); what was attached
  /// before is detached. Errors: other_version, other_robot, loop_taken (also by a link that is over); nothing is attached then.
  [[nodiscard]] Status attach(Link& link);

  /// The loop is gone. The link's memory is not touched any more.
  void detach();

  /// False also when poll() found that the loop is lost.
  [[nodiscard]] bool attached() const noexcept { return link_ != nullptr; }

  /// For the recording of the loop's process: what the server's ServerOptions::on_mark and on_refusal are told. Lost while no loop is
  /// attached, where half the link is full for a while, and if it is not valid.
  void note(Note note);

  /// Takes everything on, both ways. Wants to be called again after the time that it returns, at the latest: at once if a long
  /// request is under way, soon if an answer is.
  Duration poll(Time now);

 private:
  /// A request that the server has handed over.
  struct Borrowed {
    Request* request = nullptr;
    bool begun = false;  ///< it is under way to the loop, or there: before, the loop has nothing to say of it
    bool runs = false;   ///< it began its goal
    bool stopped = false;  ///< kind cancel: it recalled what it was about, so it has found something
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
  Heartbeat heartbeat_;
  std::uint32_t beat_ = 0;
  std::uint32_t sent_ = 0;  ///< requests of this link that were sent whole, or that it refused before
  bool has_sent_ = false;   ///< in this poll()
  Time sent_at_{};

  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, Borrowed> borrowed_;  ///< by number, in the order in which they came
  std::deque<std::uint64_t> urgent_;            ///< stops, then cancels
  std::deque<std::uint64_t> waiting_;           ///< all others
  std::deque<Note> notes_;                      ///< on their way to the loop's side
  std::optional<RequestWriter> sending_;        ///< the request that is under way
  std::deque<Event> incoming_;                  ///< on their way to the server
  Snapshot latest_;
};

}  // namespace takt::motion
