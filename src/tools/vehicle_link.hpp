// What `takt drive` and `takt vehicle-sim` share: their socket, whom they believe, and the loop that carries datagrams.
#pragma once

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "platform/descriptor.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/siphash.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/platform/udp_socket.hpp"
#include "takt/vehicle/secure_channel.hpp"
#include "tools/printer.hpp"

namespace takt::tools {

using VehicleKey = vehicle::SharedKey<SipHash128>;

/// --local, --peer, and --key with --key-id, or --plain, of a sub-command.
struct VehicleLinkOptions {
  std::string local{};
  std::string peer{};
  std::vector<std::string> key_files{};
  std::vector<int> key_ids{};
  bool plain = false;

  /// `local` and `peer` are the defaults. So many keys may be given.
  void add_options(CLI::App& command, int most_keys);
  /// Error: bad_address, udp_failed.
  [[nodiscard]] SetupResult<platform::UdpSocket> open() const;
  /// One at least. Errors: those of platform::read_key_file(); no_key (zeros; two of one id; not every one of two has an id).
  [[nodiscard]] SetupResult<std::vector<VehicleKey>> keys() const;
};

/// Carries datagrams between the socket and an end of the connection (VehicleDrive, SimulatedVehicle) until then, and once in any
/// case. What has come is taken in batches, and what is due is sent after each datagram: a flood delays nothing.
template <class End>
void exchange(platform::UdpSocket& socket, End& end, Time until) {
  constexpr std::size_t room = 1024;  // more than any frame has: what is longer is refused by the socket
  std::array<std::array<std::uint8_t, room>, platform::UdpSocket::batch> memory;
  std::array<platform::Datagram, platform::UdpSocket::batch> batch;
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i].buffer = memory[i];
  std::array<std::uint8_t, room> out;
  const platform::SteadyClock clock;
  const auto send_due = [&](Time now) {
    while (const std::size_t size = end.poll(now, out).value_or(0)) socket.send(std::span(out).first(size));
  };
  Time now = clock.now();
  do {
    send_due(now);
    const Time next = std::clamp(end.next_send(), now, std::max(now, until));
    const std::size_t came = socket.receive(batch, next - now);
    for (const platform::Datagram& datagram : std::span(batch).first(came)) {
      const Time came_at = clock.now();
      static_cast<void>(end.receive(datagram.bytes(), came_at));  // what is refused is counted
      if (end.next_send() <= came_at) send_due(came_at);
    }
    now = clock.now();
  } while (now < until);
}

/// A file that is written beside the loop; without a name, none.
struct LogFile {
  std::string path;
  platform::detail::Descriptor file;
  std::unique_ptr<Printer> printer;  ///< ends before the file does

  /// After the last line. Why not all of them were written, if so.
  [[nodiscard]] std::optional<std::string> end() const;
};
[[nodiscard]] SetupResult<LogFile> open_log(const std::string& path);

/// What is typed, or comes through a pipe; never waited for. Of a terminal, nothing as long as we are in its background.
class TypedText {
 public:
  /// The next of it, at most as much as a person types in a cycle: a device that never ends does not hold the caller.
  [[nodiscard]] std::string take();

 private:
  bool ended_ = false;
};

}  // namespace takt::tools
