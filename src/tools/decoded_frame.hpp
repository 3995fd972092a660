// The values of a frame's signals as text, by a DBC file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "takt/can/frame.hpp"
#include "takt/dbc/database.hpp"

namespace takt::tools {

/// Decodes frames of one file. The database must outlive it.
class FrameDecoder {
 public:
  explicit FrameDecoder(const dbc::Database& dbc) : dbc_(&dbc) {}

  /// The message and its signals: "MotorStatus(Position: 1.5 rad, Mode: 2 "ready")". Signals that the
  /// selector does not select are left out; for other ones without a value, the text gives the reason. Empty
  /// for a frame that the file does not know, and for one without data.
  [[nodiscard]] std::string text_of(const can::Frame& frame);

 private:
  [[nodiscard]] std::string value_of(const dbc::MessageCodec& message, std::size_t signal) const;

  const dbc::Database* dbc_;
  std::vector<double> values_;
  std::vector<std::int64_t> numbers_;
  std::vector<can::Presence> presence_;
};

}  // namespace takt::tools
