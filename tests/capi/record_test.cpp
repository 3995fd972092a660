// The real-time functions of recordings and logs in C, under the guard.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <filesystem>

#include "record/recordings.hpp"
#include "support/rt_guard.hpp"
#include "takt.h"

namespace {

/// Logs in each cycle.
struct Speaker {
  takt_log_statement* statement = nullptr;
  std::uint64_t cycles = 0;
};
std::int32_t speak(void* user, const takt_cycle*) {
  auto* me = static_cast<Speaker*>(user);
  const std::array<double, 2> numbers{static_cast<double>(++me->cycles), 0.5};
  takt_log(me->statement, numbers.data());
  return TAKT_OK;
}

}  // namespace

TEST_CASE("a loop in C records without allocation, lock or system call") {
  const takt::test::recordings::ScratchFile file;
  const std::array<const char*, 2> joints{"shoulder", "elbow"};
  const std::array<takt_topic, 1> topics{{{"/force", "my/msg/Force", "force f64"}}};
  takt_recorder_options options;
  takt_recorder_options_init(&options, sizeof options);
  options.joints = joints.data();
  options.joint_count = joints.size();
  options.topics = topics.data();
  options.topic_count = topics.size();
  takt_recorder* recorder = nullptr;
  REQUIRE(takt_recorder_create(file.path().c_str(), &options, &recorder, nullptr, 0) == TAKT_OK);
  const std::array<takt_joint_sample, 2> samples{};
  takt_cycle_sample cycle{};
  std::int32_t failed = 0;

  takt::test::RtGuard guard;
  for (std::int64_t t = 1; t <= 1000; ++t) {
    const auto force = static_cast<double>(t);
    cycle.time_ns = t * 1'000'000;
    failed |= takt_recorder_cycle(recorder, &cycle, samples.data(), samples.size());
    failed |= takt_recorder_sample(recorder, 0, cycle.time_ns, &force, sizeof force);
    failed |= takt_recorder_mark(recorder, cycle.time_ns, "lifting");
  }
  CHECK(guard.report() == "");
  CHECK(failed == 0);
  takt_recorder_totals totals{};
  CHECK(takt_recorder_finish(recorder, &totals, nullptr, 0) == TAKT_OK);
  CHECK(totals.records == 3000);
  CHECK(totals.dropped == 0);
  takt_recorder_destroy(recorder);
}

TEST_CASE("a component in C logs without allocation, lock or system call") {
  const takt::test::recordings::ScratchFile file;
  Speaker speaker;
  takt_component_type type;
  takt_component_type_init(&type, sizeof type);
  type.type = "Speaker";
  type.on_execute = speak;
  takt_component* component = nullptr;
  takt_context* context = nullptr;
  REQUIRE(takt_component_create(&type, "speaker", &speaker, &component) == TAKT_OK);
  REQUIRE(takt_component_add_log_statement(component, TAKT_LOG_INFO, "cycle {} of {}", 2,
                                           &speaker.statement) == TAKT_OK);
  REQUIRE(takt_context_create("fast", 1'000'000, &context) == TAKT_OK);
  REQUIRE(takt_context_log_to(context, file.path().c_str(), 0, nullptr, 0) == TAKT_OK);
  REQUIRE(takt_context_add(context, component, nullptr, nullptr, 0) == TAKT_OK);
  REQUIRE(takt_context_activate(context, component) == TAKT_OK);
  REQUIRE(takt_context_start(context, 0) == TAKT_OK);
  {
    takt::test::RtGuard guard;
    for (std::int64_t t = 0; t < 1000; ++t) takt_context_run_cycle(context, t * 1'000'000, 1'000'000);
    CHECK(guard.report() == "");
  }
  takt_context_stop(context, 1'000'000'000);
  CHECK(speaker.cycles == 1000);
  takt_context_destroy(context);
  takt_component_destroy(component);
  CHECK(std::filesystem::file_size(file.path()) > 100);  // ten lines, and two
}
