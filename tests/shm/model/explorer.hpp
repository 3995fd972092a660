// A model checker. It runs small multi-threaded programs in every order of their steps, and with every stale
// value that the C++ memory model lets a load return. It reports the first run that breaks a rule. The
// programs are the library's own algorithms, instantiated with the machine below instead of the processor. So
// the check covers the shipped code, not a copy.
//
// Method: a thread's next step depends only on the results of its earlier steps. So a state is the memory
// plus a log of results for each thread. To find a thread's next step, the explorer runs its body from the
// beginning with the logged results until it asks for a new one. It does not explore a state again that it
// has reached in another order.
//
// Memory: the release/acquire part of the C++20 model. Every atomic word has a history of stores, each with
// the view of the releasing thread. A load may return any store that the loading thread is not known to be
// past. A compare-and-exchange that fails may have read a stale value, like a load. Vector clocks check plain
// memory for data races.
//
// A store's place in the history is its place in the run. This is exact for three kinds of words, which are
// all kinds in this library. The first has one writer. The second is changed only by read-modify-write. The
// third is stored to only by a thread that has read the last store, while the other threads leave it alone.
//
// Sleep: a thread may sleep on a word, as on a futex, until another thread wakes it. There is no time. A
// thread that still sleeps when all others have ended was not woken, and that breaks a rule.
#pragma once

#include <array>
#include <atomic>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

namespace takt::test::model {

inline constexpr std::size_t max_threads = 4;
using Clocks = std::array<std::uint16_t, max_threads>;

/// The knowledge of a thread: how far each thread has come, and for each word the oldest store that it may
/// still read.
struct View {
  Clocks clocks{};
  std::vector<std::uint16_t> newest;
  void join(const View& other);
};

struct Store {
  std::uint64_t value = 0;
  View view;  // view of the releasing thread; empty for a relaxed store
};

struct Step {
  enum class Kind : std::uint8_t {
    load,
    store,
    exchange,
    add,
    set_bits,
    compare,
    barrier,  // on all threads, taken by one of them
    sleep,
    wake,
    read,
    write,
    none
  } kind = Kind::none;
  std::memory_order order = std::memory_order_relaxed;
  std::memory_order failure_order = std::memory_order_relaxed;  // order of a failed compare
  std::size_t location = 0;  // index of an atomic word, or offset of plain memory
  std::uint64_t operand = 0;
  std::uint64_t expected = 0;  // expected value of a compare or a sleep
  std::size_t size = 0;        // bytes of plain memory
  std::array<std::uint8_t, 128> bytes{};
};
// longjmp abandons a step and the whole stack of a body.
static_assert(std::is_trivially_destructible_v<Step>);

/// The place of an operation in the source.
struct Site {
  std::string_view file;
  int line;
  bool on_failure = false;  // the failure order of a compare

  explicit Site(const char* at_file = __builtin_FILE(), int at_line = __builtin_LINE())
      : file(at_file), line(at_line) {}
  auto operator<=>(const Site&) const = default;
};

/// A weakened memory order: a planted mistake that the explorer must find.
struct Mutation {
  Site site;
  std::memory_order order = std::memory_order_relaxed;
};

struct Verdict {
  std::string violation;  // empty: no rule was broken
  std::size_t states = 0;
  std::size_t runs = 0;  // number of different complete runs
};

class Explorer {
 public:
  using Body = std::function<void()>;
  /// Checks a complete run, given what each thread observed. Returns the broken rule, or an empty text.
  using Check = std::function<std::string(const std::vector<std::vector<std::int64_t>>&)>;

  Explorer();
  ~Explorer();
  Explorer(const Explorer&) = delete;
  Explorer& operator=(const Explorer&) = delete;

  // Set-up. Atomic words register themselves when they are constructed while the explorer exists.
  void share(const void* memory, std::size_t bytes);
  void thread(Body body);
  /// A thread that may die before any of its steps. Then `successor` starts, which has seen all its effects.
  void mortal_thread(Body body, Body successor);
  void check(Check check) { check_ = std::move(check); }

  [[nodiscard]] Verdict explore(std::optional<Mutation> mutation = {});

  /// All weaker versions of the orders that the runs so far have used.
  [[nodiscard]] std::vector<Mutation> mutations() const;

  // For bodies.
  static void observe(std::int64_t value);
  static void require(bool condition, const char* rule);

  // For the machine.
  static std::size_t register_word(std::uint64_t initial);
  static std::uint64_t perform(Step step, const Site& site) noexcept;
  static std::memory_order planted(std::memory_order order, const Site& site);
  static void copy(void* to, const void* from, std::size_t bytes) noexcept;

 private:
  struct Thread {
    std::vector<std::uint8_t> log;  // results of all steps so far
    View view;
    Step next;  // kind none: the thread has ended
    std::vector<std::int64_t> observed;
    bool alive = true;
    bool asleep = false;
    std::size_t slept_on = 0;  // the word
  };
  struct Granule {  // four bytes of plain memory
    std::uint8_t writer = 0;
    std::uint16_t written = 0;
    Clocks read{};
  };
  struct State {
    std::vector<std::vector<Store>> words;
    std::vector<std::uint8_t> memory;
    std::vector<Granule> granules;
    std::vector<Thread> threads;
  };

  void run_body(Thread& thread, const Body& body);
  void find_next(State& state, std::size_t thread);
  void visit(const State& state);
  void finish(const State& state);
  [[nodiscard]] static std::vector<std::size_t> choices(const State& state, const Thread& thread);
  static void take(State& state, std::size_t thread, std::size_t chosen);
  static std::uint64_t take_atomic(State& state, Thread& thread, std::size_t chosen);
  static void take_barrier(State& state, Thread& thread);
  void take_plain(State& state, std::size_t thread);
  void replay_or_leave(const Step& step, std::uint8_t* result, std::size_t size);
  void violate(const std::string& rule);

  std::vector<Body> bodies_;
  std::vector<std::optional<std::size_t>> successor_;  // per thread
  std::vector<bool> starts_;                           // per thread: false for a successor
  Check check_;
  const std::uint8_t* shared_ = nullptr;
  std::size_t shared_bytes_ = 0;
  std::vector<std::uint64_t> initial_;  // initial values of the words

  // Valid while a body runs.
  Thread* running_ = nullptr;
  std::jmp_buf exit_;
  std::size_t cursor_ = 0;

  std::optional<Mutation> mutation_;
  std::map<Site, std::memory_order> sites_;
  std::unordered_set<std::uint64_t> seen_;
  Verdict verdict_;
};

/// The machine that replaces the processor.
struct Machine {
  template <class Word>
  class Atomic {
   public:
    // NOLINTNEXTLINE(google-explicit-constructor): as std::atomic
    Atomic(Word initial = 0) : location_(Explorer::register_word(static_cast<std::uint64_t>(initial))) {}
    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;

    [[nodiscard]] Word load(std::memory_order order, Site site = Site()) const noexcept {
      return perform(Step::Kind::load, order, 0, site);
    }
    void store(Word value, std::memory_order order, Site site = Site()) noexcept {
      perform(Step::Kind::store, order, value, site);
    }
    Word exchange(Word value, std::memory_order order, Site site = Site()) noexcept {
      return perform(Step::Kind::exchange, order, value, site);
    }
    Word fetch_add(Word value, std::memory_order order, Site site = Site()) noexcept {
      return perform(Step::Kind::add, order, value, site);
    }
    Word fetch_or(Word value, std::memory_order order, Site site = Site()) noexcept {
      return perform(Step::Kind::set_bits, order, value, site);
    }
    bool compare_exchange_strong(Word& expected, Word desired, std::memory_order order,
                                 std::memory_order failure_order, Site site = Site()) noexcept {
      Step step = step_of(Step::Kind::compare, order, desired);
      step.failure_order = failure_order;
      step.expected = static_cast<std::uint64_t>(expected);
      const auto found = static_cast<Word>(Explorer::perform(step, site));
      const bool equal = found == expected;
      expected = found;
      return equal;
    }

    /// Sleeps like a futex until woken, if the word has the expected value. Spurious wake-ups are not
    /// modelled, because they only hide mistakes.
    void sleep_while(Word expected) const noexcept {
      Step step = step_of(Step::Kind::sleep, std::memory_order_relaxed, 0);
      step.expected = static_cast<std::uint64_t>(expected);
      Explorer::perform(step, Site());
    }
    void wake_all() noexcept { perform(Step::Kind::wake, std::memory_order_relaxed, 0, Site()); }

   private:
    [[nodiscard]] Step step_of(Step::Kind kind, std::memory_order order, Word operand) const noexcept {
      Step step;
      step.kind = kind;
      step.order = order;
      step.location = location_;
      step.operand = static_cast<std::uint64_t>(operand);
      return step;
    }
    Word perform(Step::Kind kind, std::memory_order order, Word operand, const Site& site) const noexcept {
      return static_cast<Word>(Explorer::perform(step_of(kind, order, operand), site));
    }
    std::size_t location_;
  };

  /// Models membarrier(): this thread sees all earlier stores of all threads, and they see its stores.
  static void barrier() noexcept {
    Step step;
    step.kind = Step::Kind::barrier;
    Explorer::perform(step, Site());
  }

  template <std::size_t = 1>
  static void copy(void* to, const void* from, std::size_t bytes) noexcept {
    Explorer::copy(to, from, bytes);
  }
  template <class T>
  static void copy_value(T& to, const T& from) noexcept {
    Explorer::copy(&to, &from, sizeof(T));
  }
  static void prefetch_to_read(const void*) noexcept {}
  static void prefetch_to_write(const void*) noexcept {}
};

}  // namespace takt::test::model
