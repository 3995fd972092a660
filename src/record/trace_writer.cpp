#include "takt/record/trace_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "json/strict.hpp"
#include "takt/record/error.hpp"

namespace takt::record {
namespace {

constexpr auto between_spans = std::chrono::milliseconds(10);
constexpr std::size_t most_waiting = 4096;  ///< spans of a cycle that has not ended
/// The shortest time between the anchors of a scale: its error of 20 ns is then a millionth.
constexpr auto shortest_base = std::chrono::milliseconds(20);

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { (void)std::fclose(file); }
};

std::string quoted(std::string_view text) {
  return json::Value(text).dump(-1, ' ', true, json::Value::error_handler_t::replace);
}

/// Times in microseconds, to the nanosecond.
std::string microseconds(std::int64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

/// One trace file.
class TraceOutput {
 public:
  TraceOutput(std::FILE* file, rt::TickScale scale, std::string_view process) : file_(file), scale_(scale) {
    // Without a buffer of its own: lines that were written are there, whatever ends the process.
    std::setvbuf(file, nullptr, _IONBF, 0);
    text_ = fmt::format(
        "[\n"
        R"({{"name":"process_name","ph":"M","pid":1,"tid":1,"args":{{"name":{}}}}},)"
        "\n"
        R"({{"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{{"name":"loop"}}}})",
        quoted(process));
    flush();
  }

  /// Writes whole steps of the loop, with all that lies in them.
  void write(std::vector<rt::TraceSpan>& spans) {
    // The ring has them in the order of their ends.
    std::ranges::sort(spans, [](const rt::TraceSpan& a, const rt::TraceSpan& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    for (const rt::TraceSpan& span : spans) append(span);
    count_ += spans.size();
    spans.clear();
    flush();
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// The reason of the first failure; empty: none.
  [[nodiscard]] const std::string& finish() {
    text_ = "\n]\n";
    flush();
    if (std::fclose(file_.release()) != 0) note_failure();
    return failure_;
  }

 private:
  void append(const rt::TraceSpan& span) {
    const std::int64_t begin = to_nanoseconds(scale_.time_of(span.begin));
    auto out = std::back_inserter(text_);
    fmt::format_to(out, ",\n{{\"name\":{},\"pid\":1,\"tid\":1,\"ts\":{}", name_of(span.name),
                   microseconds(begin));
    if (span.begin == span.end) {
      fmt::format_to(out, R"(,"ph":"i","s":"t","args":{{"count":{}}}}})", span.value);
    } else {
      const std::int64_t end = to_nanoseconds(scale_.time_of(span.end));
      fmt::format_to(out, R"(,"ph":"X","dur":{}}})", microseconds(end - begin));
    }
  }
  const std::string& name_of(rt::TextId id) {
    const auto [found, is_new] = names_.try_emplace(id.number);
    if (is_new) found->second = quoted(rt::text_of(id));
    return found->second;
  }
  void flush() {
    if (std::fwrite(text_.data(), 1, text_.size(), file_.get()) != text_.size()) note_failure();
    text_.clear();
  }
  void note_failure() {
    if (failure_.empty()) failure_ = std::strerror(errno);
  }

  std::unique_ptr<std::FILE, CloseFile> file_;
  rt::TickScale scale_;
  std::map<std::uint32_t, std::string> names_;
  std::string text_;
  std::string failure_;
  std::uint64_t count_ = 0;
};

}  // namespace

struct TraceWriter::Parts {
  Parts(rt::Tracer& its_tracer, std::string its_name) : tracer(&its_tracer), name(std::move(its_name)) {}

  /// Takes the recorded spans, and writes the part that is whole: up to the end of the last span that
  /// lies in no other. `all`: or everything.
  void drain(bool all) {
    for (std::size_t count = 0; (count = tracer->take(taken)) > 0;) {
      for (const rt::TraceSpan& span : std::span(taken).first(count)) {
        if (span.begin >= begun) waiting.push_back(span);
      }
    }
    const auto is_root = [](const rt::TraceSpan& span) {
      return span.name == rt::cycle_text || span.name == rt::sleep_text;
    };
    // A loop that is no rt::PeriodicLoop has no such spans.
    const auto end = all || waiting.size() > most_waiting
                         ? waiting.end()
                         : std::find_if(waiting.rbegin(), waiting.rend(), is_root).base();
    whole.assign(waiting.begin(), end);
    waiting.erase(waiting.begin(), end);
    if (!whole.empty()) output->write(whole);
  }

  void run(const std::stop_token& stop) {
    std::mutex waits;
    std::condition_variable_any stopped;
    std::unique_lock lock(waits);
    while (!stop.stop_requested()) {
      drain(false);
      stopped.wait_for(lock, stop, between_spans, [] { return false; });
    }
    drain(true);
  }

  rt::Tracer* tracer;
  std::string name;
  rt::TickAnchor first = rt::TickAnchor::now();
  std::mutex mutex;  ///< callers only
  std::string path;
  std::optional<TraceOutput> output;
  std::uint64_t begun = 0;    ///< ticks: spans from before are of another trace
  std::uint64_t dropped = 0;  ///< before this trace
  std::array<rt::TraceSpan, 512> taken;
  std::vector<rt::TraceSpan> waiting;
  std::vector<rt::TraceSpan> whole;
  std::jthread thread;
};

TraceWriter::TraceWriter(rt::Tracer& tracer, std::string name)
    : parts_(std::make_unique<Parts>(tracer, std::move(name))) {}
TraceWriter::~TraceWriter() { (void)stop(); }

SetupResult<void> TraceWriter::start(const std::string& path) {
  Parts& parts = *parts_;
  const std::lock_guard lock(parts.mutex);
  if (parts.output) return fail(Errc::already_running, "a trace is being written to " + parts.path);
  std::FILE* file = std::fopen(path.c_str(), "wxe");
  if (file == nullptr) return fail(Errc::cannot_open, path + ": " + std::strerror(errno));
  const Time now = rt::TickAnchor::now().time;
  if (now - parts.first.time < shortest_base)
    std::this_thread::sleep_for(shortest_base - (now - parts.first.time));
  parts.path = path;
  parts.output.emplace(file, rt::TickScale(parts.first, rt::TickAnchor::now()), parts.name);
  parts.begun = rt::ticks_now();
  parts.dropped = parts.tracer->dropped();
  parts.tracer->switch_on();
  parts.thread = std::jthread([&parts](const std::stop_token& stop) { parts.run(stop); });
  return {};
}

SetupResult<TraceTotals> TraceWriter::stop() {
  Parts& parts = *parts_;
  const std::lock_guard lock(parts.mutex);
  if (!parts.output) return fail(Errc::not_running, "no trace is being written");
  parts.tracer->switch_off();
  parts.thread.request_stop();
  parts.thread.join();
  const TraceTotals totals{parts.output->count(), parts.tracer->dropped() - parts.dropped};
  const std::string failure = parts.output->finish();
  parts.output.reset();
  if (!failure.empty()) return fail(Errc::write_failed, parts.path + ": " + failure);
  return totals;
}

}  // namespace takt::record
