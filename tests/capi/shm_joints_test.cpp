// The joints of a robot in shared memory, through the C API.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "capi/shared_segment.hpp"
#include "takt.h"
#include "takt/platform/segment.hpp"

using namespace takt::test::capi;

TEST_CASE("a process moves joints through the C API, and they are safe when it is gone") {
  Shared shared;
  takt_joint_hub* hub = shared.hub();
  takt_joint_client* client = shared.client(1);
  takt_joint_client* taken = nullptr;
  CHECK(takt_joint_client_create(shared.segment, "joints", "joint_slots", 1, &taken) ==
        TAKT_ERROR_PLATFORM_SLOT_TAKEN);
  CHECK(takt_joint_client_create(shared.segment, "joints", "joint_slots", 3, &taken) ==
        TAKT_ERROR_SHM_NO_SUCH_SLOT);
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
  CHECK(takt_joint_client_answer(client) == TAKT_JOINT_ANSWER_GRANTED);
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
  CHECK(image->slots == 3);
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
  hub = shared.hub();  // another one continues
  CHECK(cycle(hub, references) == TAKT_OK);
  CHECK(takt_joint_hub_image(hub)->started == 10);
  CHECK(std::abs(references[0].position - 0.252) < 1e-12);
  takt_joint_hub_destroy(hub);
}

TEST_CASE("the image of a robot is a value like others") {
  Shared shared;
  takt_joint_hub* hub = shared.hub();
  std::array<takt_joint_reference, joints> references{};
  CHECK(cycle(hub, references) == TAKT_OK);
  const ValueReader reader(shared.segment, "joints", takt_joint_image_schema());
  takt_joint_image image{};
  CHECK(takt_value_reader_read(reader, &image, sizeof image, nullptr) == TAKT_OK);
  CHECK(std::memcmp(&image, takt_joint_hub_image(hub), sizeof image) == 0);
  takt_joint_hub_destroy(hub);
}

TEST_CASE("a hub that cannot be is refused, and leaves its slots free") {
  Shared shared;
  takt_joint_hub* hub = nullptr;
  std::array<takt_joint_safety, 65> safety{};
  const auto create = [&](std::size_t count, std::int64_t period_ns) {
    return takt_joint_hub_create(shared.segment, "joints", "joint_slots", safety.data(), count, period_ns, 5,
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
  CHECK(takt_joint_hub_create(shared.segment, "joints", "joint_slots", safety.data(), 2, 1, 5, &second) ==
        TAKT_ERROR_PLATFORM_SLOT_TAKEN);
  takt_joint_hub_destroy(hub);
}
