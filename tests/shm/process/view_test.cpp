// The output of `takt shm inspect` for a segment that a malicious peer changes meanwhile.
#include "tools/shm_view.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "shm/forged.hpp"
#include "takt/platform/segment.hpp"
#include "takt/shm/joint_client.hpp"
#include "takt/shm/joint_hub.hpp"
#include "takt/shm/opaque.hpp"
#include "tools/drive_publication.hpp"
#include "tools/shm_words.hpp"

using namespace takt;
using platform::Segment;

TEST_CASE("a tool shows no value whose schema has become that of a larger one, and reads nothing beyond it") {
  using Value = shm::LatestValue<shm::Opaque>;
  const shm::Opaque element = shm::Opaque::of(test::forged::small).value();
  const std::array wanted = {shm::declare<Value>("value", element)};
  Segment segment = Segment::create_sealed("test-view", wanted).value();
  std::array<std::byte, 17> bytes{};
  segment.producer<Value>("value", element)->end.write(bytes.data());
  const Segment seen = Segment::attach(segment.descriptor()).value();
  const auto shown = [&] { return tools::segment_json(seen, Time{})["exchanges"][0]; };
  CHECK(shown()["schema"] == test::forged::small);
  CHECK(shown()["values"][0]["aaaaaa"].size() == 16);

  const shm::Exchange& exchange = segment.layout().exchanges()[0];
  test::forged::enlarge(const_cast<std::byte*>(segment.layout().memory_of(exchange).data()) -
                        exchange.offset);
  CHECK(shown()["schema"] == "");
  CHECK(shown()["values"].empty());
  CHECK(tools::segment_text(seen, Time{}).size() < 1000);
}

TEST_CASE("bytes are not decoded by a schema of another length") {
  const std::vector<std::byte> bytes(8);
  CHECK(tools::decode(shm::parse_schema("value u64").value(), bytes)["value"] == 0);
  CHECK(tools::decode(shm::parse_schema("value u64[2]").value(), bytes).is_null());
  CHECK(tools::decode(shm::parse_schema("value u32").value(), bytes).is_null());
}

TEST_CASE("a joint image is shown in words, without joints and owner slots that the robot does not have") {
  const std::array wanted = {shm::declare<shm::BroadcastValue<shm::JointImage>>("joints"),
                             shm::declare<shm::JointSlots>("joint_slots", 1, 2)};
  Segment segment = Segment::create_sealed("test-joints", wanted).value();
  auto image = segment.producer<shm::BroadcastValue<shm::JointImage>>("joints").value();
  auto owner_slots = segment.consumer<shm::JointSlots>("joint_slots").value();
  auto reader = segment.consumer<shm::BroadcastValue<shm::JointImage>>("joints").value();
  auto owner_slot = segment.producer<shm::JointSlots>("joint_slots", 1).value();
  constexpr std::array<shm::JointSafety, 3> safety{};
  auto hub =
      shm::JointHub::make(*image.end, owner_slots.end, safety, {.period = Duration(1'000'000)}).value();
  shm::JointClient client(reader.end, owner_slot.end, 1);
  client.want(JointSet::first(2));
  constexpr std::array<shm::JointMeasurement, 3> measured{{{0.5, 0, 0}, {-0.25, 0, 0}, {1, 0, 0}}};
  for (Time now{}; now < Time(Duration(4'000'000)); now += Duration(1'000'000)) {
    static_cast<void>(hub.take());
    hub.publish(now, measured);
    static_cast<void>(client.update());
    client.publish(now);
  }

  const std::string text = tools::segment_text(segment, Time{});
  const auto shows = [&](const char* line) { return text.find(line) != std::string::npos; };
  CHECK(shows("\n  position  0.5, -0.25, 1\n"));
  CHECK(shows("\n  owner  1, 1, nobody\n"));
  CHECK(shows("\n  phase  driven, driven, resting\n"));
  CHECK(shows("\n  answer  none, granted\n"));
  CHECK(shows("\n  error  none, none\n"));
  CHECK(shows("\n  of slot 0:\n  (no value)\n  of slot 1:\n"));
  CHECK(shows("\n  wanted  0, 1\n"));

  const auto exchanges = tools::segment_json(segment, Time{})["exchanges"];
  const auto& joints = exchanges[0]["values"][0];
  CHECK(joints["phase"] == nlohmann::ordered_json{"driven", "driven", "resting"});
  CHECK(joints["position"].size() == 3);
  CHECK(joints["session"].size() == 2);
  CHECK(exchanges[1]["values"][1]["position"].size() == 3);
}

TEST_CASE("a code without a word stays a number, and rows that a segment claims to have do no harm") {
  constexpr std::string_view schema = shm::schema_text<shm::JointImage>();
  shm::JointImage image;
  image.joints = 4'000'000'000;
  image.slots = 1;
  image.phase[0] = static_cast<shm::JointPhase>(77);
  std::vector<std::byte> bytes(sizeof image);
  std::memcpy(bytes.data(), &image, sizeof image);
  auto value = tools::decode(shm::parse_schema(schema).value(), bytes);
  tools::put_words(schema, tools::rows_in_use(schema, value).value(), value);
  CHECK(value["phase"].size() == max_joints);
  CHECK(value["phase"][0] == 77);
  CHECK(value["phase"][1] == "resting");
  CHECK(value["answer"].size() == 1);
  CHECK(!tools::rows_in_use("value u64", value));
}

TEST_CASE("a driver's report of its vehicle is shown in words") {
  const tools::VehicleStatus status{.state = vehicle::SupervisorState::stopping,
                                    .cause = vehicle::StopCause::requested};
  constexpr std::string_view schema = shm::schema_text<tools::VehicleStatus>();
  std::vector<std::byte> bytes(sizeof status);
  std::memcpy(bytes.data(), &status, sizeof status);
  auto value = tools::decode(shm::parse_schema(schema).value(), bytes);
  tools::put_words(schema, {}, value);
  CHECK(value["state"] == "stopping");
  CHECK(value["cause"] == "stop requested");
}
