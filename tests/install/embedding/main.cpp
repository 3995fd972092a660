// Messages of two DBC files of one name, and of one of them once more in a name space of its own.
#include <takt/core/joint.hpp>

#include "arm/wrist/drive.hpp"
#include "left/drive.hpp"
#include "right/drive.hpp"

int main() {
  const auto left = takt::can::encode(left::drive::DriveStatus{.speed = 8});
  const auto right = takt::can::encode(right::drive::DriveStatus{.speed = 8});
  const auto wrist = takt::can::encode(arm::wrist::drive::DriveStatus{.speed = 8});
  return left && right && wrist && left->data[0] == 16 && right->data[0] == 32 && *left == *wrist ? 0 : 1;
}
