#pragma once

#include <string>

#include "jobman/base/json.hpp"
#include "jobman/base/result.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli {

/// A JSON document as text. Bytes that are not UTF-8 are replaced, so it never throws; control
/// characters are escaped, all of them. `indent` -1 puts everything on one line.
std::string DumpJson(const base::OrderedJson& json, int indent);

namespace views {

/// How a command failed.
struct Failure {
  base::Error error = {};
  int exit_code = 0;
};
/// "jobman: <context>: <message>", and below it what to do.
std::string RenderText(const Failure& view, const ui::Style& style);
base::OrderedJson ToJson(const Failure& view);

/// An error inside other documents: code, reason, message, hint.
base::OrderedJson ToJson(const base::Error& error);

}  // namespace views
}  // namespace jobman::cli
