// A controller whose work takes longer than a cycle, or must not disturb it: a model, a filter bank, an
// optimiser. The cycle only copies. A second component, worker(), does the work on copies in a context of its
// own, at its own rate and priority (component/drivers.hpp).
//
//     struct Balance final : takt::robot::AsyncController<Seen, Wanted> {
//       ...
//       void gather(Seen& seen) noexcept override { seen.tilt = tilt_.get(); }
//       void compute(const Seen& seen, Wanted& wanted) noexcept override { wanted.effort = solve(seen); }
//       void apply(const Wanted& wanted) noexcept override { joint_->set_effort(wanted.effort); }
//     };
//
// The thread of the context that has worker() calls compute().
//
// Until the first result after an activation, nothing is applied. Results of states from before it are
// dropped. A cycle without a new result keeps the last command, and counts. With a limit, too many of them in
// a row end the controller with result_late.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "takt/component/component.hpp"
#include "takt/core/error.hpp"
#include "takt/robot/controller.hpp"
#include "takt/robot/error.hpp"
#include "takt/shm/latest_value.hpp"

namespace takt::robot {

/// A controller that works on copies. In and Out are trivially copyable.
template <class In, class Out>
class AsyncController : public Controller {
  static_assert(std::is_trivially_copyable_v<In> && std::is_trivially_copyable_v<Out>);

 public:
  /// `most_missed`: cycles in a row without a new result before the controller ends; 0: any number.
  AsyncController(const component::ComponentMetadata& metadata, std::string name,
                  std::uint32_t most_missed = 0)
      : Controller(metadata, std::move(name)), worker_(*this), most_missed_(most_missed) {}

  /// The component that does the work. Add it to a context that another thread runs, and activate it.
  [[nodiscard]] component::Component& worker() noexcept { return worker_; }

  /// Copies what the work needs. In the cycle; real-time safe.
  virtual void gather(In& in) noexcept = 0;
  /// The work, in the worker's thread. It touches nothing that the cycle uses.
  virtual void compute(const In& in, Out& out) noexcept = 0;
  /// Commands what the work found. In the cycle; real-time safe.
  virtual void apply(const Out& out) noexcept = 0;

  /// Cycles without a new result, since the activation. In the cycle's thread.
  [[nodiscard]] std::uint64_t missed() const noexcept { return missed_; }

  [[nodiscard]] Status on_activate(const component::CycleTime& /*cycle*/) noexcept override {
    ++round_;
    missed_ = in_a_row_ = 0;
    hand_over();  // so that the first result is of this activation
    return {};
  }
  [[nodiscard]] Status on_execute(const component::CycleTime& /*cycle*/) noexcept override {
    if (results_.update() == shm::Freshness::new_data && results_.value().round == round_) {
      apply(results_.value().out);
      in_a_row_ = 0;
    } else {
      ++missed_;
      if (++in_a_row_ > most_missed_ && most_missed_ != 0) return fail(Errc::result_late);
    }
    hand_over();
    return {};
  }

 private:
  struct Task {
    std::uint64_t round = 0;  ///< activations
    In in{};
  };
  struct Answer {
    std::uint64_t round = 0;
    Out out{};
  };

  struct Worker final : component::Component {
    static constexpr component::ComponentMetadata about{.type = "AsyncWorker",
                                                        .version = "1.0.0",
                                                        .vendor = "takt",
                                                        .category = "controller",
                                                        .description = "Works for a controller."};
    explicit Worker(AsyncController& owner) : Component(about, owner.name() + ".worker"), of(&owner) {}
    [[nodiscard]] Status on_execute(const component::CycleTime& /*cycle*/) noexcept override {
      if (of->tasks_.update() != shm::Freshness::new_data) return {};
      const Task& task = of->tasks_.value();
      Answer& answer = of->results_.begin_write();
      answer.round = task.round;
      of->compute(task.in, answer.out);
      of->results_.publish();
      return {};
    }
    AsyncController* of;
  };

  void hand_over() noexcept {
    Task& task = tasks_.begin_write();
    task.round = round_;
    gather(task.in);
    tasks_.publish();
  }

  shm::LatestValue<Task> tasks_;
  shm::LatestValue<Answer> results_;
  Worker worker_;
  std::uint32_t most_missed_;
  std::uint32_t in_a_row_ = 0;
  std::uint64_t round_ = 0;
  std::uint64_t missed_ = 0;
};

}  // namespace takt::robot
