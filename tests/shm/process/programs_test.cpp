// The same with programs that share only a segment's name. Each is started by exec, attaches, takes its owner
// slot, is killed and replaced. The programs are the test cases below that ordinary runs skip.
#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "shm/process/exchanges.hpp"
#include "shm/process/killing.hpp"
#include "support/random.hpp"
#include "takt/platform/segment.hpp"

using namespace takt;
using namespace takt::test;
using platform::Segment;

namespace {
using Packet = Message<64>;
using Packets = shm::SpscRing<Packet>;
constexpr std::uint32_t capacity = 64;
constexpr std::array wanted = {shm::declare<Packets>("packets", capacity),
                               shm::declare<shm::RawMemory>("diaries", 2 * sizeof(Diary))};

constexpr const char* variable = "TAKT_TEST_SEGMENT";

/// For child programs: a failure ends the program.
template <class T>
T value_of(SetupResult<T> result, int otherwise) {
  if (!result) ::_exit(otherwise);
  return std::move(*result);
}

Segment join() {
  return value_of(Segment::open_or_create(std::getenv(variable), wanted, std::chrono::seconds(30)), 2);
}

Diary& diary_of(const Segment& segment, std::size_t number) {
  return reinterpret_cast<Diary*>(segment.layout().producer<shm::RawMemory>("diaries")->data())[number];
}

void become(const char* program) {
  ::execl("/proc/self/exe", "takt_test", "--no-skip", (std::string("--test-case=") + program).c_str(),
          nullptr);
}

/// A segment name that is unique to this run and known to the programs.
class Name {
 public:
  Name() : text_("test-programs-" + std::to_string(::getpid())) { ::setenv(variable, text_.c_str(), 1); }
  ~Name() { (void)Segment::remove(text_); }
  Name(const Name&) = delete;
  Name& operator=(const Name&) = delete;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

TEST_CASE("program that produces" * doctest::skip()) {
  Segment segment = join();
  Diary& diary = diary_of(segment, 0);
  auto claim = value_of(segment.producer<Packets>("packets"), 3);
  if (claim.owner_slot.predecessor()) ++diary.takeovers;
  Patience patience;
  for (;; ++diary.calls) {
    const auto packet = Packet::of(++diary.sequence, diary.certain);
    for (; !claim.end.try_push(packet); ++diary.calls) patience.lost();
    ++diary.certain;
  }
}

TEST_CASE("program that consumes" * doctest::skip()) {
  Segment segment = join();
  Diary& diary = diary_of(segment, 1);
  auto claim = value_of(segment.consumer<Packets>("packets"), 3);
  if (claim.owner_slot.predecessor()) ++diary.takeovers;
  Ledger ledger;
  StreamCheck check(diary, ledger, capacity);
  Patience patience;
  for (Packet packet; ledger.broken == nullptr; ++diary.calls) {
    diary.in_hands = 1;
    claim.end.try_pop(packet) ? check.see(packet) : patience.lost();
    diary.in_hands = 0;
  }
  std::fprintf(stderr, "%s\n", verdict(ledger).c_str());
  ::_exit(4);
}

TEST_CASE("program that comes and goes" * doctest::skip()) {
  ++diary_of(join(), 0).calls;
  ::_exit(0);
}

TEST_CASE(
    "programs that are killed are followed by others, who find the owner slots free and all that was "
    "committed") {
  const Name name;
  const Segment segment = Segment::open_or_create(name.text(), wanted).value();
  Diary& producer = diary_of(segment, 0);
  Diary& consumer = diary_of(segment, 1);
  std::vector<Role> roles(2);
  roles[0] = {"producing program", [] { become("program that produces"); }, &producer};
  roles[1] = {"consuming program", [] { become("program that consumes"); }, &consumer};
  const Ledger ledger;
  kill_at_random(roles, ledger, count(20, 10), [&](std::size_t victim) {
    return victim != 0 || eventually([&] { return consumer.certain + 1 >= producer.certain; });
  });
  // The first program had no predecessor. The last was killed and not replaced.
  CHECK(producer.takeovers.load() == roles[0].kills);
  CHECK(consumer.takeovers.load() == roles[1].kills);
  MESSAGE(producer.certain.load() << " messages");
}

TEST_CASE(
    "programs that make one segment at the same time, some of them killed on the way, all get the same") {
  auto random = generator();
  const Name name;
  for (std::size_t round = 0; round < count(5, 100); ++round) {
    constexpr std::size_t programs = 6;
    constexpr std::size_t victims = 3;
    std::vector<Child> children;
    for (std::size_t i = 0; i < programs; ++i) {
      children.emplace_back([]() -> int {
        become("program that comes and goes");
        return 1;
      });
    }
    for (std::size_t i = 0; i < victims; ++i) {
      sleep_for(std::chrono::microseconds(uniform_int(random, 0, 5000)));
      (void)children[i].kill();
    }
    for (std::size_t i = victims; i < programs; ++i) CHECK(children[i].wait() == 0);
    const auto segment = Segment::open(name.text());
    REQUIRE(segment);
    CHECK(diary_of(*segment, 0).calls >= programs - victims);
    CHECK(Segment::remove(name.text()));
  }
}
