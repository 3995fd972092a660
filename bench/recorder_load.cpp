// What recording costs besides the loop: 20 joints at 4 kHz and 10 ports, for a time in real time. It prints
// the time of a processor that the recorder's thread took, as a share of a core, and what was dropped. The
// file is compressed where zstd is there, and removed at the end.
//
//   recorder_load [--seconds S] [--json FILE]
#include <fmt/format.h>
#include <time.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "takt/platform/hybrid_clock.hpp"
#include "takt/record/recorder.hpp"
#ifdef TAKT_WITH_ZSTD
#include "takt/record/zstd.hpp"
#endif
#include "takt/rt/periodic_loop.hpp"
#include "takt/rt/thread_setup.hpp"
#include "takt/shm/schema.hpp"

namespace {

using namespace takt;

constexpr std::size_t joints = 20;
constexpr std::size_t ports = 10;
constexpr auto period = std::chrono::microseconds(250);

/// The value of a port, as a controller may have it.
struct PortValue {
  double position = 0, velocity = 0, torque = 0;
  std::uint32_t count = 0;
  TAKT_FIELDS(PortValue, position, velocity, torque, count)
};

double seconds_of(const timespec& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
double processor_time(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return seconds_of(time);
}

record::Metadata metadata() {
  record::Metadata made;
  made.robot = "humanoid";
  made.period = period;
  for (std::size_t i = 0; i < joints; ++i) made.joints.push_back(fmt::format("joint_{}", i));
  return made;
}

/// A motion whose numbers do not repeat, as those of a robot. Others would be compressed too well.
double wave(double time, std::size_t joint) {
  const double slow = time * (0.1 + 0.01 * static_cast<double>(joint));
  return slow - static_cast<double>(static_cast<std::int64_t>(slow)) + 1e-7 * slow * slow;
}

/// Runs the loop in this thread, and returns the processor time that it took.
double run_loop(record::Recorder& recorder, int seconds) {
  static_cast<void>(rt::set_up_thread(rt::ThreadConfig::all(rt::Want::attempt, 80, {})));
  platform::HybridClock clock;
  auto loop = rt::PeriodicLoop<platform::HybridClock>::create(clock, {.period = period});
  const auto cycles = static_cast<std::uint64_t>(seconds) * 4000;
  const double before = processor_time(CLOCK_THREAD_CPUTIME_ID);
  loop->run([&](const rt::Tick& tick) noexcept {
    record::Cycle cycle;
    cycle.time = tick.due;
    cycle.lateness = tick.lateness;
    const double now = to_seconds(tick.due - Time{});
    recorder.loop().cycle(cycle, [now](std::size_t joint) noexcept {
      const double position = wave(now, joint);
      return record::JointSample{position, position, 0.1, position + 1e-4, 0.1, 7, position * 3};
    });
    for (std::size_t port = 0; port < ports; ++port) {
      const PortValue value{wave(now, port), 0.1, 2.5, static_cast<std::uint32_t>(tick.index)};
      recorder.loop().sample(port, tick.due, {reinterpret_cast<const std::uint8_t*>(&value), sizeof(value)});
    }
    return tick.index + tick.overruns + 1 >= cycles ? rt::Verdict::stop : rt::Verdict::proceed;
  });
  return processor_time(CLOCK_THREAD_CPUTIME_ID) - before;
}

struct Options {
  int seconds = 10;
  std::string json;
};

Options parse(int argc, char** argv) {
  Options options;
  bool good = argc % 2 == 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--seconds")
      options.seconds = std::atoi(argv[i + 1]);
    else if (name == "--json")
      options.json = argv[i + 1];
    else
      good = false;
  }
  if (good && options.seconds >= 1) return options;
  fmt::print(stderr, "usage: recorder_load [--seconds S] [--json FILE]\n");
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const auto path = (std::filesystem::temp_directory_path() / "takt_recorder_load.mcap").string();
  record::RecorderOptions how;
#ifdef TAKT_WITH_ZSTD
  const auto zstd = record::make_zstd();
  how.compression = zstd.get();
#endif
  for (std::size_t port = 0; port < ports; ++port)
    how.topics.push_back({fmt::format("/ports/controller.port_{}", port), "bench/msg/PortValue",
                          shm::schema_text<PortValue>()});
  auto recorder = record::Recorder::create(path, metadata(), how);
  if (!recorder) return fmt::print(stderr, "{}\n", recorder.error().message), 1;
  const double before = processor_time(CLOCK_PROCESS_CPUTIME_ID);
  static_cast<void>((*recorder)->start());
  double in_loop = 0;
  std::thread([&] { in_loop = run_loop(**recorder, options.seconds); }).join();
  const auto totals = (*recorder)->finish();
  const double share = (processor_time(CLOCK_PROCESS_CPUTIME_ID) - before - in_loop) / options.seconds;
  const auto bytes = std::filesystem::file_size(path);
  std::filesystem::remove(path);
  if (!totals) return fmt::print(stderr, "{}\n", totals.error().message), 1;
  fmt::print(
      "{} joints and {} ports at 4 kHz for {} s: {:.2f} % of a core, {} records, {} dropped, {:.1f} MB/s\n",
      joints, ports, options.seconds, 100 * share, totals->records, totals->dropped,
      static_cast<double>(bytes) * 1e-6 / options.seconds);
  if (options.json.empty()) return 0;
  std::ofstream(options.json) << nlohmann::json::array({{{"name", "record/load_20_joints_4kHz/takt"},
                                                         {"value", 1e9 * share},
                                                         {"unit", "ns"},
                                                         {"percent_of_a_core", 100 * share},
                                                         {"dropped", totals->dropped}}});
  return 0;
}
