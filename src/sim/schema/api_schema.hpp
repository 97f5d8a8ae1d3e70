#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace jobman::sim {

/// The Cloud TPU API as its discovery documents have it: names and types, version by version. From
/// tpu_api.json, which make_schema.py writes.

using Versions = std::set<std::string>;  ///< empty: all

/// A field of a message, or a parameter of a query.
struct SchemaField {
  enum class Shape { kOne, kList, kMap };
  std::string name = {};      ///< in lowerCamelCase: "nodeSpec"
  std::string original = {};  ///< as in the proto: "node_spec"
  /// "string", "bool", "int32", "int64", "time", "duration", "mask", "any", or the name of an enum
  /// or a message.
  std::string type = {};
  Shape shape = Shape::kOne;
  bool output_only = false;
  std::string group = {};  ///< only one field of a group may be set; empty: none
  Versions versions = {};
};
using SchemaMessage = std::vector<SchemaField>;

struct SchemaValue {
  std::string name = {};
  std::int64_t number = 0;
  Versions versions = {};
};

struct SchemaMethod {
  std::string http = {};   ///< "GET"
  std::string body = {};   ///< the message of the request's body
  std::string reply = {};  ///< the message of the reply
  SchemaMessage query = {};
  Versions versions = {};
};

/// Whether something with these versions is in `version`.
bool IsIn(const Versions& versions, const std::string& version);
/// The field of this name, in either form, whatever its version; else null.
const SchemaField* FindField(const SchemaMessage& message, std::string_view name);

class ApiSchema {
 public:
  static const ApiSchema& Get();

  /// Of "nodes.create"; null if the version does not have it.
  const SchemaMethod* Method(const std::string& name, const std::string& version) const;
  /// Null if the type is no message.
  const SchemaMessage* Message(const std::string& type) const;
  /// Null if the type is no enum.
  const std::vector<SchemaValue>* Enum(const std::string& type) const;
  /// The full name in the proto: "google.cloud.tpu.v2.Node.State".
  std::string FullName(const std::string& type, const std::string& version) const;

  const std::map<std::string, SchemaMethod>& methods() const { return methods_; }
  /// Parameters that every method has: "alt", "fields", "prettyPrint", ..
  const std::set<std::string>& parameters() const { return parameters_; }

 private:
  ApiSchema();
  std::map<std::string, SchemaMessage> messages_ = {};
  std::map<std::string, std::string> outer_ = {};  ///< of a nested message, the one around it
  std::map<std::string, std::vector<SchemaValue>> enums_ = {};
  std::map<std::string, SchemaMethod> methods_ = {};
  std::set<std::string> parameters_ = {};
};

/// tpu_api.json, compiled in.
std::string_view ApiSchemaText();

}  // namespace jobman::sim
