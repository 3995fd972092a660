#include <takt/platform/blake2b.hpp>
#include <takt/secure/client_channel.hpp>

// A commander has something to say at once, whatever its authenticator.
int main() {
  using takt::platform::Blake2b;
  const takt::secure::SharedKey<Blake2b> key{1, {1, 2, 3}};
  auto channel = takt::secure::ClientChannel<Blake2b>::make(key, {4, 5, 6});
  std::array<std::uint8_t, 100> hello{};
  return channel && channel->poll_handshake(takt::Time{}, hello).value_or(0) == 80 ? 0 : 1;
}
