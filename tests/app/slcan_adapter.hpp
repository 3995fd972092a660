// An slcan adapter as a program sees it: a pseudo terminal at a fixed path, which a test plugs in and out. A
// thread answers as an adapter's firmware does, and sends each frame back.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace takt::test {

/// The behaviour of an adapter.
struct Firmware {
  bool confirms = true;  ///< a CR or a BEL for each command; false: as some makers', which answer only V
  std::string version = "V1013";       ///< the answer to V; empty: BEL
  std::string refuses{};               ///< first letters of the commands that it refuses
  bool is_silent = false;              ///< answers nothing
  std::string noise{};                 ///< sent before each answer
  bool repeats = false;                ///< an empty line repeats the last one, as with CANables
  bool is_alone = false;               ///< without acknowledges: it refuses each frame
  std::chrono::milliseconds pause{0};  ///< before it refuses a command of `refuses`
};

class SlcanAdapter {
 public:
  explicit SlcanAdapter(Firmware firmware = {}) : firmware_(std::move(firmware)) {
    std::string folder = std::filesystem::temp_directory_path() / "takt_slcan_XXXXXX";
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    folder_ = folder;
    path = folder + "/adapter";
    plug_in();
  }
  SlcanAdapter(const SlcanAdapter&) = delete;
  SlcanAdapter& operator=(const SlcanAdapter&) = delete;
  ~SlcanAdapter() {
    unplug();
    std::filesystem::remove_all(folder_);
  }

  void plug_in() {
    master_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    REQUIRE(master_ >= 0);
    REQUIRE(::grantpt(master_) == 0);
    REQUIRE(::unlockpt(master_) == 0);
    std::array<char, 128> name{};
    REQUIRE(::ptsname_r(master_, name.data(), name.size()) == 0);
    std::filesystem::create_symlink(name.data(), path);
    is_plugged_ = true;
    thread_ = std::thread([this] { run(); });
  }
  void unplug() {
    if (!is_plugged_.exchange(false)) return;
    thread_.join();
    ::close(master_);
    std::filesystem::remove(path);
  }
  /// Sends raw bytes.
  void send(std::string_view text) {
    const std::lock_guard lock(mutex_);
    write(text);
  }
  /// All received commands, in order, without frames.
  [[nodiscard]] std::string commands() {
    const std::lock_guard lock(mutex_);
    return commands_;
  }

  std::string path;

 private:
  void run() {
    while (is_plugged_) {
      pollfd entry{master_, POLLIN, 0};
      ::poll(&entry, 1, 5);
      std::array<char, 256> bytes{};
      const ssize_t got = ::read(master_, bytes.data(), bytes.size());
      if (got <= 0) {  // EIO while no program has the line open
        if ((entry.revents & POLLHUP) != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        continue;
      }
      const std::lock_guard lock(mutex_);
      for (const char letter : std::string_view(bytes.data(), static_cast<std::size_t>(got))) take(letter);
    }
  }

  void take(char letter) {
    if (letter != '\r') {
      line_ += letter;
      return;
    }
    std::string line = std::move(line_);
    line_.clear();
    if (line.empty() && firmware_.repeats) line = last_;
    last_ = line;
    if (!line.empty() && (line[0] | 0x20) == 't') {
      if (is_open_ && firmware_.is_alone) return write("\a");
      if (is_open_) write(line + "\r");
      return;
    }
    if (!line.empty()) commands_ += line + " ";
    const std::string said = firmware_.noise + answer(line);
    if (!firmware_.is_silent) write(said);
  }
  std::string answer(const std::string& line) {
    const char command = line.empty() ? '\0' : line[0];
    if (command == 'V' && !firmware_.version.empty()) return firmware_.version + "\r";
    const bool is_named = command != '\0' && firmware_.refuses.find(command) != std::string::npos;
    if (is_named) std::this_thread::sleep_for(firmware_.pause);
    const bool refused = command == 'V' || (command == 'C' && !is_open_) || is_named;
    if (!refused && (command == 'O' || command == 'C')) is_open_ = command == 'O';
    if (!firmware_.confirms) return "";
    return refused ? "\a" : "\r";
  }
  void write(std::string_view text) const {
    for (std::size_t done = 0; done < text.size() && is_plugged_;) {
      const ssize_t taken = ::write(master_, text.data() + done, text.size() - done);
      if (taken > 0) {
        done += static_cast<std::size_t>(taken);
      } else {
        return;  // no reader: a real adapter drops frames too
      }
    }
  }

  Firmware firmware_;
  std::filesystem::path folder_;
  int master_ = -1;
  std::atomic<bool> is_plugged_{false};
  std::thread thread_;
  std::mutex mutex_;  ///< guards everything below, and writing
  std::string line_;
  std::string last_;
  std::string commands_;
  bool is_open_ = false;
};

}  // namespace takt::test
