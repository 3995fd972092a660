target_link_libraries(experiment_bench PRIVATE takt::mujoco)
