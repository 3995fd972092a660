#include "app/loop_host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <new>
#include <string>
#include <utility>

namespace takt::app {

namespace {

/// Time between two checks that the server lives; each is a system call.
constexpr Duration between_looks = std::chrono::milliseconds(10);

std::string_view to_text(motion::LinkEnd end) {
  switch (end) {
    case motion::LinkEnd::silent:
      return "fell silent";
    case motion::LinkEnd::malformed:
      return "wrote what no server writes";
    case motion::LinkEnd::unread:
      return "did not take its events";
    case motion::LinkEnd::other_version:
      return "was built from another version of takt";
    case motion::LinkEnd::none:
    case motion::LinkEnd::detached:
      break;
  }
  return "is gone";
}

/// Processor time of the calling thread.
Duration processor_time() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

void write_interfaces(SharedLoop& shared, const robot::RobotDescription& robot) noexcept {
  std::size_t used = 0;
  for (const robot::BusDescription& bus : robot.buses) {
    if (bus.interface.size() + 1 > shared.interfaces.size() - used) return;
    std::ranges::copy(bus.interface, shared.interfaces.begin() + static_cast<std::ptrdiff_t>(used));
    used += bus.interface.size() + 1;
  }
}

std::vector<std::string> read_interfaces(const SharedLoop& shared) {
  std::string bytes(shared.interfaces.begin(), shared.interfaces.end());  // once: the writer may go on
  for (char& letter : bytes) {
    if (letter != '\0' && (letter < ' ' || letter > '~')) letter = '?';
  }
  std::vector<std::string> interfaces;
  std::size_t begin = 0;
  for (std::size_t end = bytes.find('\0'); end != std::string::npos && end > begin;
       end = bytes.find('\0', begin)) {
    interfaces.push_back(bytes.substr(begin, end - begin));
    begin = end + 1;
  }
  return interfaces;
}

SetupResult<void> LoopHost::open() {
  if (auto begun = begin_session({}); !begun) return begun;
  thread_ = std::thread([this] { run(); });
  return {};
}

void LoopHost::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  thread_.join();
  gateway_.poll(clock_.now());
  gateway_.detach();
  session_.reset();
}

SetupResult<void> LoopHost::begin_session(const platform::SegmentServerOptions& options) {
  gateway_.detach();
  session_.reset();
  has_reported_ = false;
  const std::array wanted{shm::declare<shm::RawMemory>(link_exchange, sizeof(SharedLoop))};
  auto segment = platform::Segment::create_sealed(loop_segment, wanted);
  if (!segment) return tl::unexpected<SetupError>(std::move(segment.error()));
  const auto memory = segment->layout().producer<shm::RawMemory>(link_exchange);
  if (!memory) return fail(memory.error(), "the loop's link does not fit");
  auto* shared = new (memory->data()) SharedLoop;
  write_interfaces(*shared, *robot_);
  gateway_.attach(shared->link);
  session_ = std::make_unique<Session>(std::move(*segment), shared->bell);
  auto opened = session_->server.open(path_, session_->segment, options);
  if (!opened) gateway_.detach();  // no server can connect
  return opened;
}

void LoopHost::run() {
  // The loop's own thread requests more, and reports what is refused.
  const auto setup = rt::set_up_thread(thread_config_);
  Time begin = clock_.now();
  Duration used = processor_time();
  while (!stopping_) {
    const Time now = clock_.now();
    const Duration wait = gateway_.poll(now);
    if (now >= next_look_) watch_server(now);
    // The thread has a higher priority than others, so it takes half a processor at most, whatever the server
    // does. Rings of the bell are included: the last wait counts.
    const Duration work = processor_time() - used;
    std::this_thread::sleep_for(begin + 2 * work - clock_.now());
    begin = clock_.now();
    used += work;
    if (wait > Duration(0)) wait_until(std::min(now + wait, next_look_));
  }
}

/// Waits until `deadline`, or until the server rings. Returns in time, whatever the server does to the bell.
void LoopHost::wait_until(Time deadline) {
  if (session_) {
    static_cast<void>(
        platform::Waiter(*session_->bell).wait_until(deadline, [this] { return gateway_.has_requests(); }));
  } else {
    std::this_thread::sleep_for(deadline - clock_.now());
  }
}

void LoopHost::watch_server(Time now) {
  next_look_ = now + between_looks;
  if (!has_reported_ && gateway_.has_server()) {
    has_reported_ = true;
    say("motion server attached");
  }
  if (gateway_.attached() && !server_is_gone(now)) return;
  gateway_.detach();
  if (has_reported_) say(fmt::format("motion server lost: it {}", to_text(gateway_.end())));
  has_reported_ = false;
  platform::SegmentServerOptions options;
  options.lock_patience = Duration(0);  // low priority
  if (auto begun = begin_session(options); !begun) {
    say(begun.error().message, true);
    next_look_ = now + std::chrono::seconds(1);
  }
}

/// Adds a line for next_report(). Dropped if the queue is full.
void LoopHost::say(std::string_view text, bool is_failure) {
  News news;
  news.is_failure = is_failure;
  news.length = static_cast<std::uint8_t>(text.copy(news.text.data(), news.text.size()));
  static_cast<void>(news_.try_push(news));
}

std::optional<ReportLine> LoopHost::next_report() {
  News news;
  if (!news_.try_pop(news)) return std::nullopt;
  return ReportLine{std::string(news.text.data(), news.length), news.is_failure};
}

/// Whether a server was attached and is gone.
bool LoopHost::server_is_gone(Time now) const {
  if (!gateway_.has_server()) return false;
  const auto owner_slot = session_->segment.owner_slot_status(link_exchange, shm::Role::producer, 0, now);
  return !owner_slot || !owner_slot->alive;
}

}  // namespace takt::app
