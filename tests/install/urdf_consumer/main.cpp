#include <takt/drives/registry.hpp>
#include <takt/robot/urdf.hpp>

int main() {
  const auto imported = takt::robot::import_urdf(
      R"(<robot name="one"><link name="a"/><link name="b"/>
         <joint name="turn" type="continuous"><parent link="a"/><child link="b"/></joint></robot>)",
      {.protocol = takt::drives::find("servo")});
  return imported && imported->robot.joints.size() == 1 ? 0 : 1;
}
