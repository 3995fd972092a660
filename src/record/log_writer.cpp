#include "takt/record/log_writer.hpp"

#include <fmt/args.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "record/cdr.hpp"
#include "record/log_message.hpp"
#include "takt/record/error.hpp"
#include "takt/version.hpp"

#include <unistd.h>

namespace takt::record {
namespace {

constexpr auto between_lines = std::chrono::milliseconds(20);
constexpr std::int64_t second = 1'000'000'000;
constexpr std::size_t most_rounds = 64;

struct CloseUnlessStderr {
  void operator()(std::FILE* file) const noexcept {
    if (file != stderr) (void)std::fclose(file);
  }
};

/// An entry as text.
struct Line {
  Time time{};
  rt::LogLevel level{};
  std::string source;
  std::string text;
};

using Describe = std::string_view (*)(Error) noexcept;

Line to_line(const rt::LogRecord& entry, Describe describe) {
  Line line{entry.time, entry.level, std::string(rt::text_of(entry.source)), to_text(entry, describe)};
  if (entry.suppressed > 0) line.text += fmt::format(" ({} suppressed)", entry.suppressed);
  return line;
}

/// A line stays one line, whatever a text holds.
void put_clean(std::string& out, std::string_view text) {
  for (const char c : text) out += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? ' ' : c;
}

std::string time_text(Time time, Duration epoch) {
  const std::int64_t nanoseconds = (time.time_since_epoch() + epoch).count();
  if (epoch == Duration(0)) return fmt::format("{:.6f}", static_cast<double>(nanoseconds) * 1e-9);
  const std::int64_t since = std::max<std::int64_t>(nanoseconds, 0);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z", fmt::gmtime(static_cast<std::time_t>(since / second)),
                     since % second / 1000);
}

std::string error_text(Error error, Describe describe) {
  if (describe != nullptr) return std::string(describe(error));
  return fmt::format("error {} of room {}", error.code, static_cast<int>(error.room));
}

fmt::dynamic_format_arg_store<fmt::format_context> arguments_of(const rt::LogRecord& entry,
                                                                Describe describe) {
  using Kind = rt::LogArgument::Kind;
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  for (const rt::LogArgument& each : std::span(entry.arguments).first(entry.count)) {
    switch (each.kind) {
      case Kind::integer:
        store.push_back(static_cast<std::int64_t>(each.bits));
        break;
      case Kind::natural:
        store.push_back(each.bits);
        break;
      case Kind::number:
        store.push_back(std::bit_cast<double>(each.bits));
        break;
      case Kind::truth:
        store.push_back(each.bits != 0);
        break;
      case Kind::text:
        store.push_back(std::string(rt::text_of({static_cast<std::uint32_t>(each.bits)})));
        break;
      case Kind::error:
        store.push_back(error_text(
            {static_cast<Room>(each.bits >> 16), static_cast<std::uint16_t>(each.bits)}, describe));
        break;
    }
  }
  return store;
}

}  // namespace

std::string to_text(const rt::LogRecord& entry, Describe describe) {
  return fmt::vformat(rt::text_of(entry.text), arguments_of(entry, describe));
}

Topic log_topic() {
  Topic topic;
  topic.topic = log_topic_name;
  topic.type = log_message_type;
  topic.definition = LogMessage::definition();
  return topic;
}

struct LogWriter::Parts {
  explicit Parts(LogOptions its_options) : options(std::move(its_options)) {}

  // ---- under the mutex ----

  void write(const Line& line) {
    text = time_text(line.time, options.epoch) + ' ';
    text += rt::to_string(line.level);
    text += ' ';
    if (!line.source.empty()) {
      put_clean(text, line.source);
      text += ": ";
    }
    put_clean(text, line.text);
    text += '\n';
    for (const auto& file : files) {
      if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() && failure.empty())
        failure = std::strerror(errno);
    }
    if (recorder != nullptr) record(line);
    last = std::max(last, line.time);
  }

  void record(const Line& line) {
    const auto unix_time = static_cast<std::uint64_t>(
        std::max<std::int64_t>((line.time.time_since_epoch() + options.epoch).count(), 0));
    LogMessage{unix_time, static_cast<std::uint8_t>(line.level), line.text,
               line.source.empty() ? options.name : line.source}
        .write(message);
    recorder->log().sample(topic, line.time, message.message());
  }

  /// Writes what waits, but not for ever: a loop may go on logging. Returns the number of entries.
  std::size_t drain() {
    for (rt::Logger* const logger : loggers) {
      for (std::size_t round = 0; round < most_rounds; ++round) {
        const std::size_t count = logger->take(taken);
        if (count == 0) break;
        for (const rt::LogRecord& entry : std::span(taken).first(count))
          waiting.push_back(to_line(entry, options.describe));
      }
    }
    // Each ring is in order. Those of several threads are merged as far as they are here.
    std::ranges::stable_sort(waiting, {}, &Line::time);
    for (const Line& line : waiting) write(line);
    const std::size_t count = waiting.size();
    entries += count;
    waiting.clear();
    const std::uint64_t lost = dropped();
    if (lost == told) return count;
    write({last,
           rt::LogLevel::warning,
           {},
           fmt::format("{} entries were dropped: a ring was full", lost - told)});
    told = lost;
    return count;
  }

  [[nodiscard]] std::uint64_t dropped() const {
    std::uint64_t sum = 0;
    for (const rt::Logger* const logger : loggers) sum += logger->dropped();
    return sum;
  }

  LogOptions options;
  std::vector<rt::Logger*> loggers;
  Recorder* recorder = nullptr;
  std::size_t topic = 0;

  std::mutex mutex;
  std::vector<std::unique_ptr<std::FILE, CloseUnlessStderr>> files;
  std::array<rt::LogRecord, 64> taken{};
  std::vector<Line> waiting;
  CdrWriter message;
  std::string text;
  std::string failure;
  Time last{};
  std::uint64_t entries = 0;
  std::uint64_t told = 0;  ///< of the dropped ones
  bool is_open = false;
  std::jthread thread;
};

LogWriter::LogWriter(LogOptions options) : parts_(std::make_unique<Parts>(std::move(options))) {}
LogWriter::~LogWriter() { static_cast<void>(finish(parts_->last)); }

void LogWriter::add(rt::Logger& logger) { parts_->loggers.push_back(&logger); }

void LogWriter::record_to(Recorder& recorder, std::size_t topic) {
  parts_->recorder = &recorder;
  parts_->topic = topic;
}

SetupResult<void> LogWriter::open(Time now) {
  Parts& parts = *parts_;
  const std::lock_guard lock(parts.mutex);
  for (const std::string& path : parts.options.files) {
    std::FILE* const file = path == "-" ? stderr : std::fopen(path.c_str(), "ae");
    if (file == nullptr) return fail(Errc::cannot_open, path + ": " + std::strerror(errno));
    // Without a buffer of its own: lines that were written are there, whatever ends the process.
    std::setvbuf(file, nullptr, _IONBF, 0);
    parts.files.emplace_back(file);
  }
  parts.is_open = true;
  std::string text = parts.options.name + " begins";
  // In virtual time, equal runs give equal logs.
  if (parts.options.epoch != Duration(0))
    text += fmt::format(", process {}, takt {}", ::getpid(), TAKT_VERSION);
  parts.write({now, rt::LogLevel::info, {}, std::move(text)});
  return {};
}

void LogWriter::start() {
  parts_->thread = std::jthread([this](const std::stop_token& stop) {
    std::mutex waits;
    std::condition_variable_any stopped;
    std::unique_lock lock(waits);
    while (!stop.stop_requested()) {
      drain();
      stopped.wait_for(lock, stop, between_lines, [] { return false; });
    }
  });
}

void LogWriter::drain() {
  const std::lock_guard lock(parts_->mutex);
  static_cast<void>(parts_->drain());
}

void LogWriter::write(Time time, rt::LogLevel level, std::string_view source, std::string_view text) {
  const std::lock_guard lock(parts_->mutex);
  if (!parts_->is_open) return;
  static_cast<void>(parts_->drain());
  ++parts_->entries;
  parts_->write({time, level, std::string(source), std::string(text)});
}

SetupResult<LogTotals> LogWriter::finish(Time now) {
  Parts& parts = *parts_;
  if (parts.thread.joinable()) {
    parts.thread.request_stop();
    parts.thread.join();
  }
  const std::lock_guard lock(parts.mutex);
  if (std::exchange(parts.is_open, false)) {
    while (parts.drain() > 0) {
    }
    parts.write(
        {now,
         rt::LogLevel::info,
         {},
         fmt::format("{} ends: {} entries, {} dropped", parts.options.name, parts.entries, parts.dropped())});
    parts.files.clear();
  }
  if (!parts.failure.empty())
    return fail(Errc::write_failed, "the log of " + parts.options.name + ": " + parts.failure);
  LogTotals totals{parts.entries, 0, parts.dropped()};
  for (const rt::Logger* const logger : parts.loggers) totals.suppressed += logger->suppressed();
  return totals;
}

}  // namespace takt::record
