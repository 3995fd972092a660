#include "takt/platform/segment_server.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/children.hpp"

using namespace takt;
using namespace takt::platform;
using namespace takt::shm;
using namespace std::chrono_literals;
using test::Child;
using test::in_child;

namespace {

constexpr std::array wanted = {declare<SpscRing<std::uint64_t>>("numbers", 16),
                               declare<BroadcastValue<double>>("level")};
constexpr uid_t nobody = 65534;
// A timeout for any machine; only a failure reaches it.
constexpr Duration patience = 60s;
constexpr Duration at_once = 0s;

std::string path() { return fmt::format("/tmp/takt-test-{}", ::getpid()); }
std::string abstract_path() { return fmt::format("@takt-test-{}", ::getpid()); }

Segment made() { return Segment::create_sealed("test", wanted).value(); }

template <class T>
Error error_of(const SetupResult<T>& result) {
  return result ? Error{} : result.error().error;
}

std::size_t open_files() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

bool is_root() {
  if (::geteuid() == 0) return true;
  MESSAGE("SKIPPED: this needs root");
  return false;
}

int as_nobody(const std::function<int()>& work) {
  return in_child([&] {
    if (::setgid(nobody) != 0 || ::setuid(nobody) != 0) return 100;
    return work();
  });
}

/// A socket at `name` whose other side the test plays.
int bare_socket(const std::string& name, bool listens) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), address.sun_path);
  if (name.front() == '@') address.sun_path[0] = '\0';
  const auto size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + (name.front() == '@' ? 0 : 1));
  const int made_socket = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const auto* where = reinterpret_cast<const sockaddr*>(&address);
  if (listens) {
    REQUIRE(::bind(made_socket, where, size) == 0);
    REQUIRE(::listen(made_socket, 4) == 0);
  } else {
    REQUIRE(::connect(made_socket, where, size) == 0);
  }
  return made_socket;
}

}  // namespace

TEST_CASE("a segment comes over a socket to another process, which works with it") {
  for (const std::string& where : {path(), abstract_path()}) {
    auto segment = made();
    SegmentServer server;
    REQUIRE(server.open(where, segment));
    CHECK(in_child([&] {
            auto ours = receive_segment(where, patience);
            if (!ours) return 1;
            auto producer = ours->producer<SpscRing<std::uint64_t>>("numbers");
            return producer && producer->end.try_push(7) ? 0 : 2;
          }) == 0);
    auto consumer = segment.consumer<SpscRing<std::uint64_t>>("numbers").value();
    std::uint64_t got = 0;
    CHECK(consumer.end.try_pop(got));
    CHECK(got == 7);
  }
  CHECK_FALSE(std::filesystem::exists(path()));  // the server removed it
}

TEST_CASE("each who receives a segment has owner slots of its own") {
  auto segment = made();
  SegmentServer server;
  REQUIRE(server.open(abstract_path(), segment));
  auto first = receive_segment(abstract_path(), patience).value();
  auto second = receive_segment(abstract_path(), patience).value();
  const auto owner_slot = first.take_owner_slot("numbers", Role::producer).value();
  CHECK(error_of(second.take_owner_slot("numbers", Role::producer)) == platform::Errc::slot_taken);
  CHECK(error_of(segment.take_owner_slot("numbers", Role::producer)) == platform::Errc::slot_taken);
}

TEST_CASE("a socket for this user alone refuses other users") {
  auto segment = made();
  SegmentServer server;
  REQUIRE(server.open(path(), segment));
  struct stat about {};
  REQUIRE(::stat(path().c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0600);
}

TEST_CASE("another user gets what was said for him, and no more") {
  if (!is_root()) return;
  auto segment = made();
  SegmentServer server;
  SegmentOptions monitor;
  monitor.access = Access::read_only;
  const std::string where = path();
  const std::string hidden = abstract_path();
  const auto write = [&] {
    return error_of(receive_segment(where, patience)) == platform::Errc::not_allowed ? 0 : 1;
  };
  const auto watch = [&] {
    auto got = receive_segment(where, patience, monitor);
    if (!got) return 1;
    const std::string again = fmt::format("/proc/self/fd/{}", got->descriptor());
    if (::open(again.c_str(), O_RDWR) >= 0)
      return 2;  // a read-only descriptor cannot be reopened for writing
    return got->consumer<BroadcastValue<double>>("level") ? 0 : 3;
  };

  REQUIRE(server.open(hidden, segment));
  CHECK(as_nobody([&] {
          return error_of(receive_segment(hidden, patience, monitor)) == platform::Errc::not_allowed ? 0 : 1;
        }) == 0);
  REQUIRE(server.open(where, segment));
  CHECK(as_nobody([&] {
          return error_of(receive_segment(where, at_once)) == platform::Errc::connect_failed ? 0 : 1;
        }) == 0);
  SegmentServerOptions options;
  options.watchers = {nobody};
  REQUIRE(server.open(where, segment, options));
  CHECK(as_nobody(write) == 0);
  CHECK(as_nobody(watch) == 0);
  options.users = {nobody};
  REQUIRE(server.open(where, segment, options));
  CHECK(as_nobody([&] {
          auto got = receive_segment(where, patience);
          return got && got->producer<SpscRing<std::uint64_t>>("numbers") ? 0 : 1;
        }) == 0);
}

TEST_CASE(
    "another user's owner slots have one owner at a time, and die with it although a child of it lives") {
  if (!is_root()) return;
  auto segment = made();
  SegmentServer server;
  SegmentServerOptions options;
  options.users = {nobody};
  const std::string where = abstract_path();
  REQUIRE(server.open(where, segment, options));
  const test::Signal ready;
  const test::Signal end;
  Child owner([&] {
    if (::setgid(nobody) != 0 || ::setuid(nobody) != 0) return 1;
    auto his = receive_segment(where, patience);
    if (!his) return 2;
    const auto owner_slot = his->take_owner_slot("numbers", Role::producer);
    if (!owner_slot) return 3;
    if (error_of(his->take_owner_slot("numbers", Role::producer)) != platform::Errc::slot_taken) return 4;
    if (!his->take_owner_slot("numbers", Role::consumer)) return 5;  // and releases it
    if (!his->owner_slot_status("numbers", Role::producer, 0, Time{})->alive) return 6;
    if (his->owner_slot_status("numbers", Role::consumer, 0, Time{})->alive) return 7;
    const pid_t child = ::fork();
    if (child == 0) {
      if (!owner_slot->is_taken()) ready.give();
      end.wait();
      ::_exit(0);
    }
    ::pause();
    return 0;
  });
  ready.wait();
  CHECK(segment.owner_slot_status("numbers", Role::producer, 0, Time{})->alive);
  CHECK_FALSE(segment.owner_slot_status("numbers", Role::consumer, 0, Time{})->alive);
  CHECK(error_of(segment.take_owner_slot("numbers", Role::producer)) == platform::Errc::slot_taken);
  CHECK(owner.kill() == 128 + SIGKILL);
  CHECK(segment.take_owner_slot("numbers", Role::producer));
  end.give();
}

TEST_CASE("a server of another user is not trusted") {
  if (!is_root()) return;
  const test::Signal ready;
  const Child his([&] {
    if (::setgid(nobody) != 0 || ::setuid(nobody) != 0) return 1;
    auto segment = made();
    SegmentServer server;
    SegmentServerOptions options;
    options.users = {0};
    if (!server.open(path(), segment, options)) return 2;
    ready.give();
    ::pause();
    return 0;
  });
  ready.wait();
  const std::string where = fmt::format("/tmp/takt-test-{}", his.pid());
  CHECK(error_of(receive_segment(where, patience)) == platform::Errc::wrong_owner);
  SegmentOptions his_too;
  his_too.owner = nobody;
  CHECK(receive_segment(where, patience, his_too));
  std::filesystem::remove(where);
}

TEST_CASE("the socket of a dead server is replaced, that of a running one is not") {
  const std::string where = path();
  ::close(bare_socket(where, true));
  REQUIRE(std::filesystem::exists(where));
  CHECK(error_of(receive_segment(where, at_once)) == platform::Errc::connect_failed);
  auto segment = made();
  SegmentServer first;
  REQUIRE(first.open(where, segment));
  SegmentServer second;
  CHECK(error_of(second.open(where, segment)) == platform::Errc::listen_failed);
  second.close();
  CHECK(receive_segment(where, patience));  // the failure did not remove the path
  first.close();
  CHECK_FALSE(std::filesystem::exists(where));
  std::ofstream(where) << "somebody's work";
  CHECK(error_of(first.open(where, segment)) == platform::Errc::listen_failed);
  CHECK(std::filesystem::file_size(where) == 15);
  std::filesystem::remove(where);
}

TEST_CASE("of servers that start at once where a dead one was, one serves") {
  for (int round = 0; round < 20; ++round) {
    const std::string where = path();
    ::close(bare_socket(where, true));
    const test::Signal ready;
    const test::Signal start;
    const test::Signal done;
    const test::Signal end;
    std::vector<Child> starters;
    for (int i = 0; i < 4; ++i) {
      starters.emplace_back([&] {
        auto segment = made();
        SegmentServer server;
        ready.give();
        start.wait();
        const bool serves = server.open(where, segment).has_value();
        done.give();
        end.wait();
        return serves ? 1 : 0;
      });
    }
    for (int i = 0; i < 4; ++i) ready.wait();
    for (int i = 0; i < 4; ++i) start.give();
    for (int i = 0; i < 4; ++i) done.wait();
    CHECK(receive_segment(where, patience));
    for (int i = 0; i < 4; ++i) end.give();
    int serving = 0;
    for (Child& starter : starters) serving += starter.wait();
    CHECK(serving == 1);
    std::filesystem::remove(where);
  }
}

TEST_CASE("who may not be kept waiting does not wait for somebody who has locked the folder") {
  std::string folder = path() + "-XXXXXX";
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  const int somebody = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(::flock(somebody, LOCK_EX) == 0);
  auto segment = made();
  SegmentServer server;
  SegmentServerOptions options;
  options.lock_patience = at_once;
  CHECK(error_of(server.open(folder + "/socket", segment, options)) == platform::Errc::listen_failed);
  ::close(somebody);
  CHECK(server.open(folder + "/socket", segment, options));
  server.close();
  std::filesystem::remove_all(folder);
}

TEST_CASE("a server that was killed is replaced although a child of it lives") {
  const std::string where = path();
  const test::Signal ready;
  const test::Signal end;
  Child server_process([&] {
    auto segment = made();
    SegmentServer server;
    if (!server.open(where, segment)) return 1;
    if (::fork() == 0) {
      server.close();
      if (std::filesystem::exists(where)) ready.give();  // the path belongs to the parent
      end.wait();
      ::_exit(0);
    }
    ::pause();
    return 0;
  });
  ready.wait();
  CHECK(receive_segment(where, patience));
  server_process.kill();
  auto segment = made();
  SegmentServer server;
  CHECK(server.open(where, segment));
  end.give();
}

TEST_CASE("paths that cannot be, and segments that could be cut off, are refused") {
  auto segment = made();
  SegmentServer server;
  CHECK(error_of(server.open("", segment)) == platform::Errc::listen_failed);
  CHECK(error_of(server.open("/tmp/" + std::string(200, 'x'), segment)) == platform::Errc::listen_failed);
  CHECK(error_of(server.open("/nowhere/at/all", segment)) == platform::Errc::listen_failed);
  CHECK(error_of(receive_segment("", at_once)) == platform::Errc::connect_failed);
  CHECK(error_of(receive_segment("/nowhere/at/all", at_once)) == platform::Errc::connect_failed);
  const std::string name = fmt::format("test-{}", ::getpid());
  const auto named = Segment::create(name, wanted).value();
  CHECK(error_of(server.open(path(), named)) == platform::Errc::not_sealed);
  CHECK(Segment::remove(name));
}

TEST_CASE("who waits for a server gets its segment when it comes") {
  const test::Signal started;
  Child client([&] {
    started.give();
    return receive_segment(fmt::format("@takt-test-{}", ::getppid()), patience) ? 0 : 1;
  });
  started.wait();
  auto segment = made();
  SegmentServer server;
  REQUIRE(server.open(abstract_path(), segment));
  CHECK(client.wait() == 0);
}

TEST_CASE("the longest time limit that there is waits, and does not run over") {
  const test::Signal started;
  Child client([&] {
    started.give();
    return receive_segment(fmt::format("@takt-test-{}", ::getppid()), Duration::max()) ? 0 : 1;
  });
  started.wait();
  std::this_thread::sleep_for(20ms);  // probably it waits by now
  auto segment = made();
  SegmentServer server;
  REQUIRE(server.open(abstract_path(), segment));
  CHECK(client.wait() == 0);
}

TEST_CASE("a server that is there has time to answer who does not wait for one to come") {
  const std::string where = abstract_path();
  const int listener = bare_socket(where, true);
  const Child server([&] {
    for (;;) {
      const int client = ::accept(listener, nullptr, nullptr);
      char asked = 0;
      ::recv(client, &asked, 1, 0);
      std::this_thread::sleep_for(10ms);
      ::send(client, "n", 1, MSG_NOSIGNAL);
      ::close(client);
    }
    return 0;
  });
  // On a busy machine even this time can be too short. Then try again.
  Error error(platform::Errc::receive_failed);
  for (int i = 0; i < 200 && error == platform::Errc::receive_failed; ++i) {
    error = error_of(receive_segment(where, at_once));
  }
  CHECK(error == platform::Errc::not_allowed);
  ::close(listener);
}

TEST_CASE("silent and malformed clients do not keep others from the segment") {
  auto segment = made();
  SegmentServer server;
  SegmentServerOptions options;
  options.max_clients = 4;
  options.client_deadline = 20ms;
  REQUIRE(server.open(abstract_path(), segment, options));
  std::vector<int> silent;
  for (int i = 0; i < 4; ++i) silent.push_back(bare_socket(abstract_path(), false));
  for (const std::string& nonsense : {std::string("x"), std::string(1000, 'w'), std::string("\0", 1)}) {
    const int client = bare_socket(abstract_path(), false);
    CHECK(::send(client, nonsense.data(), nonsense.size(), MSG_NOSIGNAL) > 0);
    silent.push_back(client);
  }
  CHECK(receive_segment(abstract_path(), patience));
  for (const int client : silent) ::close(client);
}

TEST_CASE("an answer with other descriptors, or none, is refused and leaves none open") {
  const std::string where = abstract_path();
  for (const std::size_t count : {0u, 1u, 2u, 20u}) {
    const std::size_t before = open_files();
    const int listener = bare_socket(where, true);
    const Child server([&] {
      const int client = ::accept(listener, nullptr, nullptr);
      char answer = 'y';
      iovec data{&answer, 1};
      msghdr message{};
      message.msg_iov = &data;
      message.msg_iovlen = 1;
      alignas(cmsghdr) std::array<char, CMSG_SPACE(20 * sizeof(int))> control{};
      if (count != 0) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(count * sizeof(int));
        for (std::size_t i = 0; i < count; ++i) {
          const int descriptor = 0;
          std::memcpy(CMSG_DATA(header) + i * sizeof descriptor, &descriptor, sizeof descriptor);
        }
      }
      ::sendmsg(client, &message, 0);
      ::pause();
      return 0;
    });
    const Error expected =
        count == 1 ? Error(platform::Errc::not_sealed) : Error(platform::Errc::receive_failed);
    CHECK(error_of(receive_segment(where, patience)) == expected);
    ::close(listener);
    CHECK(open_files() == before);
  }
}

TEST_CASE("a server gives back all that it has, and can serve again") {
  const std::size_t before = open_files();
  for (int i = 0; i < 10; ++i) {
    auto segment = made();
    SegmentServer server;
    REQUIRE(server.open(path(), segment));
    CHECK(receive_segment(path(), patience));
    CHECK_FALSE(server.open("/nowhere/at/all", segment));
    REQUIRE(server.open(path(), segment));
    CHECK(receive_segment(path(), patience));
  }
  CHECK(open_files() == before);
}

TEST_CASE("the server's thread takes no signals from other threads") {
  auto segment = made();
  SegmentServer server;
  REQUIRE(server.open(abstract_path(), segment));
  sigset_t signals;
  sigset_t before;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &signals, &before);
  ::kill(::getpid(), SIGUSR1);
  int got = 0;
  CHECK(::sigwait(&signals, &got) == 0);
  CHECK(got == SIGUSR1);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}
