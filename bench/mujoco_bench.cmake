target_link_libraries(mujoco_bench PRIVATE takt::mujoco)
