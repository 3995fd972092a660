// The channels of the C API and their keys: a thin layer over the room secure/ with SipHash-2-4-128.
#include "channel.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "boundary.hpp"
#include "takt/platform/key_file.hpp"

using takt::Duration;
using takt::fail;
using takt::Result;
using takt::Status;
using takt::Time;
using takt::capi::AnyChannel;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::to_status;
using takt::capi::to_time;
namespace secure = takt::secure;

namespace {

using SharedKey = secure::SharedKey<takt::SipHash128>;
using KeyBytes = std::array<std::uint8_t, TAKT_CHANNEL_KEY_BYTES>;
static_assert(TAKT_CHANNEL_KEY_BYTES == takt::SipHash128::key_size);
static_assert(TAKT_CHANNEL_OVERHEAD == secure::envelope_overhead);
static_assert(TAKT_CHANNEL_MAX_HANDSHAKE == takt::capi::ClientChannel::max_handshake);

/// Reads the limits; zero means the default.
Result<secure::SecurityLimits> read_limits(const takt_channel_limits* limits) noexcept {
  secure::SecurityLimits out;
  if (limits == nullptr) return out;
  const auto read = takt::capi::read_struct(limits);
  if (!read) return fail(read.error());
  if (read->reserved != 0) return fail(Errc::bad_argument);
  const auto put = [](Duration& to, std::int64_t nanoseconds) {
    if (nanoseconds != 0) to = Duration(nanoseconds);
  };
  put(out.age, read->age_ns);
  put(out.silence, read->silence_ns);
  put(out.renewal, read->renewal_ns);
  return out;
}

SharedKey to_key(const takt_channel_key& key) noexcept {
  SharedKey out{key.id, {}};
  std::copy(std::begin(key.bytes), std::end(key.bytes), out.bytes.begin());
  return out;
}

template <class Channel>
Status put(Result<Channel>&& made, takt_channel** channel) {
  if (!made) return fail(made.error());
  *channel = std::make_unique<takt_channel>(takt_channel{AnyChannel(std::move(*made))}).release();
  return {};
}

std::int32_t put(const Result<std::size_t>& size, std::size_t* bytes) noexcept {
  if (!size) return to_status(size.error());
  *bytes = *size;
  return TAKT_OK;
}

}  // namespace

void takt_channel_limits_init(takt_channel_limits* limits, std::size_t size) {
  takt::capi::init_struct(limits, size);
}

std::int32_t takt_channel_create_plain(takt_channel** channel) {
  return guarded([&]() -> Status {
    if (channel == nullptr) return fail(Errc::null_pointer);
    return put(Result<secure::PlainChannel>(secure::PlainChannel{}), channel);
  });
}

std::int32_t takt_channel_create_commander(const takt_channel_key* key, const takt_channel_limits* limits,
                                           takt_channel** channel) {
  return guarded([&]() -> Status {
    if (key == nullptr || channel == nullptr) return fail(Errc::null_pointer);
    const auto read = read_limits(limits);
    if (!read) return fail(read.error());
    const auto entropy = takt::platform::random_bytes<TAKT_CHANNEL_KEY_BYTES>();
    if (!entropy) return fail(entropy.error());
    return put(takt::capi::ClientChannel::make(to_key(*key), *entropy, *read), channel);
  });
}

std::int32_t takt_channel_create_vehicle(const takt_channel_key* keys, std::size_t count,
                                         const takt_channel_limits* limits, takt_channel** channel) {
  return guarded([&]() -> Status {
    if (keys == nullptr || channel == nullptr) return fail(Errc::null_pointer);
    if (count == 0 || count > takt::capi::ServerChannel::max_keys) return fail(secure::Errc::no_key);
    const auto read = read_limits(limits);
    if (!read) return fail(read.error());
    const auto entropy = takt::platform::random_bytes<TAKT_CHANNEL_KEY_BYTES>();
    if (!entropy) return fail(entropy.error());
    std::vector<SharedKey> shared;
    for (const takt_channel_key& key : std::span(keys, count)) shared.push_back(to_key(key));
    return put(takt::capi::ServerChannel::make(shared, *entropy, *read), channel);
  });
}

void takt_channel_destroy(takt_channel* channel) { delete channel; }

std::int32_t takt_channel_open(takt_channel* channel, const std::uint8_t* datagram, std::size_t bytes,
                               std::int64_t now_ns, const std::uint8_t** payload, std::size_t* payload_bytes,
                               std::int32_t* stop) {
  if (channel == nullptr || (datagram == nullptr && bytes > 0) || payload == nullptr ||
      payload_bytes == nullptr) {
    return to_status(Errc::null_pointer);
  }
  const auto opened = std::visit(
      [&](auto& one) { return one.open(std::span(datagram, bytes), to_time(now_ns)); }, channel->channel);
  if (!opened) return to_status(opened.error());
  *payload = opened->payload.data();
  *payload_bytes = opened->payload.size();
  if (stop != nullptr) *stop = opened->urgency == secure::Urgency::stop ? 1 : 0;
  return TAKT_OK;
}

std::int32_t takt_channel_seal(takt_channel* channel, const std::uint8_t* payload, std::size_t payload_bytes,
                               std::int32_t stop, std::int64_t now_ns, std::uint8_t* out, std::size_t size,
                               std::size_t* bytes) {
  if (channel == nullptr || (payload == nullptr && payload_bytes > 0) || (out == nullptr && size > 0) ||
      bytes == nullptr) {
    return to_status(Errc::null_pointer);
  }
  const auto urgency = stop != 0 ? secure::Urgency::stop : secure::Urgency::ordinary;
  return put(std::visit(
                 [&](auto& one) {
                   return one.seal(std::span(payload, payload_bytes), urgency, to_time(now_ns),
                                   std::span(out, size));
                 },
                 channel->channel),
             bytes);
}

std::int32_t takt_channel_established(const takt_channel* channel, std::int64_t now_ns) {
  if (channel == nullptr) return 0;
  return std::visit([&](const auto& one) { return one.established(to_time(now_ns)) ? 1 : 0; },
                    channel->channel);
}

std::int64_t takt_channel_next_handshake_ns(const takt_channel* channel) {
  const Time next = channel == nullptr
                        ? Time::max()
                        : std::visit([](const auto& one) { return one.next_handshake(); }, channel->channel);
  return takt::to_nanoseconds(next);
}

std::int32_t takt_channel_poll_handshake(takt_channel* channel, std::int64_t now_ns, std::uint8_t* out,
                                         std::size_t size, std::size_t* bytes) {
  if (channel == nullptr || (out == nullptr && size > 0) || bytes == nullptr)
    return to_status(Errc::null_pointer);
  return put(std::visit([&](auto& one) { return one.poll_handshake(to_time(now_ns), std::span(out, size)); },
                        channel->channel),
             bytes);
}

std::uint64_t takt_channel_refused(const takt_channel* channel, std::int32_t status) {
  if (channel == nullptr || status >= 0) return 0;
  const auto counted = [&](const secure::RefusalCounters& refused) {
    const auto number = static_cast<std::uint32_t>(-std::int64_t{status});
    const bool ours = number >> 16 == static_cast<std::uint32_t>(takt::Room::secure);
    return ours ? refused(static_cast<secure::Errc>(number & 0xffff)) : 0;
  };
  if (const auto* commander = std::get_if<takt::capi::ClientChannel>(&channel->channel)) {
    return counted(commander->refused());
  }
  if (const auto* vehicle_end = std::get_if<takt::capi::ServerChannel>(&channel->channel)) {
    return counted(vehicle_end->refused());
  }
  return 0;
}

std::int32_t takt_channel_key_read(const char* path, std::uint8_t id, takt_channel_key* key, char* why,
                                   std::size_t size) {
  return guarded(why, size, [&]() -> Status {
    if (path == nullptr || key == nullptr) return fail(Errc::null_pointer);
    const auto bytes = takt::platform::read_key_file<TAKT_CHANNEL_KEY_BYTES>(path);
    if (!bytes) {
      std::string message = bytes.error().message;
      if (bytes.error().error == takt::platform::Errc::key_file_size)
        message += ": make it with takt key --bytes 16";
      takt::capi::write_text(message, why, size);
      return fail(bytes.error().error);
    }
    key->id = id;
    std::copy(bytes->begin(), bytes->end(), std::begin(key->bytes));
    return {};
  });
}
