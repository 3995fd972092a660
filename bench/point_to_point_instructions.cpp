// The cost of planning jerk-limited motion: the mean over many problems, because each takes another number of
// steps.
#include "instructions.hpp"
#include "point_to_point_problems.hpp"
#include "takt/trajectory/point_to_point.hpp"

namespace takt::bench {
namespace {

using namespace takt::trajectory;

template <Ends Which>
void plan(Counter& count) {
  const auto problems = arm_problems(Which);
  PointToPoint<ArmProblem::joints> motion;
  std::size_t next = 0;
  count([&] {
    const ArmProblem& problem = problems[next++ % problems.size()];
    keep(motion.plan(problem.start, problem.target, problem.limits));
  });
}

const Kernel rest("trajectory/point_to_point_rest_7_joints", plan<Ends::rest>);
const Kernel moving("trajectory/point_to_point_moving_7_joints", plan<Ends::moving_start>);
const Kernel anything("trajectory/point_to_point_anything_7_joints", plan<Ends::moving>);

}  // namespace
}  // namespace takt::bench
