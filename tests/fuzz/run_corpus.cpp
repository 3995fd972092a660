// Runs a fuzz target without a fuzzer: every file of the given folders, every short prefix of it, and seeded
// mutations.
//
//     <name>_fuzz FOLDER|FILE... [--seed=N] [--count=N mutations a file]
//
// After a crash of the target, the file crash-input in the working folder has the input. To repeat it, name
// that file.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

const Bytes* running = nullptr;
std::size_t runs = 0;

void keep_input(int signal_number) {
  const int file = open("crash-input", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file >= 0 && running != nullptr) {
    [[maybe_unused]] const auto written = write(file, running->data(), running->size());
    close(file);
  }
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

void run(const Bytes& input) {
  const Bytes exact(input.begin(),
                    input.end());  // no spare capacity: the sanitizer detects reading past the end
  running = &exact;
  ++runs;
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  running = nullptr;
}

void mutate(Bytes& bytes, std::mt19937_64& random) {
  const auto below = [&](std::size_t limit) {
    return static_cast<std::size_t>(random() % std::max<std::size_t>(limit, 1));
  };
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t at = below(bytes.size() + 1);
    const auto here = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const std::size_t rest = bytes.size() - at;
    switch (random() % 5) {
      case 0:  // flip a bit
        if (rest > 0) *here = static_cast<std::uint8_t>(*here ^ (1u << below(8)));
        break;
      case 1:  // a byte with a special value
        if (rest > 0) *here = std::array<std::uint8_t, 8>{0, 0xff, 0x7f, 0x80, '"', '{', ']', '9'}[below(8)];
        break;
      case 2:  // cut out
        bytes.erase(here, here + static_cast<std::ptrdiff_t>(below(std::min<std::size_t>(rest, 64))));
        break;
      case 3: {  // repeat a piece
        const Bytes piece(here, here + static_cast<std::ptrdiff_t>(below(std::min<std::size_t>(rest, 64))));
        bytes.insert(here, piece.begin(), piece.end());
        break;
      }
      default:  // insert a byte
        bytes.insert(here, static_cast<std::uint8_t>(random()));
    }
  }
}

void run_file(const std::filesystem::path& path, std::uint64_t seed, std::size_t mutations) {
  std::ifstream file(path, std::ios::binary);
  const Bytes original{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  run(original);
  const std::size_t step = std::max<std::size_t>(1, original.size() / 256);
  for (std::size_t size = 0; size < original.size(); size += step) {
    run(Bytes(original.begin(), original.begin() + static_cast<std::ptrdiff_t>(size)));
  }
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < mutations; ++i) {
    Bytes mutant = original;
    mutate(mutant, random);
    run(mutant);
  }
}

std::uint64_t number_after(std::string_view argument, std::string_view option, std::uint64_t otherwise) {
  if (argument.substr(0, option.size()) != option) return otherwise;
  return std::strtoull(argument.data() + option.size(), nullptr, 10);
}

}  // namespace

int main(int argc, char** argv) {
  for (const int signal_number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    std::signal(signal_number, keep_input);
  std::uint64_t seed = 1;
  std::uint64_t mutations = 200;
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    seed = number_after(argument, "--seed=", seed);
    mutations = number_after(argument, "--count=", mutations);
    if (argument.substr(0, 2) == "--") continue;
    if (!std::filesystem::is_directory(argument)) {
      files.emplace_back(argument);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(argument)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& path : files) run_file(path, seed, mutations);
  std::printf("seed %llu: %zu files, %zu runs\n", static_cast<unsigned long long>(seed), files.size(), runs);
  return files.empty() ? 1 : 0;
}
