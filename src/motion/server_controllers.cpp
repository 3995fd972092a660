// The server's requests to the robot's manager of controllers. They wait for each other, and no other request
// waits for them.
#include <algorithm>
#include <memory>
#include <utility>

#include "motion/server_parts.hpp"

namespace takt::motion {

void Server::Parts::handle(ClientId client, const std::string& id, const ControllersMessage& message,
                           Time now) {
  if (!options_.controllers) return refuse(client, id, Errc::no_controllers, now);
  const auto own = std::count_if(controllers_.begin(), controllers_.end(),
                                 [client](const auto& work) { return work->client() == client; });
  if (controllers_.size() >= options_.max_controllers_requests ||
      static_cast<std::size_t>(own) >= options_.max_controllers_requests_per_client)
    return refuse(client, id, Errc::queue_full, now);
  controllers_.push_back(std::make_shared<ControllersWork>(client, id, message.request));
  advance_controllers(now);
}

/// Sends the answers that have come, and begins the next request.
void Server::Parts::advance_controllers(Time now) {
  while (!controllers_.empty()) {
    const std::shared_ptr<ControllersWork> work = controllers_.front();
    if (!std::exchange(work->begun, true))
      options_.controllers_executor([work, desk = options_.controllers] { work->run(desk); });
    if (!work->done()) return;
    controllers_.pop_front();
    answer(*work, now);
  }
}

void Server::Parts::answer(ControllersWork& work, Time now) {
  if (work.answer()) return send(work.client(), ControllersReply{work.id(), std::move(*work.answer())});
  Rejection why;
  why.reason = Errc::controllers_refused;
  why.message = std::move(work.answer().error().message);
  refuse(work.client(), work.id(), std::move(why), now);
}

/// A client that vanished commands no more. What the manager does already goes on.
void Server::Parts::drop_controllers_requests(ClientId client) {
  std::erase_if(controllers_,
                [client](const auto& work) { return work->client() == client && !work->begun; });
}

}  // namespace takt::motion
