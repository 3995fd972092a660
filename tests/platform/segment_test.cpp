#include "takt/platform/segment.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/children.hpp"
#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "takt/platform/steady_clock.hpp"

using namespace takt;
using namespace takt::platform;
using namespace takt::shm;
using test::Child;
using test::in_child;

namespace {

constexpr std::array wanted = {declare<SpscRing<std::uint64_t>>("numbers", 16),
                               declare<BroadcastValue<double>>("level"), declare<RawMemory>("own", 64, 3, 0)};
constexpr std::array others = {declare<SpscRing<std::uint64_t>>("numbers", 32)};
constexpr uid_t nobody = 65534;

/// A segment name that is unique to this run. Removed at the end.
class Name {
 public:
  Name() { Segment::remove(text_); }
  ~Name() { Segment::remove(text_); }
  operator const std::string&() const { return text_; }  // NOLINT(google-explicit-constructor): it is one
  [[nodiscard]] std::string path() const { return "/dev/shm/takt." + text_; }

 private:
  std::string text_ = fmt::format("test-{}", ::getpid());
};

std::size_t open_files() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

/// The error of a result, for comparison. Without an error, an Error without a room.
template <class T>
Error error_of(const SetupResult<T>& result) {
  return result ? Error{} : result.error().error;
}

Time now() { return SteadyClock().now(); }

/// Root can run some checks as another user. Without root they are skipped visibly.
bool is_root() {
  if (::geteuid() == 0) return true;
  MESSAGE("SKIPPED: this needs root");
  return false;
}

}  // namespace

TEST_CASE("a sealed segment that was passed on carries messages between its ends") {
  auto ours = Segment::create_sealed("test", wanted).value();
  CHECK(ours.is_created());
  auto theirs = Segment::attach(ours.descriptor()).value();
  CHECK_FALSE(theirs.is_created());
  auto producer = ours.producer<SpscRing<std::uint64_t>>("numbers").value();
  auto consumer = theirs.consumer<SpscRing<std::uint64_t>>("numbers").value();
  CHECK(producer.end.try_push(7));
  std::uint64_t got = 0;
  CHECK(consumer.end.try_pop(got));
  CHECK(got == 7);

  auto level = ours.producer<BroadcastValue<double>>("level").value();
  level.end->write(0.5);
  for (int i = 0; i < 3; ++i) {
    auto reader = theirs.consumer<BroadcastValue<double>>("level").value();
    CHECK_FALSE(reader.owner_slot.is_taken());
    double value = 0;
    CHECK(reader.end.read(value) == Freshness::new_data);
    CHECK(value == 0.5);
  }
}

TEST_CASE("nobody can change the size of a sealed segment") {
  const auto segment = Segment::create_sealed("test", wanted).value();
  const auto size = static_cast<off_t>(segment.layout().size());
  CHECK(in_child([&] {
          for (const off_t other : {off_t{0}, off_t{1}, size - 1, size + 1, size * 2}) {
            if (::ftruncate(segment.descriptor(), other) == 0 || errno != EPERM) return 1;
          }
          return ::fallocate(segment.descriptor(), FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 0, 4096) == 0
                     ? 2
                     : 0;
        }) != 1);
  // A hole punched by a peer reads as zeros, without a signal.
  CHECK(segment.layout().memory_of(segment.layout().exchanges()[0]).front() == std::byte{0});
}

TEST_CASE("memory that a peer could cut off is refused") {
  const auto refusal = [](int descriptor) { return error_of(Segment::attach(descriptor)); };
  const auto good = Segment::create_sealed("test", wanted).value();
  const std::vector<std::byte> bytes(good.layout().size());
  for (const int seals : {0, F_SEAL_SHRINK, F_SEAL_GROW}) {
    const int file = ::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    REQUIRE(::ftruncate(file, static_cast<off_t>(bytes.size())) == 0);
    if (seals != 0) REQUIRE(::fcntl(file, F_ADD_SEALS, seals) == 0);
    CHECK(refusal(file) == platform::Errc::not_sealed);
    ::close(file);
  }
  const int zero = ::open("/dev/zero", O_RDWR | O_CLOEXEC);
  CHECK(refusal(zero) == platform::Errc::not_sealed);
  ::close(zero);
  CHECK(refusal(-1) == platform::Errc::segment_failed);
  int pipe_ends[2];
  REQUIRE(::pipe(pipe_ends) == 0);
  CHECK(refusal(pipe_ends[0]) == platform::Errc::not_sealed);
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

TEST_CASE("sealed memory that holds something else is refused by its name") {
  auto random = test::generator(73);
  const auto attach = [&](std::size_t size, auto&& fill) {
    const int file = ::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    std::vector<char> bytes(size);
    fill(bytes);
    REQUIRE(::write(file, bytes.data(), size) == static_cast<ssize_t>(size));
    REQUIRE(::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
    const Error error = error_of(Segment::attach(file));
    ::close(file);
    return error;
  };
  const auto zeros = [](auto&) {};
  CHECK(attach(0, zeros) == shm::Errc::not_ready);
  CHECK(attach(63, zeros) == shm::Errc::wrong_size);
  CHECK(attach(4096, zeros) == shm::Errc::not_ready);
  CHECK(attach(4096, [](auto& bytes) { bytes[0] = 'x'; }) == shm::Errc::not_a_segment);
  const auto good = Segment::create_sealed("test", wanted).value();
  const auto copy = [&](auto& bytes) {
    const auto* begin =
        reinterpret_cast<const char*>(good.layout().memory_of(good.layout().exchanges()[0]).data()) -
        good.layout().exchanges()[0].offset;
    std::copy_n(begin, std::min<std::size_t>(bytes.size(), good.layout().size()), bytes.begin());
  };
  const auto size = static_cast<std::size_t>(good.layout().size());
  CHECK(attach(size, copy) == Error{});
  CHECK(attach(size - 1, copy) == shm::Errc::wrong_size);
  CHECK(attach(size + 1, copy) == shm::Errc::wrong_size);
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(attach(size, [&](auto& bytes) {
            copy(bytes);
            for (std::size_t at = 4; at < 1600; ++at) bytes[at] = static_cast<char>(random());
          }) != Error{});
  }
  SegmentOptions small;
  small.max_bytes = 1024;
  CHECK(error_of(Segment::attach(good.descriptor(), small)) == shm::Errc::wrong_size);
  SegmentOptions foreign;
  foreign.owner = nobody;
  CHECK(error_of(Segment::attach(good.descriptor(), foreign)) == platform::Errc::wrong_owner);
}

TEST_CASE("a place has one owner at a time, and who asks for a taken one is told by whom") {
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

TEST_CASE("what does not fit the segment is refused with an explanation, and leaves no owner slot taken") {
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

TEST_CASE("a child does not inherit a owner slot, and does not keep its parent's taken") {
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

TEST_CASE("owner slots and claims keep the memory when their segment is gone") {
  const auto claimed = [] {
    auto segment = Segment::create_sealed("test", wanted).value();
    return std::pair(segment.producer<SpscRing<std::uint64_t>>("numbers").value(),
                     segment.consumer<BroadcastValue<double>>("level").value());
  };
  auto [producer, reader] = claimed();
  CHECK(producer.end.try_push(1));
  double value = 0;
  CHECK(reader.end.read(value) == Freshness::none);
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

TEST_CASE(
    "one who may only read does not look like an owner, and who finds a owner slot held up by him is told") {
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

TEST_CASE("memory whose pages can be wanting is refused") {
  const int file = ::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
  if (file < 0) {
    MESSAGE("SKIPPED: this system has no huge pages");
    return;
  }
  CHECK(::ftruncate(file, 2 << 20) == 0);
  CHECK(::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
  CHECK(error_of(Segment::attach(file)) == shm::Errc::not_a_segment);
  ::close(file);
}

TEST_CASE("a pipe under the name of a segment is refused, and waited for by nobody") {
  const Name name;
  REQUIRE(::mkfifo(name.path().c_str(), 0600) == 0);
  SegmentOptions monitor;
  monitor.access = Access::read_only;
  CHECK(error_of(Segment::open(name, monitor)) == shm::Errc::not_a_segment);
  CHECK(error_of(Segment::open(name)) == shm::Errc::not_a_segment);
  CHECK(error_of(Segment::check_unused(name)) == shm::Errc::not_a_segment);
}

TEST_CASE("who wants what cannot be touches no segment") {
  const Name name;
  ::close(::open(name.path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const std::array twice = {wanted[0], wanted[0]};
  CHECK(error_of(Segment::open_or_create(name, twice)) == shm::Errc::bad_name);
  CHECK(error_of(Segment::create(name, twice)) == shm::Errc::bad_name);
  CHECK(std::filesystem::exists(name.path()));
}

TEST_CASE("a segment that nobody could attach is not made") {
  const Name name;
  SegmentOptions options;
  options.max_bytes = shm::Layout::bytes(wanted).value() - 1;
  CHECK(error_of(Segment::create(name, wanted, options)) == shm::Errc::does_not_fit);
  CHECK(error_of(Segment::open_or_create(name, wanted, std::chrono::seconds(1), options)) ==
        shm::Errc::does_not_fit);
  CHECK(error_of(Segment::create_sealed(name, wanted, options)) == shm::Errc::does_not_fit);
  CHECK_FALSE(std::filesystem::exists(name.path()));
  ++options.max_bytes;
  CHECK(Segment::create(name, wanted, options));
}

TEST_CASE("a file that somebody gave a name which no segment has is not listed") {
  const Name name;
  const std::string odd = name.path() + "\xff\x1b[2J";
  ::close(::open(odd.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const auto made = Segment::create(name, wanted);
  const auto names = Segment::names();
  ::unlink(odd.c_str());
  const auto begins = [&](const std::string& one) {
    return one.compare(0, std::string(name).size(), name) == 0;
  };
  CHECK(std::count_if(names.begin(), names.end(), begins) == 1);
}

TEST_CASE("who gets a segment gets one that has its name, although others fail to make it") {
  const Name name;
  const Child failing([&] {
    const rlimit one_page{4096, 4096};
    ::signal(SIGXFSZ, SIG_IGN);
    if (::setrlimit(RLIMIT_FSIZE, &one_page) != 0) return 1;
    const std::array large = {declare<RawMemory>("own", 65536)};
    for (;;) (void)Segment::open_or_create(name, large, Duration(0));
  });
  for (std::size_t i = 0; i < test::count(300); ++i) {
    const auto segment = Segment::open_or_create(name, others, std::chrono::seconds(60));
    REQUIRE(segment);
    struct stat about {};
    REQUIRE(::fstat(segment->descriptor(), &about) == 0);
    REQUIRE(about.st_nlink == 1);
    Segment::remove(name);
  }
}

TEST_CASE("who makes a segment is not disturbed by one who looks for debris") {
  const Name name;
  const Child looking([&] {
    for (;;) (void)Segment::check_unused(name);
    return 0;
  });
  for (std::size_t i = 0; i < test::count(200); ++i) {
    REQUIRE(error_of(Segment::create(name, others)) == Error{});
    REQUIRE(Segment::remove(name));
  }
}

TEST_CASE("a named segment is made once, found by its name, and removed") {
  const Name name;
  CHECK(error_of(Segment::open(name)) == platform::Errc::no_such_segment);
  {
    auto made = Segment::create(name, wanted).value();
    struct stat about {};
    REQUIRE(::stat(name.path().c_str(), &about) == 0);
    CHECK((about.st_mode & 07777) == 0600);
    CHECK(error_of(Segment::create(name, wanted)) == platform::Errc::segment_exists);
    (void)made.producer<SpscRing<std::uint64_t>>("numbers")->end.try_push(5);
  }
  auto found = Segment::open(name).value();
  std::uint64_t got = 0;
  CHECK(found.consumer<SpscRing<std::uint64_t>>("numbers")->end.try_pop(got));  // it outlives its processes
  CHECK(got == 5);
  CHECK(Segment::remove(name));
  CHECK(error_of(Segment::remove(name)) == platform::Errc::no_such_segment);
  for (const char* bad : {"", "a/b", "../x", "a b", ""}) {
    CHECK(error_of(Segment::create(bad, wanted)) == platform::Errc::bad_segment_name);
    CHECK(error_of(Segment::open(bad)) == platform::Errc::bad_segment_name);
    CHECK(error_of(Segment::remove(bad)) == platform::Errc::bad_segment_name);
  }
  const std::array twice = {wanted[0], wanted[0]};
  CHECK(error_of(Segment::create(name, twice)) == shm::Errc::bad_name);
  CHECK(error_of(Segment::open(name)) == platform::Errc::no_such_segment);  // the name is gone
}

TEST_CASE("a named segment that others may open, or that is a link, is refused") {
  const Name name;
  { const auto made = Segment::create(name, wanted).value(); }
  for (const mode_t mode : {0640u, 0602u, 0660u, 0666u}) {
    REQUIRE(::chmod(name.path().c_str(), mode) == 0);
    CHECK(error_of(Segment::open(name)) == platform::Errc::wrong_mode);
    CHECK(error_of(Segment::open_or_create(name, wanted)) == platform::Errc::wrong_mode);
    CHECK(error_of(Segment::remove_unused(name)) == platform::Errc::wrong_mode);
  }
  REQUIRE(Segment::remove(name));
  REQUIRE(::symlink("/etc/passwd", name.path().c_str()) == 0);
  CHECK(error_of(Segment::open(name)) == platform::Errc::segment_failed);
  CHECK(error_of(Segment::create(name, wanted)) == platform::Errc::segment_exists);
  CHECK(error_of(Segment::remove_unused(name)) == platform::Errc::segment_failed);
}

TEST_CASE("a named segment that was cut off or overwritten is refused without a signal") {
  const Name name;
  { const auto made = Segment::create(name, wanted).value(); }
  const auto size = std::filesystem::file_size(name.path());
  for (const std::uintmax_t other :
       {std::uintmax_t{0}, std::uintmax_t{1}, std::uintmax_t{4000}, size - 1, size + 1}) {
    std::filesystem::resize_file(name.path(), other);
    const Error error = error_of(Segment::open(name));
    CHECK((error == shm::Errc::not_ready || error == shm::Errc::wrong_size));
  }
  std::ofstream(name.path(), std::ios::binary) << std::string(8000, 'x');
  CHECK(error_of(Segment::open(name)) == shm::Errc::not_a_segment);
  CHECK(error_of(Segment::open_or_create(name, wanted)) == shm::Errc::not_a_segment);
  CHECK(error_of(Segment::remove_unused(name)) == shm::Errc::not_a_segment);
}

TEST_CASE("who opens or makes a segment makes it, or finds it as it was left") {
  const Name name;
  {
    auto first = Segment::open_or_create(name, wanted).value();
    CHECK(first.is_created());
    CHECK(first.owner_slot().is_taken());
    auto second = Segment::open_or_create(name, wanted).value();
    CHECK_FALSE(second.is_created());
    CHECK_FALSE(second.owner_slot().is_taken());
    (void)first.producer<SpscRing<std::uint64_t>>("numbers")->end.try_push(5);
  }
  auto third = Segment::open_or_create(name, wanted).value();
  CHECK_FALSE(third.is_created());
  CHECK(third.owner_slot().is_taken());
  std::uint64_t got = 0;
  CHECK(third.consumer<SpscRing<std::uint64_t>>("numbers")->end.try_pop(got));
  CHECK(got == 5);
}

TEST_CASE("a segment whose maker died before it was ready is made anew") {
  const Name name;
  const int file = ::open(name.path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(::ftruncate(file, 8192) == 0);
  ::close(file);
  CHECK(error_of(Segment::open(name)) == shm::Errc::not_ready);
  const auto made = Segment::open_or_create(name, wanted).value();
  CHECK(made.is_created());
  CHECK(Segment::open(name));
}

TEST_CASE("a segment whose maker is still at work is waited for, and not for ever") {
  const Name name;
  const int file = ::open(name.path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(::ftruncate(file, 8192) == 0);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_start = 1;  // owner slot 0
  lock.l_len = 1;
  REQUIRE(::fcntl(file, F_OFD_SETLK, &lock) == 0);
  CHECK(error_of(Segment::open_or_create(name, wanted, std::chrono::milliseconds(20))) ==
        shm::Errc::not_ready);
  ::close(file);
  CHECK(Segment::open_or_create(name, wanted)->is_created());
}

TEST_CASE("a segment with other exchanges is replaced when nobody has it, and only then") {
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

TEST_CASE("debris is what nobody has: of the living nothing is removed") {
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

TEST_CASE("of eight that start at once one makes the segment") {
  const Name name;
  for (std::size_t round = 0; round < test::count(200); ++round) {
    const test::Signal ready;
    const test::Signal start;
    const test::Signal done;
    const test::Signal end;
    std::vector<Child> starters;
    for (int i = 0; i < 8; ++i) {
      starters.emplace_back([&] {
        ready.give();
        start.wait();
        // A long timeout: the test checks who creates the segment, not when.
        auto segment = Segment::open_or_create(name, wanted, std::chrono::seconds(60));
        done.give();
        end.wait();  // all have it at the same time
        if (!segment) return 2;
        return segment->is_created() ? 1 : 0;
      });
    }
    for (int i = 0; i < 8; ++i) ready.wait();
    for (int i = 0; i < 8; ++i) start.give();
    for (int i = 0; i < 8; ++i) done.wait();
    for (int i = 0; i < 8; ++i) end.give();
    int made = 0;
    for (Child& starter : starters) {
      const int code = starter.wait();
      REQUIRE(code <= 1);
      made += code;
    }
    REQUIRE(made == 1);
    if (round % 2 == 0) REQUIRE(Segment::remove_unused(name));
    if (round % 2 == 1) {  // the next round finds the unfinished segment of a dead process
      REQUIRE(Segment::remove(name));
      const int file = ::open(name.path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
      REQUIRE(::ftruncate(file, 8192) == 0);
      ::close(file);
    }
  }
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

TEST_CASE("descriptors do not leak, neither from what succeeds nor from what is refused") {
  const Name name;
  const std::size_t before = open_files();
  for (int i = 0; i < 3; ++i) {
    auto sealed = Segment::create_sealed("test", wanted).value();
    auto attached = Segment::attach(sealed.descriptor()).value();
    auto claim = attached.producer<SpscRing<std::uint64_t>>("numbers").value();
    CHECK_FALSE(sealed.producer<SpscRing<std::uint64_t>>("numbers"));
    auto named = Segment::open_or_create(name, wanted).value();
    CHECK_FALSE(Segment::create(name, wanted));
    CHECK_FALSE(Segment::open_or_create(name, others, std::chrono::milliseconds(3)));
    CHECK_FALSE(Segment::check_unused(name));
    auto moved = std::move(named);
    named = std::move(moved);
  }
  CHECK(open_files() == before);
  const auto segment = Segment::create_sealed("test", wanted).value();
  CHECK((::fcntl(segment.descriptor(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("another user can neither open our segment nor pass off his own as ours") {
  if (!is_root()) return;
  const Name name;
  auto segment = Segment::create(name, wanted).value();
  const auto as_nobody = [](const std::function<int()>& work) {
    return in_child([&] {
      if (::setgid(nobody) != 0 || ::setuid(nobody) != 0) return 100;
      return work();
    });
  };
  CHECK(as_nobody([&] { return error_of(Segment::open(name)) == platform::Errc::wrong_owner ? 0 : 1; }) == 0);
  CHECK(as_nobody([&] { return Segment::remove(name) ? 1 : 0; }) == 0);
  CHECK(as_nobody([&] {
          return error_of(Segment::remove_unused(name)) == platform::Errc::wrong_owner ? 0 : 1;
        }) == 0);
  const std::string sealed = fmt::format("/proc/{}/fd/{}", ::getpid(), segment.descriptor());
  CHECK(as_nobody([&] { return ::open(sealed.c_str(), O_RDWR) < 0 ? 0 : 1; }) == 0);
  REQUIRE(Segment::remove(name));
  // With this segment's name and an open mode.
  REQUIRE(as_nobody([&] {
            auto his = Segment::create(name, wanted);
            return his && ::chmod(name.path().c_str(), 0666) == 0 ? 0 : 1;
          }) == 0);
  CHECK(error_of(Segment::open(name)) == platform::Errc::wrong_owner);
  CHECK(error_of(Segment::open_or_create(name, wanted)) == platform::Errc::wrong_owner);
  CHECK(error_of(Segment::create(name, wanted)) == platform::Errc::segment_exists);
  CHECK(error_of(Segment::remove_unused(name)) == platform::Errc::wrong_owner);
}

TEST_CASE("a full file system is an error, not a signal") {
  if (!is_root()) return;
  const Name name;
  const int code = in_child([&] {
    // A file system of one page, mounted for this child only.
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", "/dev/shm", "tmpfs", 0, "size=4096") != 0) {
      return 100;
    }
    const std::array large = {declare<RawMemory>("own", 65536)};
    if (error_of(Segment::create(name, large)) != platform::Errc::memory_full) return 1;
    if (error_of(Segment::open_or_create(name, large)) != platform::Errc::memory_full) return 2;
    if (error_of(Segment::open(name)) != platform::Errc::no_such_segment) return 3;
    const int file =
        ::open(name.path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);  // the whole file is a hole
    if (::ftruncate(file, 65536) != 0 || error_of(Segment::open(name)) != platform::Errc::memory_full)
      return 5;
    if (!Segment::remove(name)) return 6;
    ::close(file);
    const std::array small = {declare<RawMemory>("own", 1024)};
    auto segment = Segment::create(name, small);
    if (!segment) return 4;
    auto memory = segment->producer<RawMemory>("own");
    memory->end[1023] = std::byte{1};
    return 0;
  });
  if (code == 100) {
    MESSAGE("SKIPPED: this needs the right to mount");
  } else {
    CHECK(code == 0);
  }
}

TEST_CASE("memory that may not be locked says so and can be used") {
  if (!is_root()) return;
  constexpr int not_limited = 100;
  const int code = in_child([] {
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_MEMLOCK, &none) != 0 || ::setgid(nobody) != 0 || ::setuid(nobody) != 0) return 1;
    const int on_the_stack = 0;
    if (::mlock(&on_the_stack, sizeof on_the_stack) == 0) return not_limited;
    SegmentOptions options;
    options.lock_memory = true;
    auto segment = Segment::create_sealed("test", wanted, options);
    if (!segment || !segment->memory_lock_failure()) return 2;
    if (segment->memory_lock_failure()->message.find("ulimit -l") == std::string::npos) return 3;
    return segment->producer<SpscRing<std::uint64_t>>("numbers") ? 0 : 4;
  });
  if (code == not_limited) {
    MESSAGE("SKIPPED: the sanitizer lets mlock() do nothing");
  } else {
    CHECK(code == 0);
  }
  SegmentOptions options;
  options.lock_memory = true;
  CHECK_FALSE(Segment::create_sealed("test", wanted, options)->memory_lock_failure());
}
