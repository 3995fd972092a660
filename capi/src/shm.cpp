// Shared memory of the C API: segments, exchanges of elements with a schema, byte rings, and the joints of a
// robot.
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "boundary.hpp"
#include "takt/platform/segment.hpp"
#include "takt/platform/segment_server.hpp"
#include "takt/shm/joint_client.hpp"
#include "takt/shm/joint_hub.hpp"
#include "takt/shm/opaque.hpp"

namespace shm = takt::shm;
using takt::fail;
using takt::JointSet;
using takt::Result;
using takt::SetupResult;
using takt::Status;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::to_status;
using takt::platform::Claim;
using takt::platform::Segment;

using ImageExchange = shm::BroadcastValue<shm::JointImage>;

static_assert(TAKT_EXCHANGE_BYTE_RING == static_cast<int>(shm::Kind::byte_ring));
static_assert(TAKT_EXCHANGE_RING == static_cast<int>(shm::Kind::ring));
static_assert(TAKT_EXCHANGE_LATEST == static_cast<int>(shm::Kind::latest));
static_assert(TAKT_EXCHANGE_BROADCAST == static_cast<int>(shm::Kind::broadcast));
static_assert(TAKT_EXCHANGE_BROADCAST_RING == static_cast<int>(shm::Kind::broadcast_ring));
static_assert(TAKT_FRESHNESS_NONE == static_cast<int>(shm::Freshness::none));
static_assert(TAKT_FRESHNESS_OLD == static_cast<int>(shm::Freshness::old_data));
static_assert(TAKT_FRESHNESS_NEW == static_cast<int>(shm::Freshness::new_data));
static_assert(TAKT_EXCHANGE_JOINT_SLOTS == static_cast<int>(shm::Kind::joint_image));
static_assert(TAKT_JOINT_MODE_EFFORT == static_cast<int>(shm::JointMode::effort));
static_assert(TAKT_JOINT_PHASE_DRIVEN == static_cast<int>(shm::JointPhase::driven));
static_assert(TAKT_JOINT_ANSWER_SILENT == static_cast<int>(shm::OwnerSlotAnswer::silent));
static_assert(TAKT_SAFE_HOLD == static_cast<int>(takt::SafeBehaviour::hold));
static_assert(TAKT_SAFE_RELEASE == static_cast<int>(takt::SafeBehaviour::release));
static_assert(TAKT_MAX_JOINT_SLOTS == shm::max_joint_slots && TAKT_NO_OWNER == shm::no_owner);

// The C structure has the layout of the image in memory.
TAKT_FIELDS_OF(takt_joint_image, cycle, started, stamp_ns, joints, slots, position, velocity, effort,
               ref_position, ref_velocity, ref_acceleration, ref_effort, safe, granted, mode, owner, phase,
               sent_ns, session, heartbeat, lost, rejected, error, error_joint, answer, refused_joint)
static_assert(takt::same_layout<takt_joint_image, shm::JointImage>());

struct takt_segment {
  Segment segment;
};
struct takt_segment_server {
  takt::platform::SegmentServer server;
};
struct takt_byte_producer {
  Claim<shm::ByteProducer> claim;
};
struct takt_byte_consumer {
  Claim<shm::ByteConsumer> claim;
};

using Ring = shm::SpscRing<shm::Opaque>;
using Latest = shm::LatestValue<shm::Opaque>;
using Broadcast = shm::BroadcastValue<shm::Opaque>;
using Stream = shm::BroadcastRing<shm::Opaque>;
template <class X>
using ProducerClaim = Claim<typename shm::ExchangeTraits<X>::Producer>;
template <class X>
using ConsumerClaim = Claim<typename shm::ExchangeTraits<X>::Consumer>;

// Exchanges of elements with a schema; `bytes` is the size of an element.
struct takt_ring_producer {
  ProducerClaim<Ring> claim;
  std::size_t bytes;
};
struct takt_ring_consumer {
  ConsumerClaim<Ring> claim;
  std::size_t bytes;
};
struct takt_value_writer {
  std::variant<ProducerClaim<Latest>, ProducerClaim<Broadcast>> claim;
  std::size_t bytes;
};
struct takt_value_reader {
  std::variant<ConsumerClaim<Latest>, ConsumerClaim<Broadcast>> claim;
  std::size_t bytes;
};
struct takt_stream_writer {
  ProducerClaim<Stream> claim;
  std::size_t bytes;
};
struct takt_stream_reader {
  ConsumerClaim<Stream> claim;
  std::size_t bytes;
};

struct takt_joint_client {
  takt::platform::OwnerSlot owner_slot;  // keeps the memory attached
  shm::JointClient client;
};
struct takt_joint_hub {
  takt::platform::OwnerSlot image_slot;
  takt::platform::OwnerSlot commands_slot;
  shm::JointHub hub;
};

namespace {

/// Drops the message of a set-up error.
template <class T>
Result<T> without_words(SetupResult<T>&& result) {
  if (!result) return fail(result.error().error);
  if constexpr (!std::is_void_v<T>) {
    return std::move(*result);
  } else {
    return {};
  }
}

/// Makes an object for the caller.
template <class Object, class... Parts>
Status hand_over(Object** to, Parts&&... parts) {
  *to = new Object{std::forward<Parts>(parts)...};
  return {};
}

template <class X>
Result<shm::Declaration> declare_opaque(const takt_exchange& exchange) {
  if (exchange.schema == nullptr) return fail(Errc::null_pointer);
  const Result<shm::Opaque> element = shm::Opaque::of(exchange.schema);
  if (!element) return fail(element.error());
  return shm::declare<X>(exchange.name, *element, exchange.capacity);
}

Result<shm::Declaration> read_exchange(const takt_exchange& exchange) {
  if (exchange.name == nullptr) return fail(Errc::null_pointer);
  switch (exchange.kind) {
    case TAKT_EXCHANGE_RING:
      return declare_opaque<Ring>(exchange);
    case TAKT_EXCHANGE_BYTE_RING:
      return shm::declare<shm::ByteRing>(exchange.name, exchange.capacity);
    case TAKT_EXCHANGE_LATEST:
      return declare_opaque<Latest>(exchange);
    case TAKT_EXCHANGE_BROADCAST:
      return declare_opaque<Broadcast>(exchange);
    case TAKT_EXCHANGE_BROADCAST_RING:
      return declare_opaque<Stream>(exchange);
    case TAKT_EXCHANGE_JOINT_SLOTS:
      return shm::declare<shm::JointSlots>(exchange.name, 1, exchange.capacity);
    default:
      return fail(Errc::bad_argument);
  }
}

Result<std::vector<shm::Declaration>> read_exchanges(const takt_exchange* exchanges, std::size_t count) {
  if (count > shm::max_exchanges) return fail(shm::Errc::too_many_exchanges);
  std::vector<shm::Declaration> wanted;
  for (std::size_t i = 0; i < count; ++i) {
    const Result<shm::Declaration> exchange = read_exchange(exchanges[i]);
    if (!exchange) return fail(exchange.error());
    wanted.push_back(*exchange);
  }
  return wanted;
}

Result<shm::JointSafety> read_safety(const takt_joint_safety& safety) {
  if (safety.behaviour != TAKT_SAFE_HOLD && safety.behaviour != TAKT_SAFE_RELEASE)
    return fail(Errc::bad_argument);
  if (safety.reserved != 0) return fail(Errc::bad_argument);
  return shm::JointSafety{static_cast<takt::SafeBehaviour>(safety.behaviour), safety.position, safety.speed};
}

takt_joint_reference to_c(const shm::JointReference& reference) noexcept {
  return {reference.motion.position,
          reference.motion.velocity,
          reference.motion.acceleration,
          reference.effort,
          static_cast<std::int32_t>(reference.mode),
          0};
}

Result<shm::JointReference> from_c(const takt_joint_reference& reference) noexcept {
  if (reference.mode < TAKT_JOINT_MODE_OFF || reference.mode > TAKT_JOINT_MODE_EFFORT)
    return fail(shm::Errc::unknown_mode);
  if (reference.reserved != 0) return fail(Errc::bad_argument);
  return shm::JointReference{{reference.position, reference.velocity, reference.acceleration},
                             reference.effort,
                             static_cast<shm::JointMode>(reference.mode)};
}

const takt_joint_image* to_c(const shm::JointImage& image) noexcept {
  return reinterpret_cast<const takt_joint_image*>(&image);
}

/// Makes an end at the first slot for the caller.
template <class End, class Take>
std::int32_t create_end(takt_segment* segment, const char* name, End** end, Take take) {
  if (segment == nullptr || name == nullptr || end == nullptr) return to_status(Errc::null_pointer);
  return guarded([&]() -> Status {
    auto claim = without_words(take(segment->segment, name));
    if (!claim) return fail(claim.error());
    return hand_over(end, std::move(*claim));
  });
}

/// Makes an end of an exchange of elements with a schema.
template <class End, class Take>
std::int32_t create_end(takt_segment* segment, const char* name, const char* schema, End** end, Take take) {
  if (segment == nullptr || name == nullptr || schema == nullptr || end == nullptr)
    return to_status(Errc::null_pointer);
  return guarded([&]() -> Status {
    const Result<shm::Opaque> element = shm::Opaque::of(schema);
    if (!element) return fail(element.error());
    auto claim = without_words(take(segment->segment, name, *element));
    if (!claim) return fail(claim.error());
    return hand_over(end, std::move(*claim), std::size_t{element->bytes});
  });
}

/// Converts a claim to a variant of several kinds.
template <class Variant>
constexpr auto one_of = [](auto&& claim) { return Variant(std::forward<decltype(claim)>(claim)); };

[[nodiscard]] bool is_broadcast(const Segment& segment, const char* name) noexcept {
  const auto found = segment.layout().find(name);
  return found && (*found)->kind == shm::Kind::broadcast;
}

/// Checks that `size` is the size of the end's elements.
template <class End>
[[nodiscard]] Status check_element(const End* end, const void* element, std::size_t size) noexcept {
  if (end == nullptr || element == nullptr) return fail(Errc::null_pointer);
  if (size != end->bytes) return fail(Errc::bad_argument);
  return {};
}

/// Makes a segment with these exchanges for the caller.
template <class Make>
std::int32_t create_segment(const char* name, const takt_exchange* exchanges, std::size_t count,
                            takt_segment** segment, Make make) {
  if (name == nullptr || exchanges == nullptr || segment == nullptr) return to_status(Errc::null_pointer);
  return guarded([&]() -> Status {
    const auto wanted = read_exchanges(exchanges, count);
    if (!wanted) return fail(wanted.error());
    auto made = without_words(make(name, *wanted));
    if (!made) return fail(made.error());
    return hand_over(segment, std::move(*made));
  });
}

}  // namespace

std::int32_t takt_segment_open_or_create(const char* name, const takt_exchange* exchanges, std::size_t count,
                                         takt_segment** segment) {
  return create_segment(name, exchanges, count, segment, [](const char* of, const auto& wanted) {
    return Segment::open_or_create(of, wanted);
  });
}

std::int32_t takt_segment_open(const char* name, takt_segment** segment) {
  if (name == nullptr || segment == nullptr) return to_status(Errc::null_pointer);
  return guarded([&]() -> Status {
    auto opened = without_words(Segment::open(name));
    if (!opened) return fail(opened.error());
    return hand_over(segment, std::move(*opened));
  });
}

std::int32_t takt_segment_remove(const char* name) {
  if (name == nullptr) return to_status(Errc::null_pointer);
  return guarded([&]() -> Status { return without_words(Segment::remove(name)); });
}

void takt_segment_close(takt_segment* segment) { delete segment; }

// Sealed segments.

std::int32_t takt_segment_create_sealed(const char* name, const takt_exchange* exchanges, std::size_t count,
                                        takt_segment** segment) {
  return create_segment(name, exchanges, count, segment, [](const char* of, const auto& wanted) {
    return Segment::create_sealed(of, wanted);
  });
}

std::int32_t takt_segment_receive(const char* path, std::int64_t timeout_ns, takt_segment** segment) {
  if (path == nullptr || segment == nullptr) return to_status(Errc::null_pointer);
  return guarded([&]() -> Status {
    auto received = without_words(takt::platform::receive_segment(path, takt::Duration(timeout_ns)));
    if (!received) return fail(received.error());
    return hand_over(segment, std::move(*received));
  });
}

std::int32_t takt_segment_server_create(const takt_segment* segment, const char* path,
                                        takt_segment_server** server) {
  if (segment == nullptr || path == nullptr || server == nullptr) return to_status(Errc::null_pointer);
  return guarded([&]() -> Status {
    auto made = std::make_unique<takt_segment_server>();
    if (auto opened = without_words(made->server.open(path, segment->segment)); !opened) return opened;
    *server = made.release();
    return {};
  });
}
void takt_segment_server_destroy(takt_segment_server* server) { delete server; }

// Byte rings.

std::int32_t takt_byte_producer_create(takt_segment* segment, const char* name,
                                       takt_byte_producer** producer) {
  return create_end(segment, name, producer, [](Segment& from, const char* exchange) {
    return from.producer<shm::ByteRing>(exchange);
  });
}
std::int32_t takt_byte_consumer_create(takt_segment* segment, const char* name,
                                       takt_byte_consumer** consumer) {
  return create_end(segment, name, consumer, [](Segment& from, const char* exchange) {
    return from.consumer<shm::ByteRing>(exchange);
  });
}
void takt_byte_producer_destroy(takt_byte_producer* producer) { delete producer; }
void takt_byte_consumer_destroy(takt_byte_consumer* consumer) { delete consumer; }

std::size_t takt_byte_producer_max(const takt_byte_producer* producer) {
  return producer != nullptr ? producer->claim.end.max_record() : 0;
}

std::int32_t takt_byte_producer_write(takt_byte_producer* producer, const void* message, std::size_t size) {
  if (producer == nullptr || (message == nullptr && size != 0)) return to_status(Errc::null_pointer);
  const std::span bytes(static_cast<const std::byte*>(message), size);
  return producer->claim.end.try_write(bytes) ? TAKT_OK : to_status(shm::Errc::full);
}

std::int32_t takt_byte_consumer_read(takt_byte_consumer* consumer, void* message, std::size_t size,
                                     std::size_t* length) {
  if (consumer == nullptr || (message == nullptr && size != 0)) return to_status(Errc::null_pointer);
  shm::ByteConsumer& end = consumer->claim.end;
  const auto record = end.peek();
  if (!record) return to_status(end.is_broken() ? shm::Errc::broken : shm::Errc::empty);
  if (length != nullptr) *length = record->size();
  if (record->size() > size) return to_status(Errc::buffer_too_small);
  if (message != nullptr) std::memcpy(message, record->data(), record->size());
  end.release();
  return TAKT_OK;
}

// Rings.

std::int32_t takt_ring_producer_create(takt_segment* segment, const char* name, const char* schema,
                                       takt_ring_producer** producer) {
  return create_end(segment, name, schema, producer,
                    [](Segment& from, const char* exchange, const shm::Opaque& element) {
                      return from.producer<Ring>(exchange, element);
                    });
}
std::int32_t takt_ring_consumer_create(takt_segment* segment, const char* name, const char* schema,
                                       takt_ring_consumer** consumer) {
  return create_end(segment, name, schema, consumer,
                    [](Segment& from, const char* exchange, const shm::Opaque& element) {
                      return from.consumer<Ring>(exchange, element);
                    });
}
void takt_ring_producer_destroy(takt_ring_producer* producer) { delete producer; }
void takt_ring_consumer_destroy(takt_ring_consumer* consumer) { delete consumer; }

std::int32_t takt_ring_producer_push(takt_ring_producer* producer, const void* element, std::size_t size) {
  if (const Status good = check_element(producer, element, size); !good) return to_status(good);
  const bool pushed = producer->claim.end.try_push(static_cast<const std::byte*>(element));
  return pushed ? TAKT_OK : to_status(shm::Errc::full);
}

std::int32_t takt_ring_producer_push_many(takt_ring_producer* producer, const void* elements,
                                          std::size_t size, std::size_t count, std::size_t* pushed) {
  if (pushed == nullptr) return to_status(Errc::null_pointer);
  if (const Status good = check_element(producer, elements, size); !good) return to_status(good);
  *pushed = producer->claim.end.push(static_cast<const std::byte*>(elements), count);
  return TAKT_OK;
}

std::int32_t takt_ring_consumer_pop(takt_ring_consumer* consumer, void* element, std::size_t size) {
  if (const Status good = check_element(consumer, element, size); !good) return to_status(good);
  return consumer->claim.end.try_pop(static_cast<std::byte*>(element)) ? TAKT_OK
                                                                       : to_status(shm::Errc::empty);
}

std::int32_t takt_ring_consumer_pop_many(takt_ring_consumer* consumer, void* elements, std::size_t size,
                                         std::size_t count, std::size_t* popped) {
  if (popped == nullptr) return to_status(Errc::null_pointer);
  if (const Status good = check_element(consumer, elements, size); !good) return to_status(good);
  *popped = consumer->claim.end.pop(static_cast<std::byte*>(elements), count);
  return TAKT_OK;
}

// Values.

std::int32_t takt_value_writer_create(takt_segment* segment, const char* name, const char* schema,
                                      takt_value_writer** writer) {
  return create_end(
      segment, name, schema, writer, [](Segment& from, const char* exchange, const shm::Opaque& element) {
        using Made = decltype(takt_value_writer::claim);
        return is_broadcast(from, exchange) ? from.producer<Broadcast>(exchange, element).map(one_of<Made>)
                                            : from.producer<Latest>(exchange, element).map(one_of<Made>);
      });
}
std::int32_t takt_value_reader_create(takt_segment* segment, const char* name, const char* schema,
                                      takt_value_reader** reader) {
  return create_end(
      segment, name, schema, reader, [](Segment& from, const char* exchange, const shm::Opaque& element) {
        using Made = decltype(takt_value_reader::claim);
        return is_broadcast(from, exchange) ? from.consumer<Broadcast>(exchange, element).map(one_of<Made>)
                                            : from.consumer<Latest>(exchange, element).map(one_of<Made>);
      });
}
void takt_value_writer_destroy(takt_value_writer* writer) { delete writer; }
void takt_value_reader_destroy(takt_value_reader* reader) { delete reader; }

std::int32_t takt_value_writer_write(takt_value_writer* writer, const void* value, std::size_t size) {
  if (const Status good = check_element(writer, value, size); !good) return to_status(good);
  std::visit([&](auto& claim) { claim.end.write(static_cast<const std::byte*>(value)); }, writer->claim);
  return TAKT_OK;
}

std::int32_t takt_value_reader_read(takt_value_reader* reader, void* value, std::size_t size,
                                    std::int32_t* freshness) {
  if (const Status good = check_element(reader, value, size); !good) return to_status(good);
  const shm::Freshness found =
      std::visit([&](auto& claim) { return claim.end.read(static_cast<std::byte*>(value)); }, reader->claim);
  if (freshness != nullptr) *freshness = static_cast<std::int32_t>(found);
  return TAKT_OK;
}

// Streams.

std::int32_t takt_stream_writer_create(takt_segment* segment, const char* name, const char* schema,
                                       takt_stream_writer** writer) {
  return create_end(segment, name, schema, writer,
                    [](Segment& from, const char* exchange, const shm::Opaque& element) {
                      return from.producer<Stream>(exchange, element);
                    });
}
std::int32_t takt_stream_reader_create(takt_segment* segment, const char* name, const char* schema,
                                       takt_stream_reader** reader) {
  return create_end(segment, name, schema, reader,
                    [](Segment& from, const char* exchange, const shm::Opaque& element) {
                      return from.consumer<Stream>(exchange, element);
                    });
}
void takt_stream_writer_destroy(takt_stream_writer* writer) { delete writer; }
void takt_stream_reader_destroy(takt_stream_reader* reader) { delete reader; }

std::int32_t takt_stream_writer_write(takt_stream_writer* writer, const void* element, std::size_t size) {
  if (const Status good = check_element(writer, element, size); !good) return to_status(good);
  writer->claim.end.write(static_cast<const std::byte*>(element));
  return TAKT_OK;
}

std::int32_t takt_stream_reader_read(takt_stream_reader* reader, void* element, std::size_t size) {
  if (const Status good = check_element(reader, element, size); !good) return to_status(good);
  return reader->claim.end.try_read(static_cast<std::byte*>(element)) ? TAKT_OK : to_status(shm::Errc::empty);
}

std::uint64_t takt_stream_reader_missed(const takt_stream_reader* reader) {
  return reader != nullptr ? reader->claim.end.missed() : 0;
}

// Motion processes.

const char* takt_joint_image_schema(void) { return shm::schema_text<shm::JointImage>().data(); }

std::int32_t takt_joint_client_create(takt_segment* segment, const char* image, const char* slots,
                                      std::uint32_t slot, takt_joint_client** client) {
  if (segment == nullptr || image == nullptr || slots == nullptr || client == nullptr)
    return to_status(Errc::null_pointer);
  return guarded([&]() -> Status {
    Segment& from = segment->segment;
    auto reader = without_words(from.consumer<ImageExchange>(image));
    if (!reader) return fail(reader.error());
    auto claim = without_words(from.producer<shm::JointSlots>(slots, slot));
    if (!claim) return fail(claim.error());
    const auto session = static_cast<std::uint32_t>(claim->owner_slot.owner().epoch);
    return hand_over(client, std::move(claim->owner_slot),
                     shm::JointClient(reader->end, claim->end, session));
  });
}

void takt_joint_client_destroy(takt_joint_client* client) { delete client; }

std::int32_t takt_joint_client_update(takt_joint_client* client, std::int32_t* is_new) {
  if (client == nullptr) return to_status(Errc::null_pointer);
  const bool found = client->client.update() == shm::Freshness::new_data;
  if (is_new != nullptr) *is_new = found ? 1 : 0;
  return TAKT_OK;
}

const takt_joint_image* takt_joint_client_image(const takt_joint_client* client) {
  return client != nullptr ? to_c(client->client.image()) : nullptr;
}
std::uint64_t takt_joint_client_owned(const takt_joint_client* client) {
  return client != nullptr ? client->client.owned().bits() : 0;
}
std::uint64_t takt_joint_client_granted(const takt_joint_client* client) {
  return client != nullptr ? client->client.granted().bits() : 0;
}
std::int32_t takt_joint_client_answer(const takt_joint_client* client) {
  return client != nullptr ? static_cast<std::int32_t>(client->client.answer()) : TAKT_JOINT_ANSWER_NONE;
}

std::int32_t takt_joint_client_want(takt_joint_client* client, std::uint64_t joints) {
  if (client == nullptr) return to_status(Errc::null_pointer);
  client->client.want(JointSet::from_bits(joints));
  return TAKT_OK;
}

std::int32_t takt_joint_client_reference(const takt_joint_client* client, std::size_t joint,
                                         takt_joint_reference* reference) {
  if (client == nullptr || reference == nullptr) return to_status(Errc::null_pointer);
  if (joint >= takt::max_joints) return to_status(shm::Errc::unknown_joint);
  *reference = to_c(client->client.reference(joint));
  return TAKT_OK;
}

std::int32_t takt_joint_client_set(takt_joint_client* client, std::size_t joint,
                                   const takt_joint_reference* reference) {
  if (client == nullptr || reference == nullptr) return to_status(Errc::null_pointer);
  const Result<shm::JointReference> read = from_c(*reference);
  if (!read) return to_status(read.error());
  return to_status(client->client.set(joint, *read));
}

std::int32_t takt_joint_client_publish(takt_joint_client* client, std::int64_t now_ns) {
  if (client == nullptr) return to_status(Errc::null_pointer);
  client->client.publish(takt::time_from_nanoseconds(now_ns));
  return TAKT_OK;
}

// The hub.

std::int32_t takt_joint_hub_create(takt_segment* segment, const char* image, const char* slots,
                                   const takt_joint_safety* safety, std::size_t joints,
                                   std::int64_t period_ns, std::uint32_t silent_cycles,
                                   takt_joint_hub** hub) {
  if (segment == nullptr || image == nullptr || slots == nullptr || safety == nullptr || hub == nullptr)
    return to_status(Errc::null_pointer);
  if (joints > takt::max_joints) return to_status(shm::Errc::bad_extent);
  return guarded([&]() -> Status {
    std::vector<shm::JointSafety> behaviours;
    for (std::size_t joint = 0; joint < joints; ++joint) {
      const Result<shm::JointSafety> behaviour = read_safety(safety[joint]);
      if (!behaviour) return fail(behaviour.error());
      behaviours.push_back(*behaviour);
    }
    Segment& from = segment->segment;
    auto writer = without_words(from.producer<ImageExchange>(image));
    if (!writer) return fail(writer.error());
    auto reader = without_words(from.consumer<shm::JointSlots>(slots));
    if (!reader) return fail(reader.error());
    auto made = shm::JointHub::make(*writer->end, reader->end, behaviours,
                                    {takt::Duration(period_ns), silent_cycles});
    if (!made) return fail(made.error());
    return hand_over(hub, std::move(writer->owner_slot), std::move(reader->owner_slot), *made);
  });
}

void takt_joint_hub_destroy(takt_joint_hub* hub) { delete hub; }

std::int32_t takt_joint_hub_take(takt_joint_hub* hub, takt_joint_reference* references, std::size_t joints) {
  if (hub == nullptr || references == nullptr) return to_status(Errc::null_pointer);
  if (joints != hub->hub.image().joints) return to_status(shm::Errc::bad_extent);
  const std::span<const shm::JointReference> taken = hub->hub.take();
  for (std::size_t joint = 0; joint < joints; ++joint) references[joint] = to_c(taken[joint]);
  return TAKT_OK;
}

std::int32_t takt_joint_hub_publish(takt_joint_hub* hub, std::int64_t now_ns,
                                    const takt_joint_measurement* measured, std::size_t joints) {
  if (hub == nullptr || measured == nullptr) return to_status(Errc::null_pointer);
  if (joints != hub->hub.image().joints) return to_status(shm::Errc::bad_extent);
  std::array<shm::JointMeasurement, takt::max_joints> numbers;
  for (std::size_t joint = 0; joint < joints; ++joint)
    numbers[joint] = {measured[joint].position, measured[joint].velocity, measured[joint].effort};
  hub->hub.publish(takt::time_from_nanoseconds(now_ns), std::span(numbers).first(joints));
  return TAKT_OK;
}

const takt_joint_image* takt_joint_hub_image(const takt_joint_hub* hub) {
  return hub != nullptr ? to_c(hub->hub.image()) : nullptr;
}
