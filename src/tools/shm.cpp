// takt shm: lists shared segments, shows their contents and traffic, and removes those of dead processes.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "takt/platform/segment_server.hpp"
#include "takt/platform/steady_clock.hpp"
#include "tools/commands.hpp"
#include "tools/connection.hpp"
#include "tools/number_checks.hpp"
#include "tools/shm_view.hpp"

namespace takt::tools {
namespace {

using platform::Segment;

constexpr std::string_view folder = "/dev/shm/takt.";

platform::SegmentOptions only_read() {
  platform::SegmentOptions options;
  options.access = platform::Access::read_only;
  return options;
}

/// A segment by name, or by the path of its server's socket or of a descriptor (/proc/PID/fd/N).
SetupResult<Segment> open_segment(const std::string& what) {
  if (what.substr(0, folder.size()) == folder) return Segment::open(what.substr(folder.size()), only_read());
  if (what.find('/') == std::string::npos && what.substr(0, 1) != "@")
    return Segment::open(what, only_read());
  struct stat about {};
  const bool is_file = ::stat(what.c_str(), &about) == 0 && S_ISREG(about.st_mode);
  if (!is_file) return platform::receive_segment(what, std::chrono::seconds(1), only_read());
  const int file = ::open(what.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  auto segment = Segment::attach(file, only_read());
  if (file >= 0) ::close(file);
  return segment;
}

Segment open_or_exit(const std::string& what) {
  auto segment = open_segment(what);
  if (!segment) exit_with(segment.error());
  return std::move(*segment);
}

/// Of a named segment's file; std::nullopt if it is gone, or belongs to another user.
std::optional<struct stat> file_of(const std::string& name) {
  struct stat about {};
  const std::string path = std::string(folder) + name;
  if (::lstat(path.c_str(), &about) != 0 || about.st_uid != ::geteuid()) return std::nullopt;
  return about;
}

std::vector<std::string> our_names() {
  std::vector<std::string> names = Segment::names();
  std::erase_if(names, [](const std::string& name) { return !file_of(name); });
  return names;
}

std::string exchange_names(const shm::Layout& layout) {
  std::string text;
  for (const shm::Exchange& exchange : layout.exchanges()) {
    fmt::format_to(std::back_inserter(text), "{}{} ({})", text.empty() ? "" : ", ", exchange.name(),
                   kind_name(exchange.kind));
  }
  return text;
}

std::string owner_text(const platform::OwnerSlotStatus& owner) {
  if (owner.owner.pid == 0) return owner.alive ? "alive" : "none";
  return fmt::format("{} {}", owner.owner.pid, owner.alive ? "alive" : "dead");
}

void list(bool json) {
  auto all = nlohmann::ordered_json::array();
  if (!json)
    fmt::print("{:<24}  {:>10}  {:>8}  {:<16}  {}\n", "name", "bytes", "age/s", "owner", "exchanges");
  for (const std::string& name : our_names()) {
    const auto file = file_of(name);
    if (!file) continue;
    const auto age = std::max<std::time_t>(std::time(nullptr) - file->st_mtime, 0);
    const auto segment = Segment::open(name, only_read());
    const Time now = platform::SteadyClock().now();
    if (json) {
      all.push_back({{"name", name}, {"bytes", file->st_size}, {"age", age}});
      if (segment) {
        const auto owner = segment->owner_slot_status(0, now);
        all.back()["owner"] = {{"pid", owner.owner.pid}, {"alive", owner.alive}};
        auto& exchanges = all.back()["exchanges"] = nlohmann::ordered_json::array();
        for (const shm::Exchange& one : segment->layout().exchanges()) exchanges.push_back(one.name());
      } else {
        all.back()["error"] = segment.error().message;
      }
    } else if (segment) {
      fmt::print("{:<24}  {:>10}  {:>8}  {:<16}  {}\n", name, file->st_size, age,
                 owner_text(segment->owner_slot_status(0, now)), exchange_names(segment->layout()));
    } else {
      fmt::print("{:<24}  {:>10}  {:>8}  {:<16}  {}\n", name, file->st_size, age, "-",
                 segment.error().message);
    }
  }
  if (json) fmt::print("{}\n", all.dump());
}

void clean(bool dry_run) {
  for (const std::string& name : our_names()) {
    const auto done = dry_run ? Segment::check_unused(name) : Segment::remove_unused(name);
    if (done) {
      fmt::print("{}: {}, no process uses it\n", name, dry_run ? "would be removed" : "removed");
    } else {
      fmt::print("{}: kept: {}\n", name, done.error().message);
    }
  }
}

/// The observed state of each exchange, with its time.
struct Sample {
  Time time;
  std::map<std::string, std::optional<std::uint32_t>> written;
};

std::string rate_text(std::optional<std::uint32_t> before, std::optional<std::uint32_t> after,
                      Duration between) {
  if (!before || !after || between <= Duration(0)) return "-";
  return fmt::format("{:.1f}", (*after - *before) / to_seconds(between));
}

/// The table of all requested segments; `last` becomes the present observation.
std::string busy_table(const std::vector<Segment>& segments, Sample& last) {
  std::string text = fmt::format("{:<24}  {:<20}  {:<14}  {:>12}  {:>16}  {}\n", "segment", "exchange",
                                 "kind", "written/s", "waiting", "producers");
  Sample sample{platform::SteadyClock().now(), {}};
  for (const Segment& segment : segments) {
    for (const shm::Exchange& exchange : segment.layout().exchanges()) {
      const std::string key = fmt::format("{}/{}", segment.name(), exchange.name());
      const ExchangeProgress progress = progress_of(segment.layout(), exchange);
      sample.written[key] = progress.written;
      std::string fill = "-";
      if (progress.waiting) fill = fmt::format("{} of {}", *progress.waiting, exchange.extent.capacity);
      std::uint32_t alive = 0;
      for (std::uint32_t i = 0; i < exchange.extent.producers; ++i) {
        if (segment.owner_slot_status(exchange.first_owner_slot + i, sample.time).alive) ++alive;
      }
      fmt::format_to(std::back_inserter(text), "{:<24}  {:<20}  {:<14}  {:>12}  {:>16}  {} of {} alive\n",
                     segment.name(), exchange.name(), kind_name(exchange.kind),
                     rate_text(last.written[key], progress.written, sample.time - last.time), fill, alive,
                     exchange.extent.producers);
    }
  }
  last = std::move(sample);
  return text;
}

struct ShmTopOptions {
  std::string what;
  double rate = 2;
  bool once = false;
};

std::vector<Segment> segments_of(const ShmTopOptions& options) {
  std::vector<Segment> segments;
  if (!options.what.empty()) {
    segments.push_back(open_or_exit(options.what));
    return segments;
  }
  for (const std::string& name : our_names()) {
    if (auto segment = Segment::open(name, only_read())) segments.push_back(std::move(*segment));
  }
  return segments;
}

void watch_busy(const ShmTopOptions& options) {
  platform::SteadyClock clock;
  Sample last;
  std::vector<Segment> segments = segments_of(options);
  std::string text = busy_table(segments, last);
  if (!options.once) fmt::print("\x1b[2J");
  for (;;) {
    clock.sleep_until(last.time + from_seconds(1 / options.rate));
    // Segments that appear or disappear meanwhile are seen the next time; removed ones are released.
    if (options.what.empty() && !options.once) segments = segments_of(options);
    text = busy_table(segments, last);
    if (options.once) break;
    fmt::print("\x1b[H\x1b[J{}(Ctrl-C ends this)\n", text);
    std::fflush(stdout);
  }
  fmt::print("{}", text);
}

void inspect(const std::string& what, bool json) {
  const Segment segment = open_or_exit(what);
  const Time now = platform::SteadyClock().now();
  fmt::print("{}", json ? segment_json(segment, now).dump() + "\n" : segment_text(segment, now));
}

constexpr const char* what_help = "A segment's name, or the path of its server's socket, or /proc/PID/fd/N";

}  // namespace

void add_shm(CLI::App& app) {
  auto* shm =
      app.add_subcommand("shm", "Inspect shared memory, and remove segments that dead processes left behind");
  shm->require_subcommand(1);

  const auto json = std::make_shared<bool>(false);
  auto* list_command = shm->add_subcommand("ls", "List the named segments of this user");
  list_command->add_flag("--json", *json, "As JSON");
  list_command->callback([json] { list(*json); });

  const auto inspected = std::make_shared<std::string>();
  auto* inspect_command =
      shm->add_subcommand("inspect", "Show a segment: owner slots, exchanges, present values");
  inspect_command->add_option("segment", *inspected, what_help)->required();
  inspect_command->add_flag("--json", *json, "As JSON");
  inspect_command->footer("Example:\n  takt shm inspect motion\n  takt shm inspect /run/takt/motion --json");
  inspect_command->callback([inspected, json] { inspect(*inspected, *json); });

  const auto dry_run = std::make_shared<bool>(false);
  auto* clean_command =
      shm->add_subcommand("clean", "Remove the named segments of this user that no process uses");
  clean_command->add_flag("--dry-run", *dry_run, "Only say what would be removed");
  clean_command->footer(
      "Each process that uses a segment holds a lock on it, which the system releases when the process "
      "dies.\n"
      "Locked segments are kept, and so are files that are not takt's.");
  clean_command->callback([dry_run] { clean(*dry_run); });

  const auto options = std::make_shared<ShmTopOptions>();
  auto* top_command = shm->add_subcommand("top", "Watch the traffic of exchanges");
  top_command->add_option("segment", options->what,
                          std::string(what_help) + "; without it, all segments of this user");
  top_command->add_option("--rate", options->rate, "Redraw this many times a second")
      ->check(number_between(0.1, 100, "number from 0.1 to 100"))
      ->capture_default_str();
  top_command->add_flag("--once", options->once, "Print one table, after one period, and end");
  top_command->callback([options] { watch_busy(*options); });
}

}  // namespace takt::tools
