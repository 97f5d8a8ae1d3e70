#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "jobman/ports/stores.hpp"

namespace jobman::test {

/// Gives the store to a test for one call at a time: in between it may be closed and reopened.
class StoreSubject {
 public:
  virtual ~StoreSubject() = default;
  virtual ports::Stores Use() = 0;
  /// As if a newer jobman had written the task, with unknown words.
  virtual void MakeTaskUnreadable(core::QueueId queue, const std::string& id) = 0;
};

enum class StoreKind { kMemory, kSqlite, kSqliteReopened, kSqliteOnSharedFiles };

std::unique_ptr<StoreSubject> MakeStoreSubject(StoreKind kind);
std::string StoreKindName(const testing::TestParamInfo<StoreKind>& info);
inline auto EveryStoreKind() {
  return testing::Values(StoreKind::kMemory, StoreKind::kSqlite, StoreKind::kSqliteReopened,
                         StoreKind::kSqliteOnSharedFiles);
}

}  // namespace jobman::test
