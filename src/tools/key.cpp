// takt key: writes a file with a new random key for the secure channel of a vehicle.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "takt/platform/key_file.hpp"
#include "tools/commands.hpp"
#include "tools/vehicle_link.hpp"

namespace takt::tools {
namespace {

struct KeyArguments {
  std::string file;
  std::size_t bytes = has_sodium ? platform::Blake2b::key_size : SipHash128::key_size;
};

[[noreturn]] void refuse_key(std::string_view why) {
  fmt::print(stderr, "takt key: {}\n", why);
  throw CLI::RuntimeError(exit_failed);
}

void make_key(const KeyArguments& arguments) {
  auto random = platform::random_bytes<32>();
  if (!random) refuse_key(describe(static_cast<platform::Errc>(random.error().code)));
  const auto written = platform::write_key_file(arguments.file, std::span(*random).first(arguments.bytes));
  if (!written) refuse_key(written.error().message);
}

}  // namespace

void add_key(CLI::App& app) {
  auto arguments = std::make_shared<KeyArguments>();
  CLI::App* command =
      app.add_subcommand("key", "Make a file with a new random key for a vehicle and its commander");
  command->add_option("file", arguments->file, "The new file; it must not exist yet")->required();
  command
      ->add_option("--bytes", arguments->bytes,
                   std::string("32 for BLAKE2b from libsodium") +
                       (has_sodium ? "" : " (this program was built without it)") +
                       "; 16 for SipHash-128, which the C API uses")
      ->check(CLI::IsMember({16, 32}))
      ->capture_default_str();
  command->footer(
      "The file has mode 0600. Copy it to the other side on a private channel: everybody who has the key can "
      "drive the vehicle.\n"
      "Example:\n"
      "  takt key furbot.key");
  command->callback([arguments] { make_key(*arguments); });
}

}  // namespace takt::tools
