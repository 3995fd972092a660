// Runs small multi-threaded programs in every order of their steps, and with every stale value that the C++
// memory model lets a load return, and reports the first run that breaks a rule. The programs are the
// library's own algorithms, instantiated with the machine below instead of the processor: what is proved is
// the shipped code, not a copy of it.
//
// How: a thread's next step depends on nothing but the results of its steps so far. So a state is the memory
// plus a log of results for each thread; to learn a thread's next step its body is run from the beginning,
// fed with the log, until it asks for something new. States that were seen before, reached in another order,
// are not explored again.
//
// Memory: the release/acquire part of the C++20 model. Every atomic word has a history of stores, each with
// the view of the thread that released it; a load may return any store that the loading thread is not already
// known to be past. A store's place in the history is its place in the run, which is exact for words that
// have one writer, or are changed by read-modify-write alone, or stored to only by a thread that has read the
// last store and that others then leave alone, as all words of this library are. A compare-and-exchange that
// fails may have read a stale value, as a load. Plain memory is checked for data races with vector clocks.
//
// Sleep: a thread may sleep on a word, as on a futex, until it is woken. Time does not pass here: one that sleeps when all others
// have ended has been forgotten, and that breaks a rule.
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

/// What a thread knows: how far each thread has come, and the newest store of each word that it cannot go
/// behind.
struct View {
  Clocks clocks{};
  std::vector<std::uint16_t> newest;
  void join(const View& other);
};

struct Store {
  std::uint64_t value = 0;
  View view;  // of the releasing thread; empty for a relaxed store
};

struct Step {
  enum class Kind : std::uint8_t {
    load,
    store,
    exchange,
    add,
    set_bits,
    compare,
    barrier,  // of all threads, taken by one of them
    sleep,
    wake,
    read,
    write,
    none
  } kind = Kind::none;
  std::memory_order order = std::memory_order_relaxed;
  std::memory_order failure_order = std::memory_order_relaxed;  // of a compare
  std::size_t location = 0;  // of an atomic word, or the offset of plain memory
  std::uint64_t operand = 0;
  std::uint64_t expected = 0;  // by a compare or a sleep
  std::size_t size = 0;        // of plain memory
  std::array<std::uint8_t, 128> bytes{};
};
// A step is abandoned by longjmp, and so is everything on the stack of a body.
static_assert(std::is_trivially_destructible_v<Step>);

/// Where an operation stands in the source.
struct Site {
  std::string_view file;
  int line;
  bool on_failure = false;  // of a compare: it has two orders

  explicit Site(const char* at_file = __builtin_FILE(), int at_line = __builtin_LINE())
      : file(at_file), line(at_line) {}
  auto operator<=>(const Site&) const = default;
};

/// A weakened memory order: the planted mistake that must be found.
struct Mutation {
  Site site;
  std::memory_order order = std::memory_order_relaxed;
};

struct Verdict {
  std::string violation;  // empty: none
  std::size_t states = 0;
  std::size_t runs = 0;  // different complete runs
};

class Explorer {
 public:
  using Body = std::function<void()>;
  /// Of a complete run: what each thread observed. Returns what is wrong, or nothing.
  using Check = std::function<std::string(const std::vector<std::vector<std::int64_t>>&)>;

  Explorer();
  ~Explorer();
  Explorer(const Explorer&) = delete;
  Explorer& operator=(const Explorer&) = delete;

  // Set-up. Atomic words register themselves when they are constructed while the explorer exists.
  void share(const void* memory, std::size_t bytes);
  void thread(Body body);
  /// May die before any of its steps; then `successor`, which has seen all that it did, starts.
  void mortal_thread(Body body, Body successor);
  void check(Check check) { check_ = std::move(check); }

  [[nodiscard]] Verdict explore(std::optional<Mutation> mutation = {});

  /// All weakenings of the orders that the runs so far have used.
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
    std::vector<std::uint8_t> log;  // results of all steps so far, one after the other
    View view;
    Step next;  // kind none: it has ended
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
  std::vector<std::optional<std::size_t>> successor_;  // by thread
  std::vector<bool> starts_;                           // by thread: not a successor
  Check check_;
  const std::uint8_t* shared_ = nullptr;
  std::size_t shared_bytes_ = 0;
  std::vector<std::uint64_t> initial_;  // values of the words

  // While a body runs.
  Thread* running_ = nullptr;
  std::jmp_buf exit_;
  std::size_t cursor_ = 0;

  std::optional<Mutation> mutation_;
  std::map<Site, std::memory_order> sites_;
  std::unordered_set<std::uint64_t> seen_;
  Verdict verdict_;
};

/// The machine that the algorithms are instantiated with.
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

    /// As a futex: sleeps until woken if the word is as expected. Not modelled: waking by itself, which only hides mistakes.
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

  /// What membarrier() does: what any thread has stored is seen by this one from here on, and the other way round.
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
