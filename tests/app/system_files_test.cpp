// Tests the files of a system of components: recordings of the out-ports of its processes, and their logs.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "app/robot_client.hpp"
#include "record/cdr.hpp"
#include "takt/app/system.hpp"
#include "takt/component/error.hpp"
#include "takt/component/port.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/record/reader.hpp"

using namespace takt;
using namespace takt::app;
using takt::test::robot_client::ScratchFolder;

namespace {

struct Count {
  std::uint64_t number = 0;
  TAKT_FIELDS(Count, number)
};

/// Writes its cycles by one port, and each third of them by another. A refused value is its failure.
struct Source final : component::Component {
  static constexpr component::ComponentMetadata about{
      .type = "Source", .version = "1.0.0", .vendor = "test", .category = "test", .description = "Counts."};
  explicit Source(std::string name) : Component(about, std::move(name)) {}
  Status on_execute(const component::CycleTime& cycle) noexcept override {
    ++count_.number;
    const bool whole = all.write(count_, cycle.time);
    const bool third =
        count_.number % 3 != 0 || some.write(0.5 * static_cast<double>(count_.number), cycle.time);
    if (count_.number % 100 == 0) log(reached_, count_.number, name_id());
    if (!whole || !third || *fails) return fail(component::Errc::bad_value);
    return {};
  }
  component::OutPort<Count> all{*this, "all"};
  component::OutPort<double> some{*this, "some"};
  component::Parameter<bool> fails{*this, "fails", {}};

 private:
  rt::LogStatement<std::uint64_t, rt::TextId> reached_{
      rt::LogLevel::info, "{} cycles of {}", {.entries = 2, .interval = std::chrono::seconds(1)}};
  Count count_;
};

/// Answers each count with a product.
struct Follower final : component::Component {
  static constexpr component::ComponentMetadata about{.type = "Follower",
                                                      .version = "1.0.0",
                                                      .vendor = "test",
                                                      .category = "test",
                                                      .description = "Multiplies."};
  explicit Follower(std::string name) : Component(about, std::move(name)) {}
  Status on_execute(const component::CycleTime& cycle) noexcept override {
    if (in.read() != shm::Freshness::new_data) return {};
    static_cast<void>(out.write(*gain * static_cast<double>(in.value().number), cycle.time));
    return {};
  }
  component::InPort<Count> in{*this, "in"};
  component::OutPort<double> out{*this, "out"};
  component::Parameter<double> gain{*this, "gain", {.initial = 0.1}};
};

std::string system_with(const std::string& record) {
  return R"({"name": "counting", "contexts": [{"name": "fast", "period_ms": 1}, {"name": "far", "period_ms": 5, "process": "other"}],
             "components": [{"name": "a", "type": "Source", "context": "fast"},
                            {"name": "b", "type": "Source", "context": "far"}],
             "processes": [{"name": "main", )" +
         record + "}]}";
}

struct Made {
  ComponentLibrary library;
  std::unique_ptr<ComponentSystem> system;
};

SetupResult<std::unique_ptr<Made>> make(const std::string& json, const std::string& process = {}) {
  auto made = std::make_unique<Made>();
  REQUIRE(made->library.add(component::component_type<Source>()).has_value());
  REQUIRE(made->library.add(component::component_type<Follower>()).has_value());
  const auto description = system_from_json(json);
  if (!description) return tl::unexpected<SetupError>(description.error());
  auto system = ComponentSystem::create(*description, made->library, {.process = process});
  if (!system) return tl::unexpected<SetupError>(system.error());
  made->system = std::move(*system);
  return made;
}

/// The bits of each value, by topic.
std::map<std::string, std::vector<std::uint64_t>> values_in(const std::string& path) {
  std::map<std::string, std::vector<std::uint64_t>> values;
  auto reader = record::Reader::open(path);
  if (!reader) FAIL(reader.error().message);
  while (const record::Record* record = reader->next().value()) {
    const auto& sample = std::get<record::SampleRecord>(*record);
    record::CdrReader cdr(sample.message);
    values[std::string(sample.topic)].push_back(cdr.number<std::uint64_t>());
    CHECK(cdr.ok());
  }
  CHECK(reader->totals().has_value());
  return values;
}

std::vector<std::string> reports_of(ComponentSystem& system) {
  std::vector<std::string> all;
  while (auto report = system.next_report()) all.push_back(*report);
  return all;
}

}  // namespace

TEST_CASE("in virtual time every value of the named ports is recorded, and equal runs give equal files") {
  const ScratchFolder folder;
  for (const char* name : {"one.mcap", "two.mcap"}) {
    auto made = make(
        system_with(R"("record": {"file": ")" + folder.file(name) + R"(", "ports": ["a.some", "a.all"]})"));
    REQUIRE(made.has_value());
    REQUIRE((*made)->system->run_virtual(std::chrono::seconds(3)).has_value());
    REQUIRE((*made)->system->stop());
    const auto values = values_in(folder.file(name));
    REQUIRE(values.size() == 2);
    const auto& all = values.at("/ports/a.all");
    CHECK(all.size() >= 2999);
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == i + 1);
    CHECK(values.at("/ports/a.some").size() == all.size() / 3);
  }
  CHECK(test::robot_client::bytes_of(folder.file("one.mcap")) ==
        test::robot_client::bytes_of(folder.file("two.mcap")));
}

TEST_CASE("without names a process records all its ports, beside its threads, and keeps older files") {
  const ScratchFolder folder;
  const std::string path = folder.file("run.mcap");
  for (const std::string& expected : {path, folder.file("run.1.mcap")}) {
    auto made = make(system_with(R"("record": {"file": ")" + path + R"("})"));
    REQUIRE(made.has_value());
    ComponentSystem& system = *(*made)->system;
    REQUIRE(system.start().has_value());
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    CHECK(system.command("list", "test").find("\"recorder\"") != std::string::npos);
    CHECK(system.find("a")->state() == component::ComponentState::active);
    REQUIRE(system.stop());
    const auto reports = reports_of(system);
    REQUIRE_FALSE(reports.empty());
    CAPTURE(reports.back());
    CHECK(reports.back().starts_with("recorded "));
    CHECK(reports.back().find(" values in " + expected + ", ") != std::string::npos);

    const auto values = values_in(expected);
    CHECK(values.contains("/ports/a.some"));
    CHECK_FALSE(values.contains("/ports/b.all"));  // of another process
    const auto& all = values.at("/ports/a.all");
    // A machine that pauses may lose some, which the report counts.
    for (std::size_t i = 1; i < all.size(); ++i) CHECK(all[i] > all[i - 1]);
    if (reports.back().ends_with(" 0 lost")) CHECK(all.back() == all.size());
  }
}

TEST_CASE("a recording of ports that are not there, or of another process, is a mistake with its place") {
  const auto mistake_of = [](const std::string& record) {
    const auto made = make(system_with(record));
    return made ? std::string() : made.error().message;
  };
  CHECK(mistake_of(R"("record": {"file": "run.mcap", "ports": ["a.some", "a.any"]})")
            .find("/processes/0/record/ports/1: \"a.any\": a has no out-port \"any\"") != std::string::npos);
  CHECK(mistake_of(R"("record": {"file": "run.mcap", "ports": ["b.all"]})")
            .find("/processes/0/record/ports/0: b.all is in the process other") != std::string::npos);
  std::string taken = system_with(R"("record": {"file": "run.mcap"})");
  taken.replace(taken.find(R"("name": "a")"), 11, R"("name": "recorder")");
  const auto refused = make(taken);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message.find("\"recorder\" is the name of the recorder") != std::string::npos);
  CHECK(mistake_of(R"("record": {"ports": []})").find("/processes/0/record/file") != std::string::npos);
  CHECK(mistake_of(R"("record": {"file": "run.mcap", "rate": 1})").find("/processes/0/record/rate") !=
        std::string::npos);
}

TEST_CASE("a recording that cannot begin ends the start, and names the file") {
  const auto made = make(system_with(R"("record": {"file": "/nowhere/run.mcap"})"), "main");
  REQUIRE(made.has_value());
  const auto started = (*made)->system->start();
  REQUIRE_FALSE(started.has_value());
  CHECK(started.error().message.find("/nowhere/run.mcap") != std::string::npos);
}

TEST_CASE(
    "a process logs what its components log, their failures and the commands, from its beginning to its "
    "end") {
  const ScratchFolder folder;
  for (const char* name : {"one.log", "two.log"}) {
    auto made = make(system_with(R"("log": ")" + folder.file(name) + R"(")"));
    REQUIRE(made.has_value());
    ComponentSystem& system = *(*made)->system;
    REQUIRE(system.run_virtual(std::chrono::seconds(2)).has_value());
    CHECK(system.command(R"(set a {"fails": true})", "operator").find("\"ok\":true") != std::string::npos);
    CHECK(system.command("stop nobody", "operator").find("\"ok\":false") != std::string::npos);
    static_cast<void>(system.command("list", "operator"));
    REQUIRE(system.stop());
    const std::string log = test::robot_client::bytes_of(folder.file(name));
    CAPTURE(log);
    CHECK(log.starts_with("0.000000 info counting begins\n"));
    // Two entries a second and component. The third one tells how many were suppressed.
    CHECK(log.find("0.099000 info a: 100 cycles of a\n") != std::string::npos);
    CHECK(log.find("0.199000 info a: 200 cycles of a\n") != std::string::npos);
    CHECK(log.find("info a: 300 cycles of a") == std::string::npos);
    CHECK(log.find("info a: 1100 cycles of a (8 suppressed)\n") != std::string::npos);
    CHECK(log.find("info b: 100 cycles of b\n") != std::string::npos);
    CHECK(log.find(R"(info operator: set a {"fails": true}: done)") != std::string::npos);
    CHECK(log.find("info operator: stop nobody: ") != std::string::npos);
    CHECK(log.find("list") == std::string::npos);
    CHECK(log.ends_with(" entries, 0 dropped\n"));
  }
  CHECK(test::robot_client::bytes_of(folder.file("one.log")) ==
        test::robot_client::bytes_of(folder.file("two.log")));
}

TEST_CASE("the log of a running process has the failure of a component") {
  const ScratchFolder folder;
  auto made = make(system_with(R"("log": ")" + folder.file("run.log") + R"(")"), "main");
  REQUIRE(made.has_value());
  ComponentSystem& system = *(*made)->system;
  REQUIRE(system.start().has_value());
  static_cast<void>(system.command(R"(set a {"fails": true})", "operator"));
  while (system.find("a")->state() != component::ComponentState::error)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  while (!system.next_report()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  REQUIRE(system.stop());
  const std::string log = test::robot_client::bytes_of(folder.file("run.log"));
  CAPTURE(log);
  CHECK(log.find("info counting@main begins, process ") != std::string::npos);
  CHECK(log.find("warning a has failed: ") != std::string::npos);
  CHECK(log.find("info counting@main ends: ") != std::string::npos);
}

// ---- a component from its recording ----

namespace {

std::string following(const std::string& source, const std::string& gain, const std::string& record) {
  return R"({"name": "following", "contexts": [{"name": "fast", "period_ms": 1}],
             "components": [{"name": "a", "context": "fast", "order": 1, )" +
         source + R"(},
                            {"name": "f", "type": "Follower", "context": "fast", "order": 2,
                             "parameters": {"gain": )" +
         gain + R"(}}],
             "connections": [{"from": "a.all", "to": "f.in"}],
             "processes": [{"name": "main", "record": {"file": ")" +
         record + R"("}}]})";
}

/// Each value's time and bits.
std::vector<std::pair<Time, std::uint64_t>> values_with_times_in(const std::string& path,
                                                                 std::string_view topic) {
  std::vector<std::pair<Time, std::uint64_t>> answers;
  auto reader = record::Reader::open(path);
  if (!reader) FAIL(reader.error().message);
  while (const record::Record* record = reader->next().value()) {
    const auto& sample = std::get<record::SampleRecord>(*record);
    if (sample.topic == topic)
      answers.emplace_back(sample.time, record::CdrReader(sample.message).number<std::uint64_t>());
  }
  return answers;
}

std::vector<std::pair<Time, std::uint64_t>> answers_in(const std::string& path) {
  return values_with_times_in(path, "/ports/f.out");
}

void run(const std::string& json, Duration duration = std::chrono::seconds(2)) {
  auto made = make(json);
  if (!made) FAIL(made.error().message);
  const auto done = (*made)->system->run_virtual(duration);
  if (!done) FAIL(done.error().message);
  REQUIRE((*made)->system->stop());
}

}  // namespace

TEST_CASE("a component from its recording gives the others the same values at the same times") {
  const ScratchFolder folder;
  const std::string first = folder.file("first.mcap"), again = folder.file("again.mcap");
  run(following(R"("type": "Source")", "0.1", first));
  const auto wanted = answers_in(first);
  REQUIRE(wanted.size() > 1900);
  const std::string recording = R"("type": "Recording", "file": ")" + first + R"(")";
  run(following(recording, "0.1", again));
  CHECK(answers_in(again) == wanted);

  const std::string other = folder.file("other.mcap");
  run(following(recording, "0.2", other));
  CHECK(answers_in(other).front().second != wanted.front().second);
}

TEST_CASE("a component from its recording plays beside threads, and pauses with its component") {
  const ScratchFolder folder;
  const std::string first = folder.file("first.mcap"), again = folder.file("again.mcap");
  run(following(R"("type": "Source")", "0.1", first), std::chrono::milliseconds(300));
  const auto wanted = answers_in(first);
  const std::size_t values = values_in(first).at("/ports/a.all").size();
  auto made = make(following(R"("type": "Recording", "file": ")" + first + R"(")", "0.1", again));
  REQUIRE(made.has_value());
  ComponentSystem& system = *(*made)->system;
  const Time before = platform::SteadyClock().now();
  REQUIRE(system.start().has_value());
  const auto answer = [&](const char* line) {
    CHECK(system.command(line, "test").starts_with(R"({"ok":true)"));
  };
  answer("stop a");
  answer("start a");
  const auto* played = dynamic_cast<component::OutPortBase*>(system.find("a")->find_port("all"));
  const auto* answers = &dynamic_cast<Follower*>(system.find("f"))->out;
  const auto is_over = [&] { return played->written() == values && answers->written() > 0; };
  while (!is_over()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  REQUIRE(system.stop());
  // Stamps are of the present.
  const auto last = values_with_times_in(again, "/ports/a.all").back();
  CHECK(last.first > before + std::chrono::milliseconds(200));
  CHECK(last.first <= platform::SteadyClock().now());
  const auto found = answers_in(again);
  // A cycle of a machine that pauses gets several values, of which it reads the last.
  REQUIRE(!found.empty());
  CHECK(found.back().second == wanted.back().second);
  bool is_told = false;
  for (const std::string& text : reports_of(system)) is_told = is_told || text.starts_with("played ");
  CHECK(is_told);
}

TEST_CASE("a recording without the component, and one that is missing or cut, is named before the start") {
  const ScratchFolder folder;
  const std::string first = folder.file("first.mcap");
  run(following(R"("type": "Source")", "0.1", first));
  const auto refusal = [&](const std::string& source) {
    const auto made = make(following(source, "0.1", folder.file("none.mcap")));
    REQUIRE(!made.has_value());
    return made.error().message;
  };
  const std::string of_another =
      refusal(R"("type": "Recording", "file": ")" + folder.file("nowhere.mcap") + R"(")");
  CHECK(of_another.find("/components/0/file: ") != std::string::npos);
  const std::string nameless = refusal(R"("type": "Recording")");
  CHECK(nameless.find("/components/0/file") != std::string::npos);
  const auto other = make(R"({"name": "x", "contexts": [{"name": "fast", "period_ms": 1}],
      "components": [{"name": "b", "context": "fast", "type": "Recording", "file": ")" +
                          first + R"("}]})");
  REQUIRE(!other.has_value());
  CHECK(other.error().message.find("the recording has no port of \"b\"; it has: a.all a.some f.out") !=
        std::string::npos);
  auto bytes = test::robot_client::bytes_of(first);
  bytes[bytes.size() / 2] ^= 1;
  std::ofstream(first, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  CHECK(refusal(R"("type": "Recording", "file": ")" + first + R"(")").find("first.mcap: byte ") !=
        std::string::npos);
}
