// Tests sealed segments: memory that a peer can neither cut off nor resize, with the exchanges that both ends
// expect. Memory with other content is refused by its name.
#include "takt/platform/segment.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "platform/segment_names.hpp"
#include "support/children.hpp"
#include "support/random.hpp"

using namespace takt;
using namespace takt::platform;
using namespace takt::shm;
using namespace takt::test::segments;
using test::in_child;

namespace {

std::size_t open_files() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
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

TEST_CASE("no process can change the size of a sealed segment") {
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
