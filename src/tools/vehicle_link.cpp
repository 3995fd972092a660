#include "tools/vehicle_link.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>

#include <cerrno>
#include <charconv>

#include "takt/platform/key_file.hpp"
#include "takt/record/error.hpp"
#include "tools/terminal.hpp"

namespace takt::tools {
namespace {

/// "127.0.0.1:18003", "[::1]:18003".
SetupResult<platform::UdpEndpoint> endpoint_of(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  platform::UdpEndpoint endpoint;
  if (colon != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto port = std::from_chars(text.data() + colon + 1, end, endpoint.port);
    endpoint.address = text.substr(0, colon);
    if (endpoint.address.starts_with('[') && endpoint.address.ends_with(']'))
      endpoint.address = endpoint.address.substr(1, endpoint.address.size() - 2);
    if (port.ec == std::errc() && port.ptr == end && endpoint.port != 0) return endpoint;
  }
  return fail(platform::Errc::bad_address, fmt::format("'{}' is not ADDRESS:PORT", text));
}

}  // namespace

void VehicleLinkOptions::add_options(CLI::App& command, int most_keys) {
  command
      .add_option("--local", local,
                  "Where we are: ADDRESS:PORT, the address in numbers; to be given "
                  "with a peer on another machine")
      ->capture_default_str();
  command.add_option("--peer", peer, "Where the other side is")->capture_default_str();
  CLI::Option_group* believed = command.add_option_group("Who is believed");
  CLI::Option* key =
      believed->add_option("--key", key_files,
                           most_keys == 1 ? "Whoever has the key in this file (see: takt key)"
                                          : "Whoever has the key in this file (see: takt key); twice, each "
                                            "with a --key-id, while it is changed");
  key->expected(1, most_keys)->allow_extra_args(false);
  believed->add_flag("--plain", plain, "Everybody: frames without any protection");
  believed->require_option(1);
  command.add_option("--key-id", key_ids, "The number by which both sides know the key [1]")
      ->expected(1, most_keys)
      ->allow_extra_args(false)
      ->needs(key)
      ->check(CLI::Range(0, 255));
}

SetupResult<platform::UdpSocket> VehicleLinkOptions::open() const {
  const auto here = endpoint_of(local);
  if (!here) return tl::unexpected(here.error());
  const auto there = endpoint_of(peer);
  if (!there) return tl::unexpected(there.error());
  return platform::UdpSocket::open({.local = *here, .peer = *there});
}

SetupResult<std::vector<VehicleKey>> VehicleLinkOptions::keys() const {
  const std::vector<int> ids = key_ids.empty() && key_files.size() == 1 ? std::vector{1} : key_ids;
  if (ids.size() != key_files.size())
    return fail(vehicle::Errc::no_key, "each --key has one --key-id, and each --key-id its --key");
  std::vector<VehicleKey> keys;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (std::count(ids.begin(), ids.end(), ids[i]) > 1)
      return fail(vehicle::Errc::no_key, fmt::format("two keys have the --key-id {}", ids[i]));
    const auto bytes = platform::read_key_file<SipHash128::key_size>(key_files[i]);
    if (!bytes) return tl::unexpected(bytes.error());
    if (*bytes == std::array<std::uint8_t, SipHash128::key_size>{})
      return fail(vehicle::Errc::no_key, key_files[i] + ": no key of zeros is one");
    keys.push_back({static_cast<std::uint8_t>(ids[i]), *bytes});
  }
  return keys;
}

SetupResult<LogFile> open_log(const std::string& path) {
  LogFile log{.path = path, .file = {}, .printer = {}};
  if (path.empty()) return log;
  log.file =
      platform::detail::Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!log.file.is_open())
    return fail(record::Errc::write_failed, fmt::format("{}: {}", path, platform::detail::text_of(errno)));
  log.printer = std::make_unique<Printer>(log.file.get(), log.file.get());
  return log;
}

std::optional<std::string> LogFile::end() const {
  const int error = printer ? printer->end() : 0;
  if (error == 0) return std::nullopt;
  return fmt::format("{} is not complete: {}", path, platform::detail::text_of(error));
}

std::string TypedText::take() {
  pollfd entry{STDIN_FILENO, POLLIN, 0};
  if (ended_ || in_background() || ::poll(&entry, 1, 0) <= 0) return {};
  std::array<char, 256> buffer;
  const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  ended_ = got <= 0;
  return ended_ ? std::string{} : std::string(buffer.data(), static_cast<std::size_t>(got));
}

}  // namespace takt::tools
