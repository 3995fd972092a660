#include "takt/rt/thread_setup.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "support/sanitizers.hpp"

using namespace takt;
using namespace takt::rt;

namespace {

/// The output of a child process. Set-ups change their process for good, so each one runs in a child.
std::string in_child(const std::function<std::string()>& body) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    close(ends[0]);
    const std::string text = body();
    const bool written = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  return text;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Switches to a user without the rights to real-time scheduling and locked memory.
std::string lose_all_rights() {
  const rlimit none{0, 0};
  if (setrlimit(RLIMIT_RTPRIO, &none) != 0 || setrlimit(RLIMIT_MEMLOCK, &none) != 0)
    return "setrlimit failed";
  constexpr uid_t nobody = 65534;
  if (geteuid() == 0 && (setgid(nobody) != 0 || setuid(nobody) != 0)) return "setuid failed";
  return "";
}

std::string result_text(const SetupResult<ThreadSetup>& setup) {
  if (setup) return setup->text();
  return std::string("failed: ") + std::string(describe(static_cast<Errc>(setup.error().error.code))) + "; " +
         setup.error().message;
}

}  // namespace

TEST_CASE("nothing is asked for, nothing is done") {
  const auto setup = set_up_thread({});
  REQUIRE(setup);
  CHECK(setup->measures().empty());
  CHECK(setup->all_granted());
  CHECK(setup->text().empty());
}

TEST_CASE("a configuration that makes no sense is refused by name") {
  ThreadConfig config;
  config.fifo = Want::attempt;
  for (const int priority : {0, -1, 100}) {
    config.priority = priority;
    const auto setup = set_up_thread(config);
    REQUIRE_FALSE(setup);
    CHECK(setup.error().error == Errc::bad_priority);
    CHECK(contains(setup.error().message, std::to_string(priority)));
  }
  config = {};
  config.affinity = Want::attempt;
  CHECK(set_up_thread(config).error().error == Errc::bad_cores);
  for (const int core : {-1, 1024, 1 << 30}) {
    config.cores = {0, core};
    const auto setup = set_up_thread(config);
    REQUIRE_FALSE(setup);
    CHECK(setup.error().error == Errc::bad_cores);
  }
}

TEST_CASE("a core that does not exist is reported, and fails where enforced") {
  const std::string text = in_child([] {
    ThreadConfig config;
    config.affinity = Want::attempt;
    config.cores = {1023};
    std::string report = result_text(set_up_thread(config));
    config.affinity = Want::enforce;
    return report + result_text(set_up_thread(config));
  });
  CHECK(contains(text, "affinity: refused"));
  CHECK(contains(text, "failed: "));
  CHECK(contains(text, "1023"));
}

TEST_CASE("what needs no permission is granted, and takes effect") {
  const std::string text = in_child([] {
    ThreadConfig config;
    config.affinity = Want::enforce;
    cpu_set_t open;
    CPU_ZERO(&open);
    sched_getaffinity(0, sizeof(open), &open);
    for (int core = 0; core < CPU_SETSIZE && config.cores.empty(); ++core) {
      if (CPU_ISSET(static_cast<std::size_t>(core), &open)) config.cores = {core};
    }
    config.timer_slack = Want::enforce;
    config.stack = Want::enforce;
#ifndef TAKT_ADDRESS_SANITIZED  // its own allocator has no such setting
    config.keep_heap = Want::enforce;
#endif
    const std::string granted = result_text(set_up_thread(config));  // before the request for the core
    return granted + "on core " + std::to_string(sched_getcpu() - config.cores.front());
  });
  CAPTURE(text);
  for (const char* name : {"affinity", "timer_slack", "stack"})
    CHECK(contains(text, std::string(name) + ": granted"));
#ifndef TAKT_ADDRESS_SANITIZED
  CHECK(contains(text, "keep_heap: granted"));
#endif
  CHECK(contains(text, "on core 0"));
}

TEST_CASE("a stack that is too small is not overrun") {
  ThreadConfig config;
  config.stack = Want::attempt;
  config.stack_bytes = std::size_t{1} << 40;
  std::string text;
  std::thread([&] { text = result_text(set_up_thread(config)); }).join();
  CHECK(contains(text, "stack: refused"));
}

TEST_CASE("without rights: each measure that needs one is refused with the reason and what would help") {
  const std::string text = in_child([] {
    const std::string problem = lose_all_rights();
    return problem + result_text(set_up_thread(ThreadConfig::all(Want::attempt, 80)));
  });
  CHECK(contains(
      text, "fifo: refused, Operation not permitted: needs CAP_SYS_NICE or RLIMIT_RTPRIO >= 80 (it is 0)"));
  CHECK(contains(text, "timer_slack: granted"));
  CHECK(contains(text, "wake_up_latency: refused, "));
#ifndef TAKT_SANITIZED  // these turn mlockall() into nothing
  CHECK(contains(text, "lock_memory: refused, "));
  CHECK(contains(text, "RLIMIT_MEMLOCK (it is 0 bytes)"));
#endif
}

TEST_CASE("without rights: what is enforced fails the set-up, by name") {
  const std::string text = in_child([] {
    const std::string problem = lose_all_rights();
    return problem + result_text(set_up_thread(ThreadConfig::all(Want::enforce, 80)));
  });
  CHECK(contains(text, "failed: the operating system does not permit it; fifo: Operation not permitted"));
}

TEST_CASE("with a limit that allows it: an ordinary user gets its priority, and no higher one") {
  const std::string text = in_child([] {
    const rlimit ten{10, 10};
    if (setrlimit(RLIMIT_RTPRIO, &ten) != 0) return std::string("cannot raise the limit");
    if (setgid(65534) != 0 || setuid(65534) != 0) return std::string("cannot change the user");
    ThreadConfig config;
    config.fifo = Want::attempt;
    config.priority = 11;
    std::string report = result_text(set_up_thread(config));
    config.priority = 10;
    report += result_text(set_up_thread(config));
    return report + "class " + std::to_string(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK);
  });
  if (contains(text, "cannot") || contains(text, "cpu.rt_runtime_us")) {
    MESSAGE("skipped: this process may not give a child the right: " << text);
    return;
  }
  CAPTURE(text);
  CHECK(contains(text, "RLIMIT_RTPRIO >= 11 (it is 10)"));
  CHECK(contains(text, "fifo: granted, SCHED_FIFO, priority 10"));
  CHECK(contains(text, "class " + std::to_string(SCHED_FIFO)));
}

TEST_CASE("a thread with a priority keeps it to itself: those that it starts have none") {
  const std::string text = in_child([] {
    ThreadConfig config;
    config.fifo = Want::attempt;
    config.priority = 1;
    std::string report = result_text(set_up_thread(config));
    std::thread([&report] { report += "class " + std::to_string(sched_getscheduler(0)); }).join();
    return report;
  });
  if (contains(text, "fifo: refused")) {
    MESSAGE("skipped: this process may not have a priority: " << text);
    return;
  }
  CAPTURE(text);
  CHECK(contains(text, "class " + std::to_string(SCHED_OTHER)));
}

TEST_CASE("in a cpu cgroup without real-time runtime: refused, and the report says that it is the cgroup") {
  const std::string group = "/sys/fs/cgroup/cpu/takt_test_" + std::to_string(getpid());
  if (mkdir(group.c_str(), 0700) != 0 || access((group + "/cpu.rt_runtime_us").c_str(), F_OK) != 0) {
    MESSAGE("skipped: no cpu cgroup with real-time groups can be made here ("
            << std::string(std::strerror(errno)) << ")");
    rmdir(group.c_str());
    return;
  }
  const std::string text = in_child([&] {
    std::ofstream(group + "/tasks") << getpid() << std::flush;
    ThreadConfig config;
    config.fifo = Want::attempt;
    return result_text(set_up_thread(config));
  });
  CHECK(rmdir(group.c_str()) == 0);
  CHECK(contains(text, "fifo: refused, Operation not permitted"));
  CHECK(contains(text, "cpu.rt_runtime_us"));
}
