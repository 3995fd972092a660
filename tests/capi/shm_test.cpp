// Shared memory through the C API. Elements arrive unchanged, each end has one owner, every rejection is a
// status. Functions that claim to be real-time safe are.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "capi/shared_segment.hpp"
#include "support/rt_guard.hpp"
#include "takt.h"
#include "takt/platform/segment.hpp"

using namespace takt::test::capi;

TEST_CASE("messages of any length go through a byte ring of the C API") {
  Shared shared;
  takt_byte_producer* producer = nullptr;
  takt_byte_consumer* consumer = nullptr;
  REQUIRE(takt_byte_producer_create(shared.segment, "requests", &producer) == TAKT_OK);
  REQUIRE(takt_byte_consumer_create(shared.segment, "requests", &consumer) == TAKT_OK);
  takt_byte_producer* second = nullptr;
  CHECK(takt_byte_producer_create(shared.segment, "requests", &second) == TAKT_ERROR_PLATFORM_SLOT_TAKEN);
  CHECK(takt_byte_producer_create(shared.segment, "joints", &second) == TAKT_ERROR_SHM_WRONG_KIND);
  CHECK(takt_byte_producer_create(shared.segment, "nothing", &second) == TAKT_ERROR_SHM_NO_SUCH_EXCHANGE);
  CHECK(takt_byte_producer_max(producer) == 504);

  std::array<char, 600> got{};
  std::size_t length = 0;
  CHECK(takt_byte_consumer_read(consumer, got.data(), got.size(), &length) == TAKT_ERROR_SHM_EMPTY);
  for (std::size_t size = 0; size <= takt_byte_producer_max(producer); size += 7) {
    const std::vector<char> message(size, static_cast<char>(size));
    REQUIRE(takt_byte_producer_write(producer, message.data(), size) == TAKT_OK);
    if (size != 0) {
      CHECK(takt_byte_consumer_read(consumer, got.data(), size - 1, &length) ==
            TAKT_ERROR_CAPI_BUFFER_TOO_SMALL);
      CHECK(length == size);
    }
    CHECK(takt_byte_consumer_read(consumer, got.data(), got.size(), &length) == TAKT_OK);
    REQUIRE(length == size);
    CHECK(std::vector<char>(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(size)) == message);
  }
  CHECK(takt_byte_producer_write(producer, got.data(), 505) == TAKT_ERROR_SHM_FULL);
  takt_byte_producer_destroy(producer);
  takt_byte_consumer_destroy(consumer);
}

TEST_CASE("elements go through a ring of the C API, one by one and many at once") {
  Shared shared;
  const RingProducer producer(shared.segment, "ring");
  const RingConsumer consumer(shared.segment, "ring");
  Pose got = pose(99);
  CHECK(takt_ring_consumer_pop(consumer, &got, sizeof got) == TAKT_ERROR_SHM_EMPTY);
  CHECK(is_pose(got, 99));
  std::array<Pose, 20> many{};
  for (int i = 0; i < 20; ++i) many[static_cast<std::size_t>(i)] = pose(i);
  CHECK(takt_ring_producer_push(producer, &many[0], sizeof(Pose)) == TAKT_OK);
  std::size_t count = 0;
  CHECK(takt_ring_producer_push_many(producer, &many[1], sizeof(Pose), 19, &count) == TAKT_OK);
  CHECK(count == 7);
  CHECK(takt_ring_producer_push(producer, &many[0], sizeof(Pose)) == TAKT_ERROR_SHM_FULL);
  CHECK(takt_ring_consumer_pop(consumer, &got, sizeof got) == TAKT_OK);
  CHECK(is_pose(got, 0));
  std::array<Pose, 20> all{};
  CHECK(takt_ring_consumer_pop_many(consumer, all.data(), sizeof(Pose), 20, &count) == TAKT_OK);
  CHECK(count == 7);
  CHECK(std::memcmp(all.data(), &many[1], 7 * sizeof(Pose)) == 0);
  CHECK(takt_ring_consumer_pop_many(consumer, all.data(), sizeof(Pose), 20, &count) == TAKT_OK);
  CHECK(count == 0);
}

TEST_CASE(
    "the newest value reaches one reader or many through the C API, and each learns whether it is new") {
  Shared shared;
  for (const char* name : {"latest", "broadcast"}) {
    CAPTURE(name);
    const ValueWriter writer(shared.segment, name);
    const ValueReader reader(shared.segment, name);
    Pose got = pose(99);
    CHECK(read(reader, got) == TAKT_FRESHNESS_NONE);
    CHECK(is_pose(got, 99));
    for (int i = 0; i < 10; ++i) {
      const Pose value = pose(i);
      CHECK(takt_value_writer_write(writer, &value, sizeof value) == TAKT_OK);
      if (i % 3 == 2) continue;
      CHECK(read(reader, got) == TAKT_FRESHNESS_NEW);
      CHECK(read(reader, got) == TAKT_FRESHNESS_OLD);
      CHECK(is_pose(got, i));
    }
    CHECK(takt_value_reader_read(reader, &got, sizeof got, nullptr) == TAKT_OK);
    takt_value_reader* second = nullptr;
    const std::int32_t status = takt_value_reader_create(shared.segment, name, pose_schema, &second);
    CHECK(status == (name[0] == 'l' ? TAKT_ERROR_PLATFORM_SLOT_TAKEN : TAKT_OK));
    if (second != nullptr) CHECK(read(second, got) == TAKT_FRESHNESS_NEW);
    takt_value_reader_destroy(second);
  }
}

TEST_CASE("a stream of the C API reports to each reader what it missed") {
  Shared shared;
  const StreamWriter writer(shared.segment, "stream");
  const StreamReader reader(shared.segment, "stream");
  Pose got{};
  CHECK(takt_stream_reader_read(reader, &got, sizeof got) == TAKT_ERROR_SHM_EMPTY);
  for (int i = 0; i < 20; ++i) {
    const Pose message = pose(i);
    CHECK(takt_stream_writer_write(writer, &message, sizeof message) == TAKT_OK);
  }
  CHECK(takt_stream_reader_read(reader, &got, sizeof got) == TAKT_OK);
  CHECK(is_pose(got, 14));  // two of the eight are the writer's
  CHECK(takt_stream_reader_missed(reader) == 14);
  const StreamReader second(shared.segment, "stream");
  CHECK(takt_stream_reader_missed(second) == 0);
  for (int i = 14; i < 20; ++i) {
    CHECK(takt_stream_reader_read(second, &got, sizeof got) == TAKT_OK);
    CHECK(is_pose(got, i));
  }
  CHECK(takt_stream_reader_read(second, &got, sizeof got) == TAKT_ERROR_SHM_EMPTY);
}

TEST_CASE("exchanges declared in C are opened in C++, and the reverse") {
  namespace shm = takt::shm;
  Shared shared;
  auto segment = takt::platform::Segment::open(shared.name);
  REQUIRE(segment);
  Pose got{};
  {
    auto ring = segment->producer<shm::SpscRing<Pose>>("ring");
    auto latest = segment->producer<shm::LatestValue<Pose>>("latest");
    auto broadcast = segment->producer<shm::BroadcastValue<Pose>>("broadcast");
    auto stream = segment->producer<shm::BroadcastRing<Pose>>("stream");
    REQUIRE((ring && latest && broadcast && stream));
    takt_ring_producer* taken = nullptr;
    CHECK(takt_ring_producer_create(shared.segment, "ring", pose_schema, &taken) ==
          TAKT_ERROR_PLATFORM_SLOT_TAKEN);
    CHECK(ring->end.try_push(pose(1)));
    latest->end.write(pose(2));
    broadcast->end->write(pose(3));
    stream->end.write(pose(4));
  }
  CHECK(takt_ring_consumer_pop(RingConsumer(shared.segment, "ring"), &got, sizeof got) == TAKT_OK);
  CHECK(is_pose(got, 1));
  CHECK(read(ValueReader(shared.segment, "latest"), got) == TAKT_FRESHNESS_NEW);
  CHECK(is_pose(got, 2));
  CHECK(read(ValueReader(shared.segment, "broadcast"), got) == TAKT_FRESHNESS_NEW);
  CHECK(is_pose(got, 3));
  CHECK(takt_stream_reader_read(StreamReader(shared.segment, "stream"), &got, sizeof got) == TAKT_OK);
  CHECK(is_pose(got, 4));

  auto ring = segment->consumer<shm::SpscRing<Pose>>("ring");
  auto latest = segment->consumer<shm::LatestValue<Pose>>("latest");
  auto broadcast = segment->consumer<shm::BroadcastValue<Pose>>("broadcast");
  auto stream = segment->consumer<shm::BroadcastRing<Pose>>("stream");
  REQUIRE((ring && latest && broadcast && stream));
  for (int i = 5; i < 9; ++i) {  // each time another one continues where the last one stopped
    const Pose value = pose(i);
    CHECK(takt_ring_producer_push(RingProducer(shared.segment, "ring"), &value, sizeof value) == TAKT_OK);
    CHECK(takt_value_writer_write(ValueWriter(shared.segment, "latest"), &value, sizeof value) == TAKT_OK);
    CHECK(takt_value_writer_write(ValueWriter(shared.segment, "broadcast"), &value, sizeof value) == TAKT_OK);
    CHECK(takt_stream_writer_write(StreamWriter(shared.segment, "stream"), &value, sizeof value) == TAKT_OK);
    CHECK(ring->end.try_pop(got));
    CHECK(is_pose(got, i));
    CHECK(latest->end.read(got) == shm::Freshness::new_data);
    CHECK(is_pose(got, i));
    CHECK(broadcast->end.read(got) == shm::Freshness::new_data);
    CHECK(is_pose(got, i));
    while (stream->end.try_read(got)) {
    }
    CHECK(is_pose(got, i));
  }
}

TEST_CASE("ends that cannot be are refused, and leave their slots free") {
  Shared shared;
  const auto refused = [&](const char* name, const char* schema) {
    std::array<std::int32_t, 3> status{};
    takt_ring_producer* ring = nullptr;
    takt_value_reader* value = nullptr;
    takt_stream_reader* stream = nullptr;
    status[0] = takt_ring_producer_create(shared.segment, name, schema, &ring);
    status[1] = takt_value_reader_create(shared.segment, name, schema, &value);
    status[2] = takt_stream_reader_create(shared.segment, name, schema, &stream);
    CHECK(ring == nullptr);
    CHECK(value == nullptr);
    CHECK(stream == nullptr);
    CHECK(status[0] == status[1]);
    CHECK(status[0] == status[2]);
    return status[0];
  };
  CHECK(refused("nothing", pose_schema) == TAKT_ERROR_SHM_NO_SUCH_EXCHANGE);
  CHECK(refused("requests", pose_schema) == TAKT_ERROR_SHM_WRONG_KIND);
  CHECK(refused("joint_slots", pose_schema) == TAKT_ERROR_SHM_WRONG_KIND);
  CHECK(refused("ring", "no schema at all") == TAKT_ERROR_SHM_BAD_SCHEMA);
  CHECK(refused("ring", "") == TAKT_ERROR_SHM_BAD_SCHEMA);
  CHECK(refused("ring", nullptr) == TAKT_ERROR_CAPI_NULL_POINTER);
  CHECK(refused(nullptr, pose_schema) == TAKT_ERROR_CAPI_NULL_POINTER);
  const char* other = "position f64[6], stamp u64, mode u8, _ u8[7]";
  takt_ring_consumer* ring = nullptr;
  takt_value_writer* value = nullptr;
  takt_stream_writer* stream = nullptr;
  CHECK(takt_ring_consumer_create(shared.segment, "ring", other, &ring) == TAKT_ERROR_SHM_WRONG_SCHEMA);
  CHECK(takt_ring_consumer_create(shared.segment, "latest", pose_schema, &ring) == TAKT_ERROR_SHM_WRONG_KIND);
  CHECK(takt_value_writer_create(shared.segment, "latest", other, &value) == TAKT_ERROR_SHM_WRONG_SCHEMA);
  CHECK(takt_value_writer_create(shared.segment, "broadcast", "x u8", &value) == TAKT_ERROR_SHM_WRONG_SCHEMA);
  CHECK(takt_value_writer_create(shared.segment, "stream", pose_schema, &value) == TAKT_ERROR_SHM_WRONG_KIND);
  CHECK(takt_stream_writer_create(shared.segment, "stream", other, &stream) == TAKT_ERROR_SHM_WRONG_SCHEMA);
  CHECK(takt_stream_writer_create(shared.segment, "ring", pose_schema, &stream) == TAKT_ERROR_SHM_WRONG_KIND);

  const RingProducer producer(shared.segment, "ring");
  const RingConsumer consumer(shared.segment, "ring");
  const ValueWriter writer(shared.segment, "latest");
  const ValueReader reader(shared.segment, "broadcast");
  const StreamWriter told(shared.segment, "stream");
  const StreamReader hears(shared.segment, "stream");
  CHECK(takt_stream_writer_create(shared.segment, "stream", pose_schema, &stream) ==
        TAKT_ERROR_PLATFORM_SLOT_TAKEN);
  Pose element = pose(1);
  std::size_t count = 77;
  std::int32_t freshness = 77;
  for (const std::size_t wrong : {std::size_t{0}, sizeof element - 1, sizeof element + 1, ~std::size_t{0}}) {
    constexpr std::int32_t bad = TAKT_ERROR_CAPI_BAD_ARGUMENT;
    CHECK(takt_ring_producer_push(producer, &element, wrong) == bad);
    CHECK(takt_ring_producer_push_many(producer, &element, wrong, 1, &count) == bad);
    CHECK(takt_ring_consumer_pop(consumer, &element, wrong) == bad);
    CHECK(takt_ring_consumer_pop_many(consumer, &element, wrong, 1, &count) == bad);
    CHECK(takt_value_writer_write(writer, &element, wrong) == bad);
    CHECK(takt_value_reader_read(reader, &element, wrong, &freshness) == bad);
    CHECK(takt_stream_writer_write(told, &element, wrong) == bad);
    CHECK(takt_stream_reader_read(hears, &element, wrong) == bad);
  }
  CHECK(takt_ring_producer_push_many(producer, &element, sizeof element, 1, nullptr) ==
        TAKT_ERROR_CAPI_NULL_POINTER);
  CHECK(count == 77);
  CHECK(freshness == 77);
  CHECK(is_pose(element, 1));
}

TEST_CASE("a segment with other exchanges is refused while a process has it") {
  Shared shared;
  takt_segment* segment = nullptr;
  const auto open = [&](const takt_exchange& wanted) {
    return takt_segment_open_or_create(shared.name.c_str(), &wanted, 1, &segment);
  };
  CHECK(open({"ring", TAKT_EXCHANGE_RING, 8, "x f64"}) == TAKT_ERROR_SHM_WRONG_SCHEMA);
  CHECK(open({"ring", TAKT_EXCHANGE_LATEST, 0, pose_schema}) == TAKT_ERROR_SHM_WRONG_KIND);
  CHECK(open({"other", TAKT_EXCHANGE_RING, 8, pose_schema}) == TAKT_ERROR_SHM_NO_SUCH_EXCHANGE);
  CHECK(segment == nullptr);
}

TEST_CASE("a sealed segment is served and received through the C API") {
  const std::string path = "@takt-capi-" + std::to_string(getpid());
  const std::array<takt_exchange, 2> exchanges{
      {{"ring", TAKT_EXCHANGE_RING, 8, pose_schema}, {"state", TAKT_EXCHANGE_BROADCAST, 0, pose_schema}}};
  takt_segment* sealed = nullptr;
  REQUIRE(takt_segment_create_sealed("capi", exchanges.data(), exchanges.size(), &sealed) == TAKT_OK);
  takt_segment* received = nullptr;
  CHECK(takt_segment_receive(path.c_str(), 0, &received) == TAKT_ERROR_PLATFORM_CONNECT_FAILED);
  takt_segment_server* server = nullptr;
  REQUIRE(takt_segment_server_create(sealed, path.c_str(), &server) == TAKT_OK);
  takt_segment_server* second = nullptr;
  CHECK(takt_segment_server_create(sealed, path.c_str(), &second) == TAKT_ERROR_PLATFORM_LISTEN_FAILED);
  REQUIRE(takt_segment_receive(path.c_str(), 1'000'000'000, &received) == TAKT_OK);
  const RingProducer producer(sealed, "ring");
  const RingConsumer consumer(received, "ring");
  takt_segment_close(received);  // the ends keep its memory
  takt_segment_close(sealed);    // and the server still serves it
  Pose value = pose(3);
  CHECK(takt_ring_producer_push(producer, &value, sizeof value) == TAKT_OK);
  value = {};
  CHECK(takt_ring_consumer_pop(consumer, &value, sizeof value) == TAKT_OK);
  CHECK(is_pose(value, 3));
  REQUIRE(takt_segment_receive(path.c_str(), 1'000'000'000, &received) == TAKT_OK);
  takt_ring_producer* taken = nullptr;
  CHECK(takt_ring_producer_create(received, "ring", pose_schema, &taken) == TAKT_ERROR_PLATFORM_SLOT_TAKEN);
  takt_segment_close(received);
  takt_segment_server_destroy(server);
  CHECK(takt_segment_receive(path.c_str(), 0, &received) == TAKT_ERROR_PLATFORM_CONNECT_FAILED);

  Shared named;
  CHECK(takt_segment_server_create(named.segment, path.c_str(), &second) == TAKT_ERROR_PLATFORM_NOT_SEALED);
  CHECK(second == nullptr);
}

TEST_CASE("segments that cannot be are refused, and NULL is answered, everywhere") {
  takt_segment* segment = nullptr;
  const takt_exchange unknown{"x", 99, 1, nullptr};
  const takt_exchange nameless{nullptr, TAKT_EXCHANGE_BYTE_RING, 64, nullptr};
  const takt_exchange bad{"no spaces", TAKT_EXCHANGE_BYTE_RING, 64, nullptr};
  const takt_exchange shapeless{"x", TAKT_EXCHANGE_RING, 64, nullptr};
  const takt_exchange misshapen{"x", TAKT_EXCHANGE_LATEST, 0, "a u8, b f64"};
  CHECK(takt_segment_open("takt-capi-nowhere", &segment) == TAKT_ERROR_PLATFORM_NO_SUCH_SEGMENT);
  CHECK(takt_segment_open("a/b", &segment) == TAKT_ERROR_PLATFORM_BAD_SEGMENT_NAME);
  CHECK(takt_segment_remove("takt-capi-nowhere") == TAKT_ERROR_PLATFORM_NO_SUCH_SEGMENT);
  CHECK(takt_segment_open_or_create("takt-capi-x", &unknown, 1, &segment) == TAKT_ERROR_CAPI_BAD_ARGUMENT);
  CHECK(takt_segment_open_or_create("takt-capi-x", &nameless, 1, &segment) == TAKT_ERROR_CAPI_NULL_POINTER);
  CHECK(takt_segment_open_or_create("takt-capi-x", &bad, 1, &segment) == TAKT_ERROR_SHM_BAD_NAME);
  CHECK(takt_segment_open_or_create("takt-capi-x", &shapeless, 1, &segment) == TAKT_ERROR_CAPI_NULL_POINTER);
  CHECK(takt_segment_open_or_create("takt-capi-x", &misshapen, 1, &segment) == TAKT_ERROR_SHM_BAD_SCHEMA);
  CHECK(takt_segment_create_sealed("takt-capi-x", &misshapen, 1, &segment) == TAKT_ERROR_SHM_BAD_SCHEMA);
  CHECK(takt_segment_open_or_create("takt-capi-x", &bad, 33, &segment) == TAKT_ERROR_SHM_TOO_MANY_EXCHANGES);
  CHECK(takt_segment_open_or_create("takt-capi-x", &bad, 0, &segment) == TAKT_ERROR_SHM_TOO_MANY_EXCHANGES);
  CHECK(segment == nullptr);

  constexpr std::int32_t null = TAKT_ERROR_CAPI_NULL_POINTER;
  takt_joint_reference reference{};
  takt_joint_measurement measured{};
  CHECK(takt_segment_open(nullptr, &segment) == null);
  CHECK(takt_segment_open_or_create(nullptr, nullptr, 0, nullptr) == null);
  CHECK(takt_segment_remove(nullptr) == null);
  CHECK(takt_byte_producer_create(nullptr, "x", nullptr) == null);
  CHECK(takt_byte_consumer_create(nullptr, "x", nullptr) == null);
  CHECK(takt_byte_producer_write(nullptr, "x", 1) == null);
  CHECK(takt_byte_consumer_read(nullptr, &reference, 1, nullptr) == null);
  CHECK(takt_byte_producer_max(nullptr) == 0);
  CHECK(takt_segment_create_sealed(nullptr, nullptr, 0, nullptr) == null);
  CHECK(takt_segment_receive(nullptr, 0, nullptr) == null);
  CHECK(takt_segment_server_create(nullptr, nullptr, nullptr) == null);
  CHECK(takt_ring_producer_create(nullptr, "x", "y", nullptr) == null);
  CHECK(takt_ring_consumer_create(nullptr, "x", "y", nullptr) == null);
  CHECK(takt_ring_producer_push(nullptr, &reference, 1) == null);
  CHECK(takt_ring_producer_push_many(nullptr, &reference, 1, 1, nullptr) == null);
  CHECK(takt_ring_consumer_pop(nullptr, &reference, 1) == null);
  CHECK(takt_ring_consumer_pop_many(nullptr, &reference, 1, 1, nullptr) == null);
  CHECK(takt_value_writer_create(nullptr, "x", "y", nullptr) == null);
  CHECK(takt_value_reader_create(nullptr, "x", "y", nullptr) == null);
  CHECK(takt_value_writer_write(nullptr, &reference, 1) == null);
  CHECK(takt_value_reader_read(nullptr, &reference, 1, nullptr) == null);
  CHECK(takt_stream_writer_create(nullptr, "x", "y", nullptr) == null);
  CHECK(takt_stream_reader_create(nullptr, "x", "y", nullptr) == null);
  CHECK(takt_stream_writer_write(nullptr, &reference, 1) == null);
  CHECK(takt_stream_reader_read(nullptr, &reference, 1) == null);
  CHECK(takt_stream_reader_missed(nullptr) == 0);
  CHECK(takt_joint_client_create(nullptr, "x", "y", 0, nullptr) == null);
  CHECK(takt_joint_client_update(nullptr, nullptr) == null);
  CHECK(takt_joint_client_image(nullptr) == nullptr);
  CHECK(takt_joint_client_owned(nullptr) + takt_joint_client_granted(nullptr) == 0);
  CHECK(takt_joint_client_answer(nullptr) == TAKT_JOINT_ANSWER_NONE);
  CHECK(takt_joint_client_want(nullptr, 1) == null);
  CHECK(takt_joint_client_reference(nullptr, 0, &reference) == null);
  CHECK(takt_joint_client_set(nullptr, 0, &reference) == null);
  CHECK(takt_joint_client_publish(nullptr, 0) == null);
  CHECK(takt_joint_hub_create(nullptr, "x", "y", nullptr, 0, 1, 1, nullptr) == null);
  CHECK(takt_joint_hub_take(nullptr, &reference, 1) == null);
  CHECK(takt_joint_hub_publish(nullptr, 0, &measured, 1) == null);
  CHECK(takt_joint_hub_image(nullptr) == nullptr);
  takt_segment_close(nullptr);
  takt_segment_server_destroy(nullptr);
  takt_ring_producer_destroy(nullptr);
  takt_ring_consumer_destroy(nullptr);
  takt_value_writer_destroy(nullptr);
  takt_value_reader_destroy(nullptr);
  takt_stream_writer_destroy(nullptr);
  takt_stream_reader_destroy(nullptr);
  takt_byte_producer_destroy(nullptr);
  takt_byte_consumer_destroy(nullptr);
  takt_joint_client_destroy(nullptr);
  takt_joint_hub_destroy(nullptr);
}

TEST_CASE("shared-memory functions documented as real-time safe do not allocate, lock or enter the kernel") {
  Shared shared;
  takt_joint_hub* hub = shared.hub();
  takt_joint_client* client = shared.client(0);
  takt_byte_producer* producer = nullptr;
  takt_byte_consumer* consumer = nullptr;
  REQUIRE(takt_byte_producer_create(shared.segment, "replies", &producer) == TAKT_OK);
  REQUIRE(takt_byte_consumer_create(shared.segment, "replies", &consumer) == TAKT_OK);
  const RingProducer push(shared.segment, "ring");
  const RingConsumer pop(shared.segment, "ring");
  const ValueWriter write(shared.segment, "latest");
  const ValueReader latest(shared.segment, "latest");
  const ValueWriter broadcast(shared.segment, "broadcast");
  const ValueReader heard(shared.segment, "broadcast");
  const StreamWriter stream(shared.segment, "stream");
  const StreamReader streamed(shared.segment, "stream");
  Pose element = pose(1);
  std::array<takt_joint_reference, joints> references{};
  takt_joint_reference reference{};
  std::size_t length = 0;
  std::int32_t failed = 0;

  takt::test::RtGuard guard;
  for (int i = 0; i < 1000; ++i) {
    failed |= cycle(hub, references);
    failed |= takt_joint_client_update(client, nullptr);
    failed |= takt_joint_client_want(client, i % 50 < 30 ? 3 : 0);
    if ((takt_joint_client_owned(client) & 1) != 0) {
      failed |= takt_joint_client_reference(client, 0, &reference);
      reference.mode = TAKT_JOINT_MODE_VELOCITY;
      failed |= takt_joint_client_set(client, 0, &reference);
    }
    if (i % 100 < 80) failed |= takt_joint_client_publish(client, i);
    failed |= takt_byte_producer_write(producer, &reference, 20);
    failed |= takt_byte_consumer_read(consumer, &reference, sizeof reference, &length);
    reference = {};
    failed |= takt_ring_producer_push(push, &element, sizeof element);
    failed |= takt_ring_consumer_pop(pop, &element, sizeof element);
    failed |= takt_ring_producer_push_many(push, &element, sizeof element, 1, &length);
    failed |= takt_ring_consumer_pop_many(pop, &element, sizeof element, 1, &length);
    failed |= takt_value_writer_write(write, &element, sizeof element);
    failed |= takt_value_reader_read(latest, &element, sizeof element, nullptr);
    failed |= takt_value_writer_write(broadcast, &element, sizeof element);
    failed |= takt_value_reader_read(heard, &element, sizeof element, nullptr);
    failed |= takt_stream_writer_write(stream, &element, sizeof element);
    failed |= takt_stream_reader_read(streamed, &element, sizeof element);
    failed |= static_cast<std::int32_t>(takt_stream_reader_missed(streamed));
  }
  const bool seen = takt_joint_client_image(client)->cycle == takt_joint_hub_image(hub)->cycle;
  CHECK(guard.report() == "");
  CHECK(failed == 0);
  CHECK(seen);
  takt_byte_producer_destroy(producer);
  takt_byte_consumer_destroy(consumer);
  takt_joint_client_destroy(client);
  takt_joint_hub_destroy(hub);
}
