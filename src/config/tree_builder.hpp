#pragma once

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/diagnostics.hpp"
#include "config/value.hpp"
#include "config/yaml_reader.hpp"

namespace jobman::config {

/// Builds a Value from the parser's events. Ignores the rest after a problem that leaves no usable
/// tree.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(int source, int offset, const Limits& limits, Diagnostics& out)
      : source_(source), offset_(offset), limits_(limits), out_(out) {}

  /// The document; nothing if building failed or there was none.
  std::optional<Value> TakeRoot();
  bool failed() const { return failed_; }
  Position At(const YAML::Mark& mark) const;

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { Close(); }

 private:
  /// A list or map that has not ended yet.
  struct Open {
    Value value = {};
    YAML::anchor_t anchor = 0;
    std::optional<Value> key = {};   ///< of the member whose value comes next
    std::vector<Value> merged = {};  ///< values of "<<"
  };

  void Fail(Position at, std::string message, std::string hint = {});
  void OpenContainer(Value::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor);
  void Close();
  void Finish(Value value, YAML::anchor_t anchor);
  void Place(Value value);
  void PlaceMember(Open& map, Value value);
  /// Whether the map takes one more key; if not, fails.
  bool HasRoom(const Open& map, Position at);
  void MergeInto(Open& map);
  bool Spend(const Value& value, Position at);

  int source_;
  int offset_;
  const Limits& limits_;
  Diagnostics& out_;
  bool failed_ = false;
  std::size_t values_ = 0;
  std::size_t bytes_ = 0;
  std::optional<Value> root_ = {};
  std::vector<Open> open_ = {};
  std::map<YAML::anchor_t, Value> anchors_ = {};
};

}  // namespace jobman::config
