#pragma once

#include <gtest/gtest.h>

#include "tests/support/job_builder.hpp"
#include "tests/support/memory_store.hpp"

namespace jobman::test {

/// Stores a job whose command runs on so many hosts.
inline void AddRunningJob(MemoryStore& store, core::TimePoint now, int hosts) {
  const auto id = store.Create(JobBuilder().Build(), "", now);
  ASSERT_TRUE(id.ok());
  core::Job job = *store.Get(*id);
  job.wish_new = false;
  job.attempt = 1;
  job.state = core::Running{};
  ASSERT_TRUE(store.Commit({.job = WithHosts(job, hosts)}, 0).ok());
}

}  // namespace jobman::test
