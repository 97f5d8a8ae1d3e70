#include "sim/cloud/operations.hpp"

#include <fmt/format.h>

namespace jobman::sim {

namespace {

/// "operation-1781625689032-654610e51473f-b8557a36-8a68155f", in the service's form.
std::string OperationId(TimePoint now, std::uint64_t count) {
  const std::uint64_t mixed = (count + 1) * 0x9E3779B97F4A7C15ULL;
  return fmt::format("operation-{}-{:013x}-{:08x}-{:08x}", base::ToMillis(now),
                     (mixed >> 12) & 0xFFFFFFFFFFFFFULL, mixed & 0xFFFFFFFFULL, count);
}

}  // namespace

Operations::Key Operations::Begin(const Start& start, TimePoint now) {
  Key key = start.where;
  key.id = OperationId(now, count_++);
  operations_[key] = {{"name", ResourceName(key, "operations")},
                      {"metadata",
                       {{"@type", "type.googleapis.com/" + start.metadata},
                        {"createTime", Timestamp(now)},
                        {"target", start.target},
                        {"verb", start.verb},
                        {"apiVersion", start.version}}}};
  return key;
}

Json* Operations::Open(const Key& key) {
  const auto found = operations_.find(key);
  if (found == operations_.end() || found->second.contains("done")) return nullptr;
  return &found->second;
}

void Operations::Succeed(const Key& key, Json response, TimePoint now) {
  Json* operation = Open(key);
  if (operation == nullptr) return;
  (*operation)["metadata"]["endTime"] = Timestamp(now);
  (*operation)["done"] = true;
  (*operation)["response"] = std::move(response);
}

void Operations::Fail(const Key& key, const ApiError& error, TimePoint now) {
  Json* operation = Open(key);
  if (operation == nullptr) return;
  (*operation)["metadata"]["endTime"] = Timestamp(now);
  (*operation)["done"] = true;
  (*operation)["error"] = ToStatus(error);
}

bool Operations::Cancel(const Key& key) {
  if (!operations_.contains(key)) return false;
  if (Json* operation = Open(key)) (*operation)["metadata"]["cancelRequested"] = true;
  return true;
}

bool Operations::Erase(const Key& key) {
  return operations_.erase(key) > 0;
}

Json Operations::Render(const Key& key) const {
  const auto found = operations_.find(key);
  return found == operations_.end() ? Json() : found->second;
}

Json EmptyResponse() {
  return {{"@type", "type.googleapis.com/google.protobuf.Empty"}};
}

}  // namespace jobman::sim
