// Shared memory through the C API: what goes in comes out, one owner for each end, every refusal a status, and what is called
// real-time safe is.
#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "support/rt_guard.hpp"
#include "takt.h"

namespace {

constexpr std::size_t joints = 3;

/// A segment of its own for a test, which vanishes with it.
class Shared {
 public:
  Shared() : name("takt-capi-" + std::to_string(getpid()) + "-" + std::to_string(++count)) {
    const std::array<takt_exchange, 4> exchanges{{{"joints", TAKT_EXCHANGE_JOINT_IMAGE, 0},
                                                  {"joint_seats", TAKT_EXCHANGE_JOINT_SEATS, 3},
                                                  {"requests", TAKT_EXCHANGE_BYTE_RING, 1000},
                                                  {"replies", TAKT_EXCHANGE_BYTE_RING, 64}}};
    REQUIRE(takt_segment_open_or_create(name.c_str(), exchanges.data(), exchanges.size(), &segment) ==
            TAKT_OK);
  }
  ~Shared() {
    takt_segment_close(segment);
    takt_segment_remove(name.c_str());
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  [[nodiscard]] takt_joint_hub* hub(std::uint32_t silent_cycles = 5) {
    const std::array<takt_joint_safety, joints> safety{
        {{TAKT_SAFE_HOLD, 0, 0.5, 1}, {TAKT_SAFE_HOLD, 0, 0, 0}, {TAKT_SAFE_RELEASE, 0, 0, 0}}};
    takt_joint_hub* made = nullptr;
    REQUIRE(takt_joint_hub_create(segment, "joints", "joint_seats", safety.data(), joints, 1'000'000,
                                  silent_cycles, &made) == TAKT_OK);
    return made;
  }
  [[nodiscard]] takt_joint_client* client(std::uint32_t seat) {
    takt_joint_client* made = nullptr;
    REQUIRE(takt_joint_client_create(segment, "joints", "joint_seats", seat, &made) == TAKT_OK);
    return made;
  }

  std::string name;
  takt_segment* segment = nullptr;

 private:
  static inline int count = 0;
};

/// One cycle of the hub with drives that do at once what they are told.
std::int32_t cycle(takt_joint_hub* hub, std::array<takt_joint_reference, joints>& references,
                   std::int64_t now_ns = 1) {
  const std::int32_t taken = takt_joint_hub_take(hub, references.data(), joints);
  std::array<takt_joint_measurement, joints> measured{};
  for (std::size_t j = 0; j < joints; ++j) measured[j] = {references[j].position, references[j].velocity, 0};
  return taken | takt_joint_hub_publish(hub, now_ns, measured.data(), joints);
}

}  // namespace

TEST_CASE("a process moves joints through the C API, and they are safe when it is gone") {
  Shared shared;
  takt_joint_hub* hub = shared.hub();
  takt_joint_client* client = shared.client(1);
  takt_joint_client* taken = nullptr;
  CHECK(takt_joint_client_create(shared.segment, "joints", "joint_seats", 1, &taken) ==
        TAKT_ERROR_PLATFORM_SEAT_TAKEN);
  CHECK(takt_joint_client_create(shared.segment, "joints", "joint_seats", 3, &taken) ==
        TAKT_ERROR_SHM_NO_SUCH_SEAT);
  CHECK(takt_joint_client_create(shared.segment, "joints", "joints", 0, &taken) == TAKT_ERROR_SHM_WRONG_KIND);
  std::array<takt_joint_reference, joints> references{};
  std::int32_t is_new = 7;
  CHECK(takt_joint_client_update(client, &is_new) == TAKT_OK);
  CHECK(is_new == 0);
  takt_joint_reference reference{0.25, 0.5, 0.125, 2, TAKT_JOINT_MODE_POSITION, 0};
  CHECK(takt_joint_client_set(client, 0, &reference) == TAKT_ERROR_SHM_NOT_OWNER);
  CHECK(takt_joint_client_want(client, 0b101) == TAKT_OK);
  for (int i = 0; i < 2; ++i) {
    CHECK(cycle(hub, references) == TAKT_OK);
    CHECK(takt_joint_client_update(client, &is_new) == TAKT_OK);
    CHECK(is_new == 1);
    CHECK(takt_joint_client_publish(client, 77) == TAKT_OK);
  }
  CHECK(takt_joint_client_owned(client) == 0b101);
  CHECK(takt_joint_client_granted(client) == 0b101);
  CHECK(takt_joint_client_answer(client) == TAKT_SEAT_GRANTED);
  CHECK(takt_joint_client_set(client, 0, &reference) == TAKT_OK);
  reference.velocity = std::numeric_limits<double>::infinity();
  CHECK(takt_joint_client_set(client, 0, &reference) == TAKT_ERROR_SHM_BAD_REFERENCE);
  reference.mode = 4;
  CHECK(takt_joint_client_set(client, 0, &reference) == TAKT_ERROR_SHM_UNKNOWN_MODE);
  CHECK(takt_joint_client_publish(client, 78) == TAKT_OK);
  CHECK(cycle(hub, references, 99) == TAKT_OK);
  CHECK(references[0].position == 0.25);
  CHECK(references[0].velocity == 0.5);
  CHECK(references[0].acceleration == 0.125);
  CHECK(references[0].effort == 2);
  CHECK(references[0].mode == TAKT_JOINT_MODE_POSITION);
  const takt_joint_image* image = takt_joint_hub_image(hub);
  CHECK(image->cycle == 3);
  CHECK(image->stamp_ns == 99);
  CHECK(image->joints == joints);
  CHECK(image->seats == 3);
  CHECK(image->owner[0] == 1);
  CHECK(image->owner[1] == TAKT_NO_OWNER);
  CHECK(image->phase[0] == TAKT_JOINT_PHASE_DRIVEN);
  CHECK(image->position[0] == 0.25);
  CHECK(image->safe[0] == 0.5);
  CHECK(image->sent_ns[1] == 78);
  CHECK(takt_joint_client_update(client, nullptr) == TAKT_OK);
  CHECK(std::memcmp(takt_joint_client_image(client), image, sizeof *image) == 0);
  CHECK(takt_joint_client_reference(client, 0, &reference) == TAKT_OK);
  CHECK(reference.position == 0.25);

  takt_joint_client_destroy(client);
  for (int i = 0; i < 6; ++i) {
    CHECK(takt_joint_hub_image(hub)->owner[0] == 1);
    CHECK(cycle(hub, references) == TAKT_OK);
  }
  CHECK(takt_joint_hub_image(hub)->owner[0] == TAKT_NO_OWNER);
  CHECK(takt_joint_hub_image(hub)->phase[0] == TAKT_JOINT_PHASE_RETURNING);
  CHECK(std::abs(references[0].position - 0.251) < 1e-12);  // at 1 rad/s
  CHECK(references[2].mode == TAKT_JOINT_MODE_OFF);

  takt_joint_hub_destroy(hub);
  hub = shared.hub();  // another goes on
  CHECK(cycle(hub, references) == TAKT_OK);
  CHECK(takt_joint_hub_image(hub)->started == 10);
  CHECK(std::abs(references[0].position - 0.252) < 1e-12);
  takt_joint_hub_destroy(hub);
}

TEST_CASE("messages of any length go through a byte ring of the C API") {
  Shared shared;
  takt_byte_producer* producer = nullptr;
  takt_byte_consumer* consumer = nullptr;
  REQUIRE(takt_byte_producer_create(shared.segment, "requests", &producer) == TAKT_OK);
  REQUIRE(takt_byte_consumer_create(shared.segment, "requests", &consumer) == TAKT_OK);
  takt_byte_producer* second = nullptr;
  CHECK(takt_byte_producer_create(shared.segment, "requests", &second) == TAKT_ERROR_PLATFORM_SEAT_TAKEN);
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

TEST_CASE("segments that cannot be are refused, and NULL is answered, everywhere") {
  takt_segment* segment = nullptr;
  const takt_exchange unknown{"x", 99, 1};
  const takt_exchange nameless{nullptr, TAKT_EXCHANGE_BYTE_RING, 64};
  const takt_exchange bad{"no spaces", TAKT_EXCHANGE_BYTE_RING, 64};
  CHECK(takt_segment_open("takt-capi-nowhere", &segment) == TAKT_ERROR_PLATFORM_NO_SUCH_SEGMENT);
  CHECK(takt_segment_open("a/b", &segment) == TAKT_ERROR_PLATFORM_BAD_SEGMENT_NAME);
  CHECK(takt_segment_remove("takt-capi-nowhere") == TAKT_ERROR_PLATFORM_NO_SUCH_SEGMENT);
  CHECK(takt_segment_open_or_create("takt-capi-x", &unknown, 1, &segment) == TAKT_ERROR_CAPI_BAD_ARGUMENT);
  CHECK(takt_segment_open_or_create("takt-capi-x", &nameless, 1, &segment) == TAKT_ERROR_CAPI_NULL_POINTER);
  CHECK(takt_segment_open_or_create("takt-capi-x", &bad, 1, &segment) == TAKT_ERROR_SHM_BAD_NAME);
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
  CHECK(takt_joint_client_create(nullptr, "x", "y", 0, nullptr) == null);
  CHECK(takt_joint_client_update(nullptr, nullptr) == null);
  CHECK(takt_joint_client_image(nullptr) == nullptr);
  CHECK(takt_joint_client_owned(nullptr) + takt_joint_client_granted(nullptr) == 0);
  CHECK(takt_joint_client_answer(nullptr) == TAKT_SEAT_NONE);
  CHECK(takt_joint_client_want(nullptr, 1) == null);
  CHECK(takt_joint_client_reference(nullptr, 0, &reference) == null);
  CHECK(takt_joint_client_set(nullptr, 0, &reference) == null);
  CHECK(takt_joint_client_publish(nullptr, 0) == null);
  CHECK(takt_joint_hub_create(nullptr, "x", "y", nullptr, 0, 1, 1, nullptr) == null);
  CHECK(takt_joint_hub_take(nullptr, &reference, 1) == null);
  CHECK(takt_joint_hub_publish(nullptr, 0, &measured, 1) == null);
  CHECK(takt_joint_hub_image(nullptr) == nullptr);
  takt_segment_close(nullptr);
  takt_byte_producer_destroy(nullptr);
  takt_byte_consumer_destroy(nullptr);
  takt_joint_client_destroy(nullptr);
  takt_joint_hub_destroy(nullptr);
}

TEST_CASE("a hub that cannot be is refused, and leaves its seats free") {
  Shared shared;
  takt_joint_hub* hub = nullptr;
  std::array<takt_joint_safety, 65> safety{};
  const auto create = [&](std::size_t count, std::int64_t period_ns) {
    return takt_joint_hub_create(shared.segment, "joints", "joint_seats", safety.data(), count, period_ns, 5,
                                 &hub);
  };
  CHECK(create(0, 1) == TAKT_ERROR_SHM_BAD_EXTENT);
  CHECK(create(65, 1) == TAKT_ERROR_SHM_BAD_EXTENT);
  CHECK(create(3, 0) == TAKT_ERROR_SHM_OUT_OF_DOMAIN);
  safety[2].behaviour = 2;
  CHECK(create(3, 1) == TAKT_ERROR_CAPI_BAD_ARGUMENT);
  safety[2] = {TAKT_SAFE_HOLD, 0, std::numeric_limits<double>::quiet_NaN(), 1};
  CHECK(create(3, 1) == TAKT_ERROR_SHM_OUT_OF_DOMAIN);
  CHECK(hub == nullptr);
  hub = shared.hub();
  std::array<takt_joint_reference, joints> references{};
  CHECK(takt_joint_hub_take(hub, references.data(), 2) == TAKT_ERROR_SHM_BAD_EXTENT);
  takt_joint_hub* second = nullptr;
  CHECK(takt_joint_hub_create(shared.segment, "joints", "joint_seats", safety.data(), 2, 1, 5, &second) ==
        TAKT_ERROR_PLATFORM_SEAT_TAKEN);
  takt_joint_hub_destroy(hub);
}

TEST_CASE("what the manual calls real-time safe of shared memory is") {
  Shared shared;
  takt_joint_hub* hub = shared.hub();
  takt_joint_client* client = shared.client(0);
  takt_byte_producer* producer = nullptr;
  takt_byte_consumer* consumer = nullptr;
  REQUIRE(takt_byte_producer_create(shared.segment, "replies", &producer) == TAKT_OK);
  REQUIRE(takt_byte_consumer_create(shared.segment, "replies", &consumer) == TAKT_OK);
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
