#include "takt/record/trace_writer.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "record/recordings.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/record/error.hpp"
#include "takt/rt/periodic_loop.hpp"

using namespace takt;
using namespace std::chrono_literals;
using nlohmann::json;
using test::recordings::ScratchFile;

namespace {

std::string text_in(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// A loop on a thread of its own, with a step in each cycle, until the end of the test.
class RunningLoop {
 public:
  explicit RunningLoop(rt::Tracer& tracer, Duration period = 1ms)
      : thread_([this, &tracer, period] {
          platform::SteadyClock clock;
          auto loop =
              rt::PeriodicLoop<platform::SteadyClock>::create(clock, {.period = period, .tracer = &tracer});
          loop->run([this](const rt::Tick& tick) noexcept {
            {
              const rt::TraceScope outer(tick.tracer, outer_);
              const rt::TraceScope inner(tick.tracer, inner_);
            }
            cycles_ = tick.index + 1;
            return ended_ ? rt::Verdict::stop : rt::Verdict::proceed;
          });
        }) {
    wait(3);
  }
  ~RunningLoop() {
    ended_ = true;
    thread_.join();
  }
  RunningLoop(const RunningLoop&) = delete;
  RunningLoop& operator=(const RunningLoop&) = delete;

  /// Waits for this number of further cycles.
  void wait(std::uint64_t cycles) const {
    for (const std::uint64_t end = cycles_ + cycles; cycles_ < end;) std::this_thread::sleep_for(1ms);
  }

 private:
  rt::TextId outer_ = rt::intern("outer \"step\"");
  rt::TextId inner_ = rt::intern("inner");
  std::atomic<std::uint64_t> cycles_{0};
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

/// The spans of a trace file; checks its form.
std::vector<json> spans_in(const std::string& text) {
  const json all = json::parse(text);
  REQUIRE(all.is_array());
  std::vector<json> spans;
  for (const json& event : all) {
    CHECK(event.at("pid") == 1);
    CHECK(event.at("tid") == 1);
    if (event.at("ph") == "X") spans.push_back(event);
  }
  return spans;
}

std::int64_t nanoseconds(const json& microseconds) {
  return static_cast<std::int64_t>(microseconds.get<double>() * 1000 + 0.5);
}

/// Parents stand before their children, and no span reaches out of the one that it lies in.
void check_order(const std::vector<json>& spans) {
  std::int64_t last = 0;
  std::vector<std::int64_t> open;  // ends of the spans around this one
  for (const json& span : spans) {
    const std::int64_t begin = nanoseconds(span.at("ts"));
    const std::int64_t end = begin + nanoseconds(span.at("dur"));
    CHECK(begin >= last);
    last = begin;
    while (!open.empty() && open.back() <= begin) open.pop_back();
    if (!open.empty()) CHECK(end <= open.back() + 1);
    open.push_back(end);
  }
}

}  // namespace

TEST_CASE("a trace is a JSON array of whole cycles, with parents before their children") {
  const ScratchFile file;
  rt::Tracer tracer;
  record::TraceWriter writer(tracer, "the \"robot\"");
  const RunningLoop loop(tracer);
  REQUIRE(writer.start(file.path()));
  CHECK(tracer.is_on());
  loop.wait(30);
  const auto totals = writer.stop();
  REQUIRE(totals);
  CHECK(!tracer.is_on());
  CHECK(totals->dropped == 0);
  const std::string text = text_in(file.path());
  CHECK(json::parse(text)[0].at("args").at("name") == "the \"robot\"");
  const auto spans = spans_in(text);
  CHECK(spans.size() >= totals->spans - 30);  // overruns are instants
  check_order(spans);
  std::map<std::string, std::size_t> counts;
  for (const json& span : spans) ++counts[span.at("name")];
  CHECK(counts["cycle"] >= 28);
  CHECK(counts["outer \"step\""] == counts["inner"]);
  CHECK(counts.size() == 4);
}

TEST_CASE("a second trace has no span of the first one") {
  const ScratchFile first, second;
  rt::Tracer tracer;
  record::TraceWriter writer(tracer, "robot");
  const RunningLoop loop(tracer);
  REQUIRE(writer.start(first.path()));
  loop.wait(5);
  REQUIRE(writer.stop());
  loop.wait(5);
  REQUIRE(writer.start(second.path()));
  loop.wait(5);
  REQUIRE(writer.stop());
  const auto before = spans_in(text_in(first.path())), after = spans_in(text_in(second.path()));
  REQUIRE(!before.empty());
  REQUIRE(!after.empty());
  CHECK(nanoseconds(before.back().at("ts")) < nanoseconds(after.front().at("ts")));
}

TEST_CASE("of a trace that was cut off anywhere, all whole lines are a trace") {
  const ScratchFile file;
  rt::Tracer tracer;
  record::TraceWriter writer(tracer, "robot");
  const RunningLoop loop(tracer);
  REQUIRE(writer.start(file.path()));
  for (int i = 0; i < 5; ++i) {
    std::vector<json> spans;
    do {  // the writer comes when it comes
      loop.wait(20);
      const std::string text = text_in(file.path());
      spans = spans_in(text.substr(0, text.rfind(",\n")).append("]"));
    } while (spans.size() <= 20);
    check_order(spans);
  }
  REQUIRE(writer.stop());
}

TEST_CASE("a file that exists is not replaced, and a trace runs once") {
  const ScratchFile there;
  std::ofstream(there.path()) << "mine";
  const ScratchFile file;
  rt::Tracer tracer;
  record::TraceWriter writer(tracer, "robot");
  CHECK(writer.stop().error().error == record::Errc::not_running);
  const auto refused = writer.start(there.path());
  REQUIRE(!refused);
  CHECK(refused.error().error == record::Errc::cannot_open);
  CHECK(text_in(there.path()) == "mine");
  CHECK(!tracer.is_on());
  REQUIRE(writer.start(file.path()));
  CHECK(writer.start(file.path()).error().error == record::Errc::already_running);
  CHECK(writer.stop());
}

TEST_CASE("spans that found no room are counted in the trace's totals") {
  const ScratchFile file;
  rt::Tracer tracer(16);
  record::TraceWriter writer(tracer, "robot");
  for (std::uint32_t i = 0; i < 100; ++i) tracer.mark(rt::overrun_text, i);  // of no trace
  REQUIRE(writer.start(file.path()));
  for (std::uint32_t i = 0; i < 100'000; ++i) tracer.mark(rt::overrun_text, i);
  const auto totals = writer.stop();
  REQUIRE(totals);
  CHECK(totals->dropped > 0);
  CHECK(totals->spans + totals->dropped == 100'000);
}
