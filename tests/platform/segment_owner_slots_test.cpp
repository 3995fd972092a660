// Places in a segment: each has one owner at a time, whose heartbeat shows its silence. A process that
// attached for reading owns none.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "platform/segment_names.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace takt::platform;
using namespace takt::shm;
using namespace takt::test::segments;

TEST_CASE("an owner slot has one owner at a time, and a request for a taken one names the owner") {
  auto segment = Segment::create_sealed("test", wanted).value();
  auto other = Segment::attach(segment.descriptor()).value();
  {
    const auto first = segment.producer<SpscRing<std::uint64_t>>("numbers").value();
    CHECK(first.owner_slot.is_taken());
    CHECK_FALSE(first.owner_slot.predecessor());
    for (Segment* one : {&segment, &other}) {
      const auto second = one->producer<SpscRing<std::uint64_t>>("numbers");
      REQUIRE_FALSE(second);
      CHECK(second.error().error == platform::Errc::slot_taken);
      CHECK(second.error().message.find(std::to_string(::getpid())) != std::string::npos);
    }
    CHECK(segment.consumer<SpscRing<std::uint64_t>>("numbers"));
    CHECK(segment.take_owner_slot("own", Role::producer, 2));
    const auto status = other.owner_slot_status("numbers", Role::producer, 0, now()).value();
    CHECK(status.alive);
    CHECK(status.owner.pid == static_cast<std::uint32_t>(::getpid()));
    CHECK(status.owner.start_time != 0);
    CHECK(status.owner.epoch == first.owner_slot.owner().epoch);
    CHECK_FALSE(status.since_heartbeat);
  }
  CHECK_FALSE(other.owner_slot_status("numbers", Role::producer, 0, now())->alive);
  const auto again = other.producer<SpscRing<std::uint64_t>>("numbers");
  REQUIRE(again);
  CHECK_FALSE(again->owner_slot.predecessor());  // it was released in order
  CHECK(other.owner_slot_status("own", Role::consumer, 0, now()).error() == shm::Errc::no_such_slot);
  CHECK(other.owner_slot_status("owl", Role::producer, 0, now()).error() == shm::Errc::no_such_exchange);
}

TEST_CASE("a mismatch with the segment is refused with an explanation, and takes no owner slot") {
  auto segment = Segment::create_sealed("test", wanted).value();
  const auto wrong = segment.producer<SpscRing<double>>("numbers");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().error == shm::Errc::wrong_schema);
  CHECK(wrong.error().message.find("value u64") != std::string::npos);
  CHECK(error_of(segment.producer<SpscRing<std::uint64_t>>("number")) == shm::Errc::no_such_exchange);
  CHECK(error_of(segment.consumer<LatestValue<double>>("level")) == shm::Errc::wrong_kind);
  CHECK(error_of(segment.producer<RawMemory>("own", 3)) == shm::Errc::no_such_slot);
  CHECK(error_of(segment.take_owner_slot("level", Role::consumer)) == shm::Errc::no_such_slot);
  for (std::uint32_t i = 1; i < segment.layout().owner_slots(); ++i)
    CHECK_FALSE(segment.owner_slot_status(i, now()).alive);
}

TEST_CASE("a heartbeat shows how long its owner has been silent") {
  auto segment = Segment::create_sealed("test", wanted).value();
  auto owner_slot = segment.take_owner_slot("numbers", Role::producer).value();
  const Time start = now();
  test::RtGuard guard;
  owner_slot.beat(start);
  CHECK(guard.report() == "");
  const auto age = [&](Duration later) {
    return segment.owner_slot_status("numbers", Role::producer, 0, start + later)->since_heartbeat;
  };
  CHECK(age(Duration(0)) == Duration(0));
  CHECK(age(std::chrono::milliseconds(-1)) == Duration(0));  // the heartbeat is later
  CHECK(*age(std::chrono::milliseconds(250)) >= std::chrono::milliseconds(250));
  CHECK(*age(std::chrono::milliseconds(250)) <= std::chrono::milliseconds(251));
}

TEST_CASE("who attached for reading can read broadcasts, and nothing else") {
  auto segment = Segment::create_sealed("test", wanted).value();
  segment.producer<BroadcastValue<double>>("level")->end->write(2);
  SegmentOptions monitor;
  monitor.access = Access::read_only;
  auto watcher = Segment::attach(segment.descriptor(), monitor).value();
  double value = 0;
  CHECK(watcher.consumer<BroadcastValue<double>>("level")->end.read(value) == Freshness::new_data);
  CHECK(value == 2);
  CHECK(error_of(watcher.producer<BroadcastValue<double>>("level")) == shm::Errc::read_only);
  CHECK(error_of(watcher.consumer<SpscRing<std::uint64_t>>("numbers")) == shm::Errc::read_only);
  CHECK(error_of(watcher.take_owner_slot("own", Role::producer)) == shm::Errc::read_only);
  CHECK(watcher.owner_slot_status(0, now()).alive);
  const auto own_path = fmt::format("/proc/self/fd/{}", segment.descriptor());
  const int reading = ::open(own_path.c_str(), O_RDONLY | O_CLOEXEC);
  CHECK(error_of(Segment::attach(reading)) == shm::Errc::read_only);
  CHECK(Segment::attach(reading, monitor));
  ::close(reading);
  CHECK(error_of(Segment::create_sealed("test", wanted, monitor)) == shm::Errc::read_only);
}

TEST_CASE("a reader does not count as an owner, and a reader that blocks an owner slot is reported") {
  auto segment = Segment::create_sealed("test", wanted).value();
  const auto taken = segment.take_owner_slot("own", Role::producer, 0).value();
  const int reading =
      ::open(fmt::format("/proc/self/fd/{}", segment.descriptor()).c_str(), O_RDONLY | O_CLOEXEC);
  struct flock lock {};
  lock.l_type = F_RDLCK;
  lock.l_start = 2;  // owner slot 1
  lock.l_len = 1;
  REQUIRE(::fcntl(reading, F_OFD_SETLK, &lock) == 0);
  const auto refused = segment.take_owner_slot("numbers", Role::producer);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().error == platform::Errc::slot_taken);
  CHECK(refused.error().message.find("watcher") != std::string::npos);
  CHECK_FALSE(segment.owner_slot_status(1, now()).alive);
  ::close(reading);
  CHECK(segment.take_owner_slot("numbers", Role::producer));
}
