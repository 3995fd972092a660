#include "tools/vehicle_link.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <string_view>

#include "app/endpoint.hpp"
#include "takt/describe.hpp"
#include "takt/platform/key_file.hpp"
#include "takt/record/error.hpp"

namespace takt::tools {
namespace {

enum class AnyPort { no, yes };

/// "127.0.0.1:18003", "[::1]:18003"; and, if any port is allowed, "127.0.0.1:any", which has port 0.
SetupResult<platform::UdpEndpoint> endpoint_of(const std::string& text, AnyPort any = AnyPort::no) {
  if (const auto endpoint = app::parse_endpoint(text); endpoint && endpoint->port != 0) return *endpoint;
  constexpr std::string_view any_port = ":any";
  if (any == AnyPort::yes && text.ends_with(any_port)) {
    const auto endpoint = app::parse_endpoint(text.substr(0, text.size() - any_port.size()) + ":0");
    if (endpoint) return *endpoint;
  }
  return fail(platform::Errc::bad_address,
              fmt::format("'{}' is not ADDRESS:PORT{}", text, any == AnyPort::yes ? " or ADDRESS:any" : ""));
}

std::string host_text(const std::string& address) {
  return address.find(':') == std::string::npos ? address : "[" + address + "]";
}

/// The message for a link without a valid datagram from the peer.
std::string silence_text(const VehicleLinkOptions& options, const LinkHeard& heard) {
  if (heard.refused == 0)
    return fmt::format("nothing was received from {} at {}", options.peer, options.local);
  return fmt::format("{} datagrams were received from {} at {}, and none of them is valid: {}", heard.refused,
                     options.peer, options.local, describe(heard.last_refusal));
}

std::string strangers_text(const platform::UdpStrangers& strangers) {
  const std::string host = host_text(strangers.last.address);
  return fmt::format("; {} datagrams came from {}:{}: if that is the other side, use --peer {}:any",
                     strangers.datagrams, host, strangers.last.port, host);
}

}  // namespace

void VehicleLinkOptions::add_options(CLI::App& command, int most_keys) {
  command
      .add_option(
          "--local", local,
          "Own address: ADDRESS:PORT, the address in numbers; required if the peer is on another machine")
      ->capture_default_str();
  command
      .add_option("--peer", peer,
                  "Address of the other side: ADDRESS:PORT; or ADDRESS:any, which accepts the first valid "
                  "sender and no other")
      ->capture_default_str();
  command.add_option("--send-to", send_to,
                     "Destination, ADDRESS:PORT, if the other side does not receive where it sends from, as "
                     "with the Furbot's original programs");
  CLI::Option_group* believed = command.add_option_group("Accepted senders");
  CLI::Option* key =
      believed->add_option("--key", key_files,
                           most_keys == 1 ? "Those with the key in this file (see: takt key)"
                                          : "Those with the key in this file (see: takt key); twice, each "
                                            "with a --key-id, while the key is being changed");
  key->expected(1, most_keys)->allow_extra_args(false);
  believed->add_flag("--plain", plain, "All: frames have no authentication");
  believed->require_option(0, 1);  // a vehicle in this process needs none
  command.add_option("--key-id", key_ids, "The key's number, the same on both sides [1]")
      ->expected(1, most_keys)
      ->allow_extra_args(false)
      ->needs(key)
      ->check(CLI::Range(0, 255));
}

SetupResult<platform::UdpSocket> VehicleLinkOptions::open() const {
  const auto here = endpoint_of(local);
  if (!here) return tl::unexpected(here.error());
  const auto there = endpoint_of(peer, AnyPort::yes);
  if (!there) return tl::unexpected(there.error());
  platform::UdpConfig config{.local = *here, .peer = *there, .watch_strangers = true};
  if (!send_to.empty()) {
    const auto destination = endpoint_of(send_to);
    if (!destination) return tl::unexpected(destination.error());
    config.destination = *destination;
  }
  return platform::UdpSocket::open(config);
}

SetupResult<std::vector<VehicleKey>> VehicleLinkOptions::keys() const {
  if (key_files.empty())
    return fail(secure::Errc::no_key,
                "--key FILE (see: takt key), or --plain for frames without a key, is missing");
  const std::vector<int> ids = key_ids.empty() && key_files.size() == 1 ? std::vector{1} : key_ids;
  if (ids.size() != key_files.size())
    return fail(secure::Errc::no_key, "each --key needs one --key-id, and each --key-id one --key");
  constexpr std::array sizes{SipHash128::key_size, platform::Blake2b::key_size};
  std::vector<VehicleKey> keys;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (std::count(ids.begin(), ids.end(), ids[i]) > 1)
      return fail(secure::Errc::no_key, fmt::format("two keys have the --key-id {}", ids[i]));
    VehicleKey key{.id = static_cast<std::uint8_t>(ids[i])};
    const auto size = platform::read_key_file(key_files[i], key.bytes, sizes);
    if (!size) return tl::unexpected(size.error());
    key.size = *size;
    if (key.bytes == decltype(key.bytes){})
      return fail(secure::Errc::no_key, key_files[i] + ": the key must not be all zeros");
    if (!has_sodium && key.size == platform::Blake2b::key_size)
      return fail(secure::Errc::no_key, fmt::format("{}: the key is for BLAKE2b, but this program was built "
                                                    "without libsodium; make a key with: takt key --bytes {}",
                                                    key_files[i], SipHash128::key_size));
    if (!keys.empty() && keys.front().size != key.size)
      return fail(secure::Errc::no_key,
                  fmt::format("{} has {} bytes, {} has {}: both keys must have the same size",
                              key_files[i - 1], keys.front().size, key_files[i], key.size));
    keys.push_back(key);
  }
  return keys;
}

std::optional<std::string> LinkWatch::look(const LinkHeard& heard, platform::UdpSocket& socket, Time now) {
  if (heard.valid > 0) {
    if (told_peer_ || socket.settled_port() == 0) return std::nullopt;
    told_peer_ = true;
    const std::string host = options_.peer.substr(0, options_.peer.rfind(':'));
    const std::string there = fmt::format("{}:{}", host, socket.settled_port());
    return fmt::format("the other side is {}, and other senders are ignored; sending to {}", there,
                       options_.send_to.empty() ? there : options_.send_to);
  }
  if (!next_) next_ = now + patience;
  if (now < *next_) return std::nullopt;
  next_ = now + patience;
  const platform::UdpStrangers strangers = socket.strangers();
  const bool others = heard.refused > 0 || strangers.datagrams > 0;
  if (others ? told_others_ : told_silence_ || !expects_) return std::nullopt;
  (others ? told_others_ : told_silence_) = true;
  return silence_text(options_, heard) + (strangers.last.port != 0 ? strangers_text(strangers) : "");
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

}  // namespace takt::tools
