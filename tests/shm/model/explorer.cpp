#include "shm/model/explorer.hpp"

#include <algorithm>
#include <cstring>

namespace takt::test::model {

namespace {

Explorer* current = nullptr;

bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}
bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

/// The value of a word after a step, given the value `before`.
std::uint64_t modified(const Step& step, std::uint64_t before) {
  if (step.kind == Step::Kind::add) return before + step.operand;
  if (step.kind == Step::Kind::set_bits) return before | step.operand;
  return step.operand;
}

/// A 64-bit fingerprint of a sequence of numbers.
class Fingerprint {
 public:
  void add(std::uint64_t value) {
    hash_ = (hash_ ^ value) * 0x9e3779b97f4a7c15u;
    hash_ ^= hash_ >> 29;
  }
  void add(const View& view) {
    for (const std::uint16_t clock : view.clocks) add(clock);
    add(view.newest.size());
    for (const std::uint16_t index : view.newest) add(index);
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0x2545f4914f6cdd1d;
};

}  // namespace

void View::join(const View& other) {
  for (std::size_t i = 0; i < clocks.size(); ++i) clocks[i] = std::max(clocks[i], other.clocks[i]);
  for (std::size_t i = 0; i < other.newest.size(); ++i) newest[i] = std::max(newest[i], other.newest[i]);
}

Explorer::Explorer() { current = this; }
Explorer::~Explorer() { current = nullptr; }

std::size_t Explorer::register_word(std::uint64_t initial) {
  current->initial_.push_back(initial);
  return current->initial_.size() - 1;
}

void Explorer::share(const void* memory, std::size_t bytes) {
  shared_ = static_cast<const std::uint8_t*>(memory);
  shared_bytes_ = bytes;
}

void Explorer::thread(Body body) {
  bodies_.push_back(std::move(body));
  successor_.emplace_back();
  starts_.push_back(true);
}

void Explorer::mortal_thread(Body body, Body successor) {
  thread(std::move(body));
  successor_.back() = bodies_.size();
  thread(std::move(successor));
  starts_.back() = false;
}

void Explorer::observe(std::int64_t value) { current->running_->observed.push_back(value); }

void Explorer::require(bool condition, const char* rule) {
  if (!condition) current->violate(rule);
}

void Explorer::violate(const std::string& rule) {
  if (verdict_.violation.empty()) verdict_.violation = rule;
}

/// Records the order used at a site, and returns the order to use there.
std::memory_order Explorer::planted(std::memory_order order, const Site& site) {
  if (order != std::memory_order_relaxed) current->sites_.insert_or_assign(site, order);
  return current->mutation_ && current->mutation_->site == site ? current->mutation_->order : order;
}

std::uint64_t Explorer::perform(Step step, const Site& site) noexcept {
  step.order = planted(step.order, site);
  Site failing = site;
  failing.on_failure = true;
  step.failure_order = planted(step.failure_order, failing);
  std::uint64_t result = 0;
  current->replay_or_leave(step, reinterpret_cast<std::uint8_t*>(&result), sizeof(result));
  return result;
}

void Explorer::copy(void* to, const void* from, std::size_t bytes) noexcept {
  const auto offset = [](const void* place) {
    const auto* byte = static_cast<const std::uint8_t*>(place);
    const bool inside = byte >= current->shared_ && byte < current->shared_ + current->shared_bytes_;
    return inside ? std::optional<std::size_t>(static_cast<std::size_t>(byte - current->shared_))
                  : std::nullopt;
  };
  Step step;
  step.size = bytes;
  if (const auto target = offset(to)) {
    step.kind = Step::Kind::write;
    step.location = *target;
    std::memcpy(step.bytes.data(), from, bytes);
    std::uint8_t done = 0;
    current->replay_or_leave(step, &done, 1);
  } else if (const auto source = offset(from)) {
    step.kind = Step::Kind::read;
    step.location = *source;
    current->replay_or_leave(step, static_cast<std::uint8_t*>(to), bytes);
  } else {
    std::memcpy(to, from, bytes);
  }
}

void Explorer::replay_or_leave(const Step& step, std::uint8_t* result, std::size_t size) {
  if (cursor_ + size > running_->log.size()) {
    running_->next = step;
    std::longjmp(exit_, 1);
  }
  std::memcpy(result, running_->log.data() + cursor_, size);
  cursor_ += size;
}

/// Runs the body with the logged results until it asks for the step after them.
void Explorer::run_body(Thread& thread, const Body& body) {
  running_ = &thread;
  cursor_ = 0;
  thread.observed.clear();
  thread.next = Step{};
  if (setjmp(exit_) == 0) body();
  running_ = nullptr;
}

/// Plain steps need no turn of their own. If their order against another thread's steps matters, it is a data
/// race, and the vector clocks detect it in any order.
void Explorer::find_next(State& state, std::size_t index) {
  Thread& thread = state.threads[index];
  run_body(thread, bodies_[index]);
  while (thread.next.kind == Step::Kind::read || thread.next.kind == Step::Kind::write) {
    take_plain(state, index);
    run_body(thread, bodies_[index]);
  }
}

void Explorer::take_plain(State& state, std::size_t index) {
  Thread& thread = state.threads[index];
  const Step step = thread.next;
  if (step.location + step.size > state.memory.size()) return violate("access outside the shared memory");
  const bool writes = step.kind == Step::Kind::write;
  for (std::size_t i = step.location / 4; i < (step.location + step.size + 3) / 4; ++i) {
    Granule& granule = state.granules[i];
    if (granule.written > thread.view.clocks[granule.writer]) violate("data race with an earlier write");
    if (writes) {
      for (std::size_t other = 0; other < max_threads; ++other) {
        if (granule.read[other] > thread.view.clocks[other]) violate("data race with an earlier read");
      }
      granule.writer = static_cast<std::uint8_t>(index);
      granule.written = thread.view.clocks[index];
    } else {
      granule.read[index] = thread.view.clocks[index];
    }
  }
  const auto place = state.memory.begin() + static_cast<std::ptrdiff_t>(step.location);
  if (writes) {
    std::copy_n(step.bytes.begin(), step.size, place);
    thread.log.push_back(0);
  } else {
    thread.log.insert(thread.log.end(), place, place + static_cast<std::ptrdiff_t>(step.size));
  }
}

/// The stores that the next step can read. A load, or a compare that fails, may read any store that the
/// thread is not known to be past. A step that changes a word reads the last store.
std::vector<std::size_t> Explorer::choices(const State& state, const Thread& thread) {
  const Step& step = thread.next;
  if (step.kind == Step::Kind::barrier) return {0};
  const std::vector<Store>& history = state.words[step.location];
  const std::size_t last = history.size() - 1;
  std::vector<std::size_t> all;
  for (std::size_t i = thread.view.newest[step.location]; i < last; ++i) {
    const bool fails = step.kind == Step::Kind::compare && history[i].value != step.expected;
    if (step.kind == Step::Kind::load || fails) all.push_back(i);
  }
  all.push_back(last);
  return all;
}

void Explorer::take(State& state, std::size_t index, std::size_t chosen) {
  Thread& thread = state.threads[index];
  const Step& step = thread.next;
  std::uint64_t result = 0;
  switch (step.kind) {
    case Step::Kind::barrier:
      take_barrier(state, thread);
      break;
    case Step::Kind::sleep:
      thread.asleep = state.words[step.location].back().value == step.expected;
      thread.slept_on = step.location;
      break;
    case Step::Kind::wake:
      for (Thread& other : state.threads) {
        if (other.asleep && other.slept_on == step.location) other.asleep = false;
      }
      break;
    default:
      result = take_atomic(state, thread, chosen);
  }
  ++thread.view.clocks[index];  // later steps are not covered by this release
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&result);
  thread.log.insert(thread.log.end(), bytes, bytes + sizeof(result));
}

std::uint64_t Explorer::take_atomic(State& state, Thread& thread, std::size_t chosen) {
  const Step& step = thread.next;
  std::vector<Store>& history = state.words[step.location];
  std::uint16_t& newest = thread.view.newest[step.location];
  const std::uint64_t found = history[chosen].value;
  const bool fails = step.kind == Step::Kind::compare && found != step.expected;
  const bool changes = step.kind != Step::Kind::load && !fails;
  const std::memory_order order = fails ? step.failure_order : step.order;
  View inherited;  // a read-modify-write continues the release of the store that it read
  inherited.newest.resize(state.words.size());
  if (step.kind != Step::Kind::store) {
    newest = static_cast<std::uint16_t>(chosen);
    inherited.join(history[chosen].view);
    if (acquires(order)) thread.view.join(inherited);
  }
  if (changes) {
    newest = static_cast<std::uint16_t>(history.size());
    Store store{modified(step, found), inherited};
    if (releases(order)) store.view.join(thread.view);
    history.push_back(std::move(store));
  }
  return step.kind == Step::Kind::store ? 0 : found;
}

/// Orders the atomic words between the thread that takes the barrier and every other thread. It does not
/// order plain memory, so code that relies on it for plain memory is reported as a data race.
void Explorer::take_barrier(State& state, Thread& thread) {
  const std::vector<std::uint16_t> mine = thread.view.newest;
  for (Thread& other : state.threads) {
    for (std::size_t i = 0; i < mine.size(); ++i) {
      thread.view.newest[i] = std::max(thread.view.newest[i], other.view.newest[i]);
      other.view.newest[i] = std::max(other.view.newest[i], mine[i]);
    }
  }
}

void Explorer::finish(const State& state) {
  ++verdict_.runs;
  std::vector<std::vector<std::int64_t>> observed;
  for (const Thread& thread : state.threads) observed.push_back(thread.observed);
  if (const std::string wrong = check_(observed); !wrong.empty()) violate(wrong);
}

void Explorer::visit(const State& state) {
  Fingerprint fingerprint;
  for (const auto& history : state.words) {
    fingerprint.add(history.size());
    for (const Store& store : history) {
      fingerprint.add(store.value);
      fingerprint.add(store.view);
    }
  }
  for (const std::uint8_t byte : state.memory) fingerprint.add(byte);
  for (const Thread& thread : state.threads) {
    fingerprint.add(thread.alive);
    fingerprint.add(thread.asleep);
    fingerprint.add(thread.view);
    fingerprint.add(thread.log.size());
    for (const std::uint8_t byte : thread.log) fingerprint.add(byte);
  }
  if (!seen_.insert(fingerprint.value()).second) return;
  ++verdict_.states;

  bool over = true;
  bool sleeps = false;
  for (std::size_t i = 0; i < state.threads.size(); ++i) {
    const Thread& thread = state.threads[i];
    if (!thread.alive || thread.next.kind == Step::Kind::none) continue;
    sleeps = sleeps || thread.asleep;
    over = over && thread.asleep;
    for (const std::size_t chosen : thread.asleep ? std::vector<std::size_t>() : choices(state, thread)) {
      State after = state;
      take(after, i, chosen);
      find_next(after, i);
      if (!verdict_.violation.empty()) return;
      visit(after);
    }
    if (successor_[i]) {
      State after = state;
      after.threads[i].alive = false;
      Thread& successor = after.threads[*successor_[i]];
      successor.alive = true;
      successor.view.join(after.threads[i].view);
      find_next(after, *successor_[i]);
      if (!verdict_.violation.empty()) return;
      visit(after);
    }
  }
  if (!over) return;
  if (sleeps) return violate("asleep, and nobody is left to wake it");
  finish(state);
}

Verdict Explorer::explore(std::optional<Mutation> mutation) {
  mutation_ = mutation;
  seen_.clear();
  verdict_ = {};
  State state;
  for (const std::uint64_t value : initial_) state.words.push_back({Store{value, {}}});
  if (shared_bytes_ != 0) state.memory.assign(shared_, shared_ + shared_bytes_);
  state.granules.resize((shared_bytes_ + 3) / 4);
  state.threads.resize(bodies_.size());
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    state.threads[i].view.newest.resize(initial_.size());
    state.threads[i].view.clocks[i] = 1;
    state.threads[i].alive = starts_[i];
  }
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    if (starts_[i]) find_next(state, i);
  }
  visit(state);
  return verdict_;
}

std::vector<Mutation> Explorer::mutations() const {
  std::vector<Mutation> all;
  for (const auto& [site, order] : sites_) {
    if (order == std::memory_order_acq_rel) {
      all.push_back({site, std::memory_order_acquire});
      all.push_back({site, std::memory_order_release});
    } else {
      all.push_back({site, std::memory_order_relaxed});
    }
  }
  return all;
}

}  // namespace takt::test::model
