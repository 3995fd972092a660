// A named segment is made once, found by its name, and removed. Wrong files, other users and a full file
// system are errors that say so.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "platform/segment_names.hpp"
#include "support/children.hpp"
#include "support/random.hpp"

using namespace takt;
using namespace takt::platform;
using namespace takt::shm;
using namespace takt::test::segments;
using test::Child;
using test::in_child;

TEST_CASE("a pipe under the name of a segment is refused without waiting") {
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

TEST_CASE("a segment that no process could attach is not created") {
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

TEST_CASE("a file with a name that no segment can have is not listed") {
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
