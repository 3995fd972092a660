#include "drives/mit/setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace takt::drives::mit {

Result<Setup> setup_of(const robot::JointDescription& joint) noexcept {
  const auto word = joint.drive.word("vendor");
  const auto position = joint.drive.number("position_range");
  const auto velocity = joint.drive.number("velocity_range");
  const auto torque = joint.drive.number("torque_range");
  const auto kp = joint.drive.number("kp");
  const auto kd = joint.drive.number("kd");
  if (!word || !position || !velocity || !torque || !kp || !kd) return fail(Errc::bad_value);
  const auto vendor = std::find(vendor_names.begin(), vendor_names.end(), *word);
  if (vendor == vendor_names.end()) return fail(Errc::bad_value);

  Setup setup{.id = joint.board,
              .vendor = static_cast<Vendor>(vendor - vendor_names.begin()),
              .ranges = {*position, *velocity, *torque},
              .kp = *kp,
              .kd = *kd,
              .reversed = joint.counts_per_radian < 0};
  setup.reply_id = default_reply_id(setup.vendor, setup.id);
  if (const auto id = joint.drive.number("reply_id")) {
    if (!(*id >= 0 && *id < register_id) || *id != std::floor(*id)) return fail(Errc::bad_value);
    setup.reply_id = static_cast<std::uint32_t>(*id);
  }
  const bool gains_fit = *kp >= 0 && *kp <= max_kp && *kd >= 0 && *kd <= max_kd;
  if (!is_good(setup.ranges) || !gains_fit) return fail(Errc::bad_value);
  return setup;
}

std::string identity_of(const Ranges& ranges) {
  if (ranges.torque == 0) return {};  // it is asked for last
  return fmt::format("PMAX {:.6g}, VMAX {:.6g}, TMAX {:.6g}", ranges.position, ranges.velocity,
                     ranges.torque);
}

}  // namespace takt::drives::mit
