// Shared memory survives any death. A place is free as soon as its owner is gone, and nothing is removed that
// a living process has.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "platform/segment_names.hpp"
#include "support/children.hpp"
#include "support/random.hpp"

using namespace takt;
using namespace takt::platform;
using namespace takt::shm;
using namespace takt::test::segments;
using test::Child;

TEST_CASE(
    "the owner slot of one who was killed is free at once, and its successor goes on where it stopped") {
  const Name name;
  auto segment = Segment::create(name, wanted).value();
  const test::Signal ready;
  Child owner([&] {
    auto own = Segment::open(name);
    auto producer = own->producer<SpscRing<std::uint64_t>>("numbers");
    for (std::uint64_t i = 0; i < 3; ++i) (void)producer->end.try_push(i);
    ready.give();
    ::pause();
    return 0;
  });
  ready.wait();
  const auto pid = static_cast<std::uint32_t>(owner.pid());
  const auto refused = segment.producer<SpscRing<std::uint64_t>>("numbers");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find(std::to_string(pid)) != std::string::npos);
  owner.kill();
  CHECK_FALSE(segment.owner_slot_status("numbers", Role::producer, 0, now())->alive);
  auto producer = segment.producer<SpscRing<std::uint64_t>>("numbers").value();
  REQUIRE(producer.owner_slot.predecessor());
  CHECK(producer.owner_slot.predecessor()->pid == pid);
  CHECK(segment.owner_slot_status("numbers", Role::producer, 0, now())->takeovers == 1);
  CHECK(producer.end.try_push(3));
  auto consumer = segment.consumer<SpscRing<std::uint64_t>>("numbers").value();
  for (std::uint64_t i = 0; i < 4; ++i) {
    std::uint64_t got = 99;
    CHECK(consumer.end.try_pop(got));
    CHECK(got == i);
  }
}

TEST_CASE("a process that has got the pid of a dead owner is not taken for it") {
  auto segment = Segment::create_sealed("test", wanted).value();
  OwnerSlotRecord& record = segment.layout().owner_slot(1);
  record.pid = static_cast<std::uint32_t>(::getppid());  // a living process without this owner slot
  CHECK_FALSE(segment.owner_slot_status(1, now()).alive);
  auto owner_slot = segment.take_owner_slot("numbers", Role::producer);
  REQUIRE(owner_slot);
  CHECK(owner_slot->predecessor()->pid == static_cast<std::uint32_t>(::getppid()));
  record.pid = 0x7fffffff;  // no such process, but the owner slot is taken
  CHECK(segment.owner_slot_status(1, now()).alive);
  CHECK(error_of(segment.take_owner_slot("numbers", Role::producer)) == platform::Errc::slot_taken);
}

TEST_CASE("a child does not inherit an owner slot, and does not keep its parent's taken") {
  const Name name;
  auto segment = Segment::create(name, wanted).value();
  const test::Signal forked;
  const test::Signal end;
  Child parent([&] {
    auto own = Segment::open(name);
    auto claimed = own->producer<SpscRing<std::uint64_t>>("numbers");
    if (!claimed || !claimed->owner_slot.is_taken()) return 1;
    if (::fork() == 0) {
      claimed->owner_slot.beat(now());
      if (!claimed->owner_slot.is_taken()) forked.give();
      end.wait();
      ::_exit(0);
    }
    ::pause();
    return 0;
  });
  forked.wait();
  CHECK(segment.owner_slot_status("numbers", Role::producer, 0, now())->alive);
  CHECK_FALSE(segment.owner_slot_status("numbers", Role::producer, 0, now())->since_heartbeat);
  parent.kill();
  CHECK(segment.producer<SpscRing<std::uint64_t>>("numbers"));  // although the child still lives
  end.give();
}

TEST_CASE("a segment whose creator died before it was ready is created again") {
  const Name name;
  const int file = ::open(name.path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(::ftruncate(file, 8192) == 0);
  ::close(file);
  CHECK(error_of(Segment::open(name)) == shm::Errc::not_ready);
  const auto made = Segment::open_or_create(name, wanted).value();
  CHECK(made.is_created());
  CHECK(Segment::open(name));
}

TEST_CASE("a segment with other exchanges is replaced only when no process has it") {
  const Name name;
  {
    const auto old = Segment::open_or_create(name, wanted).value();
    const auto refused = Segment::open_or_create(name, others, std::chrono::milliseconds(20));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().error == shm::Errc::wrong_extent);
    CHECK(refused.error().message.find("numbers") != std::string::npos);
  }
  CHECK(Segment::open_or_create(name, others)->is_created());
  const std::array renamed = {declare<SpscRing<std::uint64_t>>("figures", 32)};
  const std::array retyped = {declare<SpscRing<std::int64_t>>("numbers", 32)};
  auto used = Segment::open_or_create(name, others).value();
  const auto wait = std::chrono::milliseconds(5);
  CHECK(error_of(Segment::open_or_create(name, renamed, wait)) == shm::Errc::no_such_exchange);
  const std::array rekinded = {declare<LatestValue<std::uint64_t>>("numbers")};
  CHECK(error_of(Segment::open_or_create(name, retyped, wait)) == shm::Errc::wrong_schema);
  CHECK(error_of(Segment::open_or_create(name, rekinded, wait)) == shm::Errc::wrong_kind);
}

TEST_CASE("only segments that no process has are removed") {
  const Name name;
  CHECK(error_of(Segment::check_unused(name)) == platform::Errc::no_such_segment);
  const test::Signal ready;
  Child owner([&] {
    auto own = Segment::create(name, wanted);
    auto producer = own->producer<SpscRing<std::uint64_t>>("numbers");
    ready.give();
    ::pause();
    return 0;
  });
  ready.wait();
  CHECK(error_of(Segment::check_unused(name)) == platform::Errc::segment_in_use);
  CHECK(error_of(Segment::remove_unused(name)) == platform::Errc::segment_in_use);
  SegmentOptions monitor;
  monitor.access = Access::read_only;
  {
    const auto watcher = Segment::open(name, monitor).value();
    owner.kill();
    CHECK(error_of(Segment::check_unused(name)) ==
          platform::Errc::segment_in_use);  // a monitor is a user too
  }
  CHECK(Segment::check_unused(name));
  CHECK(Segment::check_unused(name));
  CHECK(Segment::remove_unused(name));
  CHECK(error_of(Segment::open(name)) == platform::Errc::no_such_segment);
}

TEST_CASE("of eight that start while one is killed in the middle, all get a whole segment") {
  const Name name;
  auto random = test::generator(74);
  for (std::size_t round = 0; round < test::count(50); ++round) {
    const test::Signal start;
    std::vector<Child> starters;
    for (int i = 0; i < 4; ++i) {
      starters.emplace_back([&] {
        start.wait();
        for (;;) {
          // Repeatedly, so the kill hits any instruction.
          auto segment = Segment::open_or_create(name, wanted, std::chrono::seconds(60));
          if (!segment) return 1;
          (void)segment->producer<SpscRing<std::uint64_t>>("numbers");
        }
      });
    }
    for (int i = 0; i < 4; ++i) start.give();
    std::this_thread::sleep_for(std::chrono::microseconds(test::uniform_int(random, 0, 3000)));
    for (Child& starter : starters) starter.kill();
    auto segment = Segment::open_or_create(name, wanted, std::chrono::seconds(60));
    REQUIRE(segment);
    REQUIRE(segment->producer<SpscRing<std::uint64_t>>("numbers"));
    if (round % 2 == 0) Segment::remove(name);
  }
}
