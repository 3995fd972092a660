// The Furbot's frame with y forward: known poses by hand, there and back, and its own formula for integrating
// a pose.
#include "takt/vehicle/furbot_frame.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "support/random.hpp"

using namespace takt;
using namespace takt::vehicle;
using mobile::Pose;
using mobile::Twist;

namespace {

constexpr double pi = std::numbers::pi;

// Left in REP 103 is left of the Furbot, which is its -x. A rotation to the left is counter-clockwise, which
// the Furbot counts as negative.
static_assert(to_furbot(Twist{2, 0.5, 0.25}) == FurbotTwist{-0.5, 2, -0.25});
static_assert(to_furbot(Pose{3, 1, 0.5}) == FurbotPose{-1, 3, -0.5});
static_assert(from_furbot(to_furbot(Pose{3, 1, 0.5})) == Pose{3, 1, 0.5});
static_assert(from_furbot(to_furbot(Twist{2, 0.5, 0.25})) == Twist{2, 0.5, 0.25});

}  // namespace

TEST_CASE_TEMPLATE("a conversion to the Furbot's frame and back is exact", Scalar, double, float) {
  auto random = test::generator(1);
  const auto any = [&] { return static_cast<Scalar>(test::uniform(random, -3, 3)); };
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    const mobile::BasicPose<Scalar> pose{any(), any(), any()};
    const mobile::BasicTwist<Scalar> twist{any(), any(), any()};
    const BasicFurbotPose<Scalar> theirs{any(), any(), any()};
    const BasicFurbotTwist<Scalar> motion{any(), any(), any()};
    CHECK(from_furbot(to_furbot(pose)) == pose);
    CHECK(from_furbot(to_furbot(twist)) == twist);
    CHECK(to_furbot(from_furbot(theirs)) == theirs);
    CHECK(to_furbot(from_furbot(motion)) == motion);
  }
  const mobile::BasicPose<Scalar> backwards{0, 0, std::numbers::pi_v<Scalar>};
  CHECK(to_furbot(backwards).heading == std::numbers::pi_v<Scalar>);
  CHECK(from_furbot(to_furbot(backwards)) == backwards);
  CHECK_FALSE(std::signbit(to_furbot(mobile::BasicPose<Scalar>{}).x));
  CHECK_FALSE(std::signbit(from_furbot(BasicFurbotTwist<Scalar>{}).rotation));
}

TEST_CASE("a pose summed up by the report's rule is the odometry's in the Furbot's frame") {
  auto random = test::generator(2);
  for (std::size_t i = 0; i < test::count(100); ++i) {
    Pose ours{test::uniform(random, -5, 5), test::uniform(random, -5, 5), test::uniform(random, -3, 3)};
    FurbotPose theirs = to_furbot(ours);
    for (int k = 0; k < 100; ++k) {
      const Twist motion{test::uniform(random, -0.1, 0.1), 0, test::uniform(random, -0.1, 0.1)};
      ours = mobile::moved(ours, motion, mobile::PoseIntegration::euler);
      const FurbotTwist their_motion = to_furbot(motion);
      theirs.x += their_motion.y * std::sin(theirs.heading);
      theirs.y += their_motion.y * std::cos(theirs.heading);
      theirs.heading += their_motion.rotation;
    }
    const FurbotPose got = to_furbot(ours);
    CHECK(got.x == doctest::Approx(theirs.x));
    CHECK(got.y == doctest::Approx(theirs.y));
    CHECK(std::abs(std::remainder(got.heading - theirs.heading, 2 * pi)) < 1e-12);
  }
}
