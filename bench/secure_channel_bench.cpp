// The cost of authentication: the verification of one tag alone, and a command's whole way through
// both ends of the channel. Also the vehicle's cost of a datagram with a wrong tag.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "takt/core/siphash.hpp"
#include "takt/secure/client_channel.hpp"
#include "takt/secure/server_channel.hpp"
#ifdef HAVE_SODIUM
#include "takt/platform/blake2b.hpp"
#endif

namespace {

using namespace takt;
using namespace takt::secure;

constexpr std::array<std::uint8_t, 20> control{'F', 'S', 'T', 'A', 1, 2, 3, 4};
using Datagram = std::array<std::uint8_t, control.size() + envelope_overhead>;

template <Authenticator A>
void verify_frame(benchmark::State& state) {
  const A key(std::array<std::uint8_t, A::key_size>{1, 2, 3});
  Datagram datagram{};
  if (!write_envelope(key, {EnvelopeKind::command, 1, 2, 3, Time{}, control}, datagram)) std::abort();
  for (auto _ : state) {
    benchmark::DoNotOptimize(datagram);
    const bool genuine = is_genuine(key, datagram);
    benchmark::DoNotOptimize(genuine);
    if (!genuine) std::abort();
  }
}

/// Two ends with an open session.
template <Authenticator A>
struct Connected {
  Connected() {
    std::array<std::uint8_t, 100> out{};
    for (int turn = 0; turn < 2; ++turn) {
      const auto size = commander.poll_handshake(now, out);
      if (!size || !vehicle.open(std::span(out).first(*size), now)) std::abort();
      now += std::chrono::milliseconds(1);
      const auto answer = vehicle.poll_handshake(now, out);
      if (!answer || !commander.open(std::span(out).first(*answer), now)) std::abort();
    }
  }

  SharedKey<A> key{1, {1, 2, 3}};
  Time now{};
  ClientChannel<A> commander = *ClientChannel<A>::make(key, {4});
  ServerChannel<A> vehicle = *ServerChannel<A>::make(std::span(&key, 1), {5});
};

template <Authenticator A>
void seal_and_open(benchmark::State& state) {
  Connected<A> ends;
  Datagram datagram{};
  for (auto _ : state) {
    if (!ends.commander.seal(control, Urgency::ordinary, ends.now, datagram)) std::abort();
    const auto opened = ends.vehicle.open(datagram, ends.now);
    if (!opened) std::abort();
    benchmark::DoNotOptimize(opened->payload.data());
  }
}

template <Authenticator A>
void refuse_forged(benchmark::State& state) {
  Connected<A> ends;
  Datagram datagram{};
  if (!ends.commander.seal(control, Urgency::ordinary, ends.now, datagram)) std::abort();
  datagram.back() ^= 1;
  for (auto _ : state) {
    benchmark::DoNotOptimize(datagram);
    if (ends.vehicle.open(datagram, ends.now)) std::abort();
  }
}

BENCHMARK(verify_frame<SipHash128>)->Name("secure_verify/siphash/takt");
BENCHMARK(seal_and_open<SipHash128>)->Name("secure_seal_and_open/siphash/takt");
BENCHMARK(refuse_forged<SipHash128>)->Name("secure_refuse_forged/siphash/takt");
#ifdef HAVE_SODIUM
BENCHMARK(verify_frame<platform::Blake2b>)->Name("secure_verify/blake2b/takt");
BENCHMARK(seal_and_open<platform::Blake2b>)->Name("secure_seal_and_open/blake2b/takt");
BENCHMARK(refuse_forged<platform::Blake2b>)->Name("secure_refuse_forged/blake2b/takt");
#endif

}  // namespace
