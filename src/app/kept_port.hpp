// A port that outlives its bus: when the bus breaks, a thread without deadlines opens a new one and hands it
// over.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include "takt/app/bus.hpp"
#include "takt/can/bus_load.hpp"
#include "takt/platform/error.hpp"
#include "takt/robot/can_port.hpp"

namespace takt::app {

/// `Bus` is a can::CanBus with `bool broken()` (it must be opened again), `bool off()` (its controller left
/// the bus) and `std::uint64_t unacknowledged()`.
///
/// Only one bus is handed over at a time. The real-time side owns it in `bus_`, and gives a broken one away
/// in `broken_`. The keeper destroys it, opens another, and puts that into `fresh_`. So each slot is empty
/// when it is filled, and no thread waits for another.
template <class Bus>
class KeptPort final : public robot::CanPort {
 public:
  using Open = std::function<SetupResult<std::unique_ptr<Bus>>()>;

  /// Takes an open bus; only the keeper calls `open`. Error: no_thread.
  static SetupResult<std::unique_ptr<robot::CanPort>> create(std::unique_ptr<Bus> bus, Open open,
                                                             can::BitRates rates,
                                                             Duration interval = reopen_interval) {
    std::unique_ptr<KeptPort> port(new KeptPort(std::move(bus), std::move(open), rates, interval));
    if (!port->start())
      return fail(Errc::no_thread, "the system gives no thread; ulimit -u raises their number");
    return port;
  }
  ~KeptPort() override {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_one();
    if (keeper_.joinable()) keeper_.join();
    delete broken_.load(std::memory_order_relaxed);  // the keeper has ended: joining orders all its writes
    delete fresh_.load(std::memory_order_relaxed);
  }

  std::size_t send(std::span<const can::Frame> frames) noexcept override {
    if (!has_bus()) return 0;
    const std::size_t taken = std::min(bus_->send(frames), frames.size());
    count(frames.first(taken));
    if (bus_->broken()) {
      give_away();
    } else {
      traffic_.refused += frames.size() - taken;
    }
    return taken;
  }

  std::size_t receive(std::span<can::Frame> frames) noexcept override {
    if (!has_bus()) return 0;
    const std::size_t got = std::min(bus_->receive(frames), frames.size());
    count(frames.first(got));
    if (bus_->broken()) give_away();
    return got;
  }

  [[nodiscard]] robot::BusLink link() const noexcept override {
    if (bus_) return bus_->off() ? robot::BusLink::off : robot::BusLink::up;
    // Frames pass from the next call on. Relaxed: nothing of the bus is read here.
    if (fresh_.load(std::memory_order_relaxed) != nullptr) return robot::BusLink::up;
    return missing_.load(std::memory_order_relaxed);  // a value for reports, which orders nothing
  }

  [[nodiscard]] robot::BusTraffic traffic() const noexcept override {
    robot::BusTraffic traffic = traffic_;
    if (bus_) traffic.unacknowledged = bus_->unacknowledged();
    return traffic;
  }

 private:
  KeptPort(std::unique_ptr<Bus> bus, Open open, can::BitRates rates, Duration interval)
      : bus_(std::move(bus)), times_(rates), open_(std::move(open)), interval_(interval) {}

  // ---- The real-time side

  [[nodiscard]] bool has_bus() noexcept {
    // Acquire pairs with the keeper's release: without it, we could see the pointer, but not the bus behind
    // it.
    if (!bus_)
      bus_.reset(fresh_.exchange(nullptr, std::memory_order_acquire));  // bus_ is empty: frees nothing
    return bus_ != nullptr;
  }

  void give_away() noexcept {
    missing_.store(robot::BusLink::down, std::memory_order_relaxed);
    // Release: without it, the keeper could destroy the bus before our last writes to it are done.
    broken_.store(bus_.release(), std::memory_order_release);
  }

  void count(std::span<const can::Frame> frames) noexcept {
    traffic_.frames += frames.size();
    for (const can::Frame& frame : frames) traffic_.busy += times_.time_of(frame);
  }

  // ---- The keeper

  bool start() {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all,
                      &before);  // the thread inherits it: signals go to the program's other threads
    try {
      keeper_ = std::thread([this] { keep(); });
    } catch (const std::system_error&) {
      // No thread: handled below.
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return keeper_.joinable();
  }

  void keep() {
    bool is_missing = false;
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, interval_, [this] { return ended_; })) {
      lock.unlock();
      // Acquire pairs with the release of give_away().
      if (const Bus* const broken = broken_.exchange(nullptr, std::memory_order_acquire)) {
        delete broken;  // before another is opened: a serial line has one owner
        is_missing = true;
      }
      is_missing = is_missing && !reopened();
      lock.lock();
    }
  }

  bool reopened() {
    auto bus = open_();
    if (!bus) {
      const bool is_off = bus.error().error == platform::Errc::can_bus_off;
      missing_.store(is_off ? robot::BusLink::off : robot::BusLink::down, std::memory_order_relaxed);
      return false;
    }
    // Release pairs with the acquire of has_bus().
    fresh_.store(bus->release(), std::memory_order_release);
    return true;
  }

  // For the real-time side.
  std::unique_ptr<Bus> bus_;
  can::MeanFrameTimes times_;
  robot::BusTraffic traffic_{};

  // Handed over between the two.
  std::atomic<Bus*> broken_{nullptr};
  std::atomic<Bus*> fresh_{nullptr};
  std::atomic<robot::BusLink> missing_{robot::BusLink::down};

  // For the keeper.
  Open open_;
  Duration interval_;
  std::mutex mutex_;  ///< of ended_; the real-time side never takes it
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread keeper_;
};

}  // namespace takt::app
