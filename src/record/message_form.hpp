// The messages of a type with a schema (shm/schema.hpp). A form has their definition for ROS 2. It converts
// the memory of a value to CDR and back. Types that ROS 2 has a message for may have that one
// (record/standard_message.hpp). Not real-time safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/cdr.hpp"
#include "record/standard_message.hpp"
#include "takt/shm/schema.hpp"

namespace takt::record {

/// The header of a standard message.
struct MessageHeader {
  std::uint64_t stamp = 0;   ///< ns since 1970
  std::string_view frame{};  ///< where it was measured
};

/// The form of one type's messages. A field "pose.x f64" of the schema is "float64 pose_x" in the definition.
class MessageForm {
 public:
  /// Parses the schema, which is valid. `type`: of the messages. The type's standard message gives its form.
  explicit MessageForm(std::string_view schema, std::string_view type = {});
  template <shm::Described T>
  [[nodiscard]] static MessageForm of() {
    return MessageForm(shm::schema_text<T>());
  }

  /// The definition, in the encoding "ros2msg".
  [[nodiscard]] const std::string& definition() const noexcept { return definition_; }
  /// Bytes of a value in memory.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Appends the fields of a value with size() bytes to the message that was begun. `header`: of a standard
  /// message.
  void write(CdrWriter& writer, std::span<const std::uint8_t> value, const MessageHeader& header = {}) const;
  /// Reads the fields into a value with size() bytes, of which padding stays. Returns false if the message is
  /// too short; the value is then partly filled.
  [[nodiscard]] bool read(CdrReader& reader, std::span<std::uint8_t> value) const;

  template <shm::Described T>
  void write(CdrWriter& writer, const T& value) const {
    write(writer, std::span{reinterpret_cast<const std::uint8_t*>(&value), sizeof(T)});
  }
  template <shm::Described T>
  [[nodiscard]] bool read(CdrReader& reader, T& value) const {
    return read(reader, std::span{reinterpret_cast<std::uint8_t*>(&value), sizeof(T)});
  }

 private:
  /// Numbers of one size, in memory.
  struct Place {
    std::size_t offset;
    std::size_t count;
    std::size_t size;
    std::size_t covariances = 0;  ///< numbers of a standard message behind it
  };

  std::string definition_;
  std::vector<Place> places_;
  std::size_t size_ = 0;
  const StandardMessage* standard_ = nullptr;  ///< whose form the messages have
};

}  // namespace takt::record
