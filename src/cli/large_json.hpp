#pragma once

#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/base/random.hpp"
#include "jobman/ui/folding.hpp"

namespace jobman::cli {

/// Prints a JSON document with texts that are too large for memory: each is read while it is
/// printed.
class LargeJson {
 public:
  /// The value that stands for the text in the document.
  std::string Place(ui::ReadText text);
  /// The document, indented, with the texts in their places.
  base::Status Print(const base::OrderedJson& json, ui::Terminal& terminal) const;

 private:
  std::string mark_ = base::RandomHex(16);  ///< occurs nowhere else
  std::vector<ui::ReadText> texts_ = {};
};

}  // namespace jobman::cli
