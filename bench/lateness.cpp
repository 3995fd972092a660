// The wake-up lateness of a 1 kHz loop: takt's periodic loop on its plain clock and on its hybrid clock,
// beside cyclictest. They run in turn, with the same scheduling class, on the same core. Lateness depends on
// the machine and the moment. Therefore the result is the ratio to cyclictest's lateness, as the median over
// the repetitions, not the microseconds.
//
//   lateness [--seconds S] [--repetitions N] [--json FILE]
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "takt/platform/hybrid_clock.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/rt/periodic_loop.hpp"
#include "takt/rt/thread_setup.hpp"

namespace {

using namespace takt;

constexpr int priority = 80;

/// Lateness in microseconds.
struct Lateness {
  double p50 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;
};

struct Options {
  int seconds = 3;
  int repetitions = 5;
  std::string json;
};

/// The last core, because the first one usually serves the interrupts.
int core() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())) - 1; }

/// Runs one loop on its own thread, so that its scheduling class ends with the thread.
template <class C>
Lateness run_loop(const Options& options, bool fifo) {
  Lateness lateness;
  std::thread([&] {
    auto config = rt::ThreadConfig::all(rt::Want::attempt, priority, {core()});
    if (!fifo) config.fifo = rt::Want::off;
    const auto setup = rt::set_up_thread(config);
    C clock;
    auto loop = rt::PeriodicLoop<C>::create(clock, {});
    const auto cycles = static_cast<std::uint64_t>(options.seconds) * 1000;
    loop->run([&](const rt::Tick& tick) noexcept {
      return tick.index + tick.overruns + 1 >= cycles ? rt::Verdict::stop : rt::Verdict::proceed;
    });
    const rt::Histogram& histogram = loop->statistics().lateness;
    const auto us = [](Duration duration) { return static_cast<double>(duration.count()) / 1000; };
    lateness = {us(histogram.percentile(50)), us(histogram.percentile(99)), us(histogram.percentile(99.9)),
                us(histogram.max())};
  }).join();
  return lateness;
}

/// cyclictest's histogram: lines of "microseconds count", one microsecond wide and rounded down.
std::optional<Lateness> run_cyclictest(const Options& options, bool fifo) {
  const std::string command = fmt::format("cyclictest {} -i1000 -m -q -t1 -a{} -D{} -h20000 2>/dev/null",
                                          fifo ? fmt::format("-p{}", priority) : "", core(), options.seconds);
  std::FILE* output = popen(command.c_str(), "r");
  if (output == nullptr) return std::nullopt;
  std::map<int, std::uint64_t> counts;
  Lateness lateness;
  std::uint64_t total = 0;
  std::array<char, 512> line{};
  while (std::fgets(line.data(), line.size(), output) != nullptr) {
    int microseconds = 0;
    unsigned long count = 0;
    if (std::sscanf(line.data(), "%d %lu", &microseconds, &count) == 2) {
      counts[microseconds] += count;
      total += count;
    }
    (void)std::sscanf(line.data(), "# Max Latencies: %lf", &lateness.max);
  }
  if (pclose(output) != 0 || total == 0) return std::nullopt;
  const auto percentile = [&](double percent) {
    std::uint64_t seen = 0;
    for (const auto& [microseconds, count] : counts) {
      seen += count;
      if (static_cast<double>(seen) >= percent / 100 * static_cast<double>(total)) return microseconds + 0.5;
    }
    return lateness.max;
  };
  lateness.p50 = percentile(50);
  lateness.p99 = percentile(99);
  lateness.p999 = percentile(99.9);
  return lateness;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

/// The median over the repetitions, for each number.
Lateness median(const std::vector<Lateness>& all) {
  const auto of = [&](double Lateness::*number) {
    std::vector<double> values;
    for (const Lateness& one : all) values.push_back(one.*number);
    return median(values);
  };
  return {of(&Lateness::p50), of(&Lateness::p99), of(&Lateness::p999), of(&Lateness::max)};
}

bool may_use_fifo() {
  bool granted = false;
  std::thread([&] {
    rt::ThreadConfig config;
    config.fifo = rt::Want::enforce;
    config.priority = priority;
    granted = rt::set_up_thread(config).has_value();
  }).join();
  return granted;
}

Options parse(int argc, char** argv) {
  Options options;
  bool good = argc % 2 == 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--seconds") {
      options.seconds = std::atoi(argv[i + 1]);
    } else if (name == "--repetitions") {
      options.repetitions = std::atoi(argv[i + 1]);
    } else if (name == "--json") {
      options.json = argv[i + 1];
    } else {
      good = false;
    }
  }
  if (!good || options.seconds < 1 || options.repetitions < 1) {
    fmt::print(stderr, "usage: lateness [--seconds S] [--repetitions N] [--json FILE]\n");
    std::exit(2);
  }
  return options;
}

/// A row in the form that bench/ratios.py reads.
nlohmann::json row(const std::string& name, const Lateness& lateness) {
  return {{"name", name},           {"value", lateness.p50 * 1000}, {"unit", "ns"},
          {"p99_us", lateness.p99}, {"p99.9_us", lateness.p999},    {"max_us", lateness.max}};
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const bool fifo = may_use_fifo();
  std::vector<Lateness> plain;
  std::vector<Lateness> hybrid;
  std::vector<Lateness> peer;
  std::vector<double> ratios;
  for (int i = 0; i < options.repetitions; ++i) {
    plain.push_back(run_loop<platform::SteadyClock>(options, fifo));
    if (const auto cyclictest = run_cyclictest(options, fifo)) {
      peer.push_back(*cyclictest);
      ratios.push_back(plain.back().p50 / cyclictest->p50);
    }
    hybrid.push_back(run_loop<platform::HybridClock>(options, fifo));
  }

  fmt::print("lateness of a 1 kHz loop, {}, core {}, medians of {} x {} s, us\n",
             fifo ? fmt::format("SCHED_FIFO {}", priority) : "SCHED_OTHER (no right to SCHED_FIFO)", core(),
             options.repetitions, options.seconds);
  fmt::print("{:<12}{:>10}{:>10}{:>10}{:>10}\n", "", "p50", "p99", "p99.9", "max");
  nlohmann::json rows = nlohmann::json::array();
  const auto show = [&](const char* name, const char* benchmark, const std::vector<Lateness>& all) {
    const Lateness m = median(all);
    fmt::print("{:<12}{:>10.2f}{:>10.1f}{:>10.1f}{:>10.1f}\n", name, m.p50, m.p99, m.p999, m.max);
    rows.push_back(row(benchmark, m));
  };
  show("takt", "rt/lateness_p50/takt", plain);
  show("takt hybrid", "rt/lateness_hybrid_p50/takt", hybrid);
  if (peer.empty()) {
    fmt::print("cyclictest  absent\n");
    rows.push_back({{"name", "rt/lateness_p50/cyclictest"},
                    {"error_occurred", true},
                    {"error_message", "not installed"}});
  } else {
    show("cyclictest", "rt/lateness_p50/cyclictest", peer);
    const double ratio = median(ratios);
    fmt::print("takt to cyclictest, median of the ratios of the p50: {:.3f}\n", ratio);
    rows.push_back({{"name", "rt/lateness_p50_ratio_to_cyclictest/takt"}, {"value", ratio}, {"unit", "x"}});
  }
  if (!options.json.empty()) std::ofstream(options.json) << rows.dump(2) << '\n';
  return 0;
}
