#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jobman/core/job.hpp"

/// How slices and their nodes are named, and what their names tell.
namespace jobman::core {

inline constexpr std::size_t kLongestLabelValue = 63;
/// Label values allow lower-case letters, digits, _ and -, at most 63 characters.
/// Source: Compute Engine documentation, "Organize resources using labels".
std::string LabelValue(std::string_view text);

/// The slice's name for the job's attempt: `<prefix>-<id>-a<attempt>`, lower-case RFC 1035, at most
/// 61 characters. Deterministic: if the name already exists with our labels, it is ours.
std::string SliceName(const Job& job, int attempt);
/// The slice that the attempt requests.
SliceRef SliceFor(const Job& job, int attempt);

/// The ids of its nodes: the name, or NAME-0, NAME-1, ... for a multislice, as the service numbers
/// them (MultisliceParams.nodeIdPrefix).
std::vector<std::string> NodeIds(const SliceRef& ref);
/// One of them, by its number from 0.
std::string NodeId(const SliceRef& ref, int node);
/// The parts that are created and deleted by one call each: the queued resource, or without one
/// each node.
std::vector<SliceRef> PartsOf(const SliceRef& ref);
std::vector<std::string> NamesOfParts(const SliceRef& ref);

/// Whether `name` is the slice's or one of its nodes': train-000042-a3, train-000042-a3-1.
bool IsPartOf(const std::string& slice, std::string_view name);

}  // namespace jobman::core
