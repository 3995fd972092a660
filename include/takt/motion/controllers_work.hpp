// A request to the robot's manager of controllers, between the client's line and the answer. The manager may
// keep its caller waiting until the next cycle, and longer for a switch. So another thread can ask it, while
// the server answers other clients.
//
// Not real-time safe: it allocates.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include "takt/core/line_service.hpp"
#include "takt/core/setup_error.hpp"

namespace takt::motion {

/// Asks the robot's manager of controllers. The argument is the JSON text of the request's object, and the
/// result that of the answer's object, or the reason of a refusal. It may wait, for a bounded time.
using ControllersDesk = std::function<SetupResult<std::string>(const std::string& request)>;

/// One request and its answer.
class ControllersWork {
 public:
  /// Takes the request.
  ControllersWork(ClientId client, std::string id, std::string request)
      : client_(client), id_(std::move(id)), request_(std::move(request)) {}

  /// Asks the manager. Call it once, on any one thread.
  void run(const ControllersDesk& desk) {
    answer_ = desk(request_);
    done_.store(true, std::memory_order_release);  // Release: a thread that reads true also sees the answer.
  }

  /// Whether run() has ended. After that the owner may use answer().
  [[nodiscard]] bool done() const noexcept {
    return done_.load(std::memory_order_acquire);  // acquire: pairs with run()'s release
  }
  /// Valid once done() is true.
  [[nodiscard]] SetupResult<std::string>& answer() noexcept { return answer_; }
  /// Who sent the request, and its id.
  [[nodiscard]] ClientId client() const noexcept { return client_; }
  [[nodiscard]] const std::string& id() const noexcept { return id_; }

  bool begun = false;  ///< the owner's: an executor has it

 private:
  ClientId client_;
  std::string id_;
  std::string request_;
  SetupResult<std::string> answer_;
  std::atomic<bool> done_{false};
};

}  // namespace takt::motion
