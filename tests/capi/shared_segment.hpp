// A shared-memory segment through the C API, with one exchange of each kind, for tests.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "takt.h"
#include "takt/core/fields.hpp"

namespace takt::test::capi {

inline constexpr std::size_t joints = 3;

struct Pose {
  double position[6];
  std::int64_t stamp;
  std::uint8_t mode;
  std::uint8_t unused[7];  // padding, so that poses can be compared as bytes

  TAKT_FIELDS(Pose, position, stamp, mode)
};
inline constexpr const char* pose_schema = "position f64[6], stamp i64, mode u8, _ u8[7]";

constexpr Pose pose(int number) {
  return {{0.5 * number, 1, 2, 3, 4, -1.0 * number}, number, static_cast<std::uint8_t>(number), {}};
}
inline bool is_pose(const Pose& found, int number) {
  const Pose expected = pose(number);
  return std::memcmp(&found, &expected, sizeof found) == 0;
}

/// A segment that vanishes with its test.
class Shared {
 public:
  Shared() : name("takt-capi-" + std::to_string(getpid()) + "-" + std::to_string(++count)) {
    const std::array<takt_exchange, 8> exchanges{
        {{"joints", TAKT_EXCHANGE_BROADCAST, 0, takt_joint_image_schema()},
         {"joint_slots", TAKT_EXCHANGE_JOINT_SLOTS, 3, nullptr},
         {"requests", TAKT_EXCHANGE_BYTE_RING, 1000, nullptr},
         {"replies", TAKT_EXCHANGE_BYTE_RING, 64, nullptr},
         {"ring", TAKT_EXCHANGE_RING, 8, pose_schema},
         {"latest", TAKT_EXCHANGE_LATEST, 0, pose_schema},
         {"broadcast", TAKT_EXCHANGE_BROADCAST, 0, pose_schema},
         {"stream", TAKT_EXCHANGE_BROADCAST_RING, 8, pose_schema}}};
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
    REQUIRE(takt_joint_hub_create(segment, "joints", "joint_slots", safety.data(), joints, 1'000'000,
                                  silent_cycles, &made) == TAKT_OK);
    return made;
  }
  [[nodiscard]] takt_joint_client* client(std::uint32_t slot) {
    takt_joint_client* made = nullptr;
    REQUIRE(takt_joint_client_create(segment, "joints", "joint_slots", slot, &made) == TAKT_OK);
    return made;
  }

  std::string name;
  takt_segment* segment = nullptr;

 private:
  static inline int count = 0;
};

/// One cycle of the hub with ideal drives.
inline std::int32_t cycle(takt_joint_hub* hub, std::array<takt_joint_reference, joints>& references,
                          std::int64_t now_ns = 1) {
  const std::int32_t taken = takt_joint_hub_take(hub, references.data(), joints);
  std::array<takt_joint_measurement, joints> measured{};
  for (std::size_t j = 0; j < joints; ++j) measured[j] = {references[j].position, references[j].velocity, 0};
  return taken | takt_joint_hub_publish(hub, now_ns, measured.data(), joints);
}

/// One end of an exchange of elements with a schema.
template <class End, auto create, auto destroy>
class OpaqueEnd {
 public:
  OpaqueEnd(takt_segment* segment, const char* name, const char* schema = pose_schema) {
    REQUIRE(create(segment, name, schema, &end_) == TAKT_OK);
  }
  ~OpaqueEnd() { destroy(end_); }
  OpaqueEnd(const OpaqueEnd&) = delete;
  OpaqueEnd& operator=(const OpaqueEnd&) = delete;
  // NOLINTNEXTLINE(google-explicit-constructor): as the pointer that C has
  operator End*() const { return end_; }

 private:
  End* end_ = nullptr;
};
using RingProducer = OpaqueEnd<takt_ring_producer, takt_ring_producer_create, takt_ring_producer_destroy>;
using RingConsumer = OpaqueEnd<takt_ring_consumer, takt_ring_consumer_create, takt_ring_consumer_destroy>;
using ValueWriter = OpaqueEnd<takt_value_writer, takt_value_writer_create, takt_value_writer_destroy>;
using ValueReader = OpaqueEnd<takt_value_reader, takt_value_reader_create, takt_value_reader_destroy>;
using StreamWriter = OpaqueEnd<takt_stream_writer, takt_stream_writer_create, takt_stream_writer_destroy>;
using StreamReader = OpaqueEnd<takt_stream_reader, takt_stream_reader_create, takt_stream_reader_destroy>;

inline std::int32_t read(takt_value_reader* reader, Pose& value) {
  std::int32_t freshness = -1;
  REQUIRE(takt_value_reader_read(reader, &value, sizeof value, &freshness) == TAKT_OK);
  return freshness;
}

}  // namespace takt::test::capi
