#include "config/array.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "config/merge.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::config {
namespace {

/// Values that do not fit are reported once.
constexpr std::size_t kTooMany = std::size_t{kMostElements} + 1;

/// "3-7" as numbers.
std::optional<std::pair<std::int64_t, std::int64_t>> RangeIn(std::string_view text) {
  const std::size_t dash = text.find('-', 1);
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = base::ParseNumber(text.substr(0, dash));
  const auto last = base::ParseNumber(text.substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first) return std::nullopt;
  return std::pair(*first, *last);
}

/// The items of "a,b,7-9".
std::vector<Value> ItemsIn(const Value& list) {
  std::vector<Value> items;
  const auto add = [&](std::string text) {
    Value item = list;
    item.text = std::move(text);
    items.push_back(std::move(item));
  };
  for (const auto& part : base::Split(list.text, ',')) {
    const std::string_view item = base::Trim(part);
    const auto range = RangeIn(item);
    if (!range) add(std::string(item));
    if (!range) continue;
    for (auto number = range->first; number <= range->second && items.size() < kTooMany; ++number)
      add(std::to_string(number));
  }
  return items;
}

bool IsDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "9-0", a range that holds nothing or has no end that a number could be, and "a,,b" are taken for
/// mistakes.
bool IsMistaken(std::string_view item) {
  const std::size_t dash = item.find('-');
  if (dash == std::string_view::npos || dash == 0) return item.empty();
  return IsDigits(item.substr(0, dash)) && IsDigits(item.substr(dash + 1)) && !RangeIn(item);
}

/// Of a range: its numbers are beyond what a number can be.
bool IsHuge(std::string_view range) {
  const std::size_t dash = range.find('-');
  return !base::ParseNumber(range.substr(0, dash)) || !base::ParseNumber(range.substr(dash + 1));
}

/// The values of `array` or of one name of `matrix`; none after a report.
std::vector<Value> ValuesOf(const Value& value, const std::string& path, Diagnostics& out) {
  std::vector<Value> items = value.is_scalar() ? ItemsIn(value) : value.children;
  for (const Value& item : items) {
    if (!value.is_scalar() || !IsMistaken(item.text)) continue;
    const std::string what = item.text.empty()   ? "a value is empty"
                             : IsHuge(item.text) ? "the range " + item.text + " is too large"
                                                 : "the range " + item.text + " runs backwards";
    out.Report(value.pos, path + ": " + what, "write a range as in 0-9, values as in a,b");
    return {};
  }
  const bool scalars =
      std::all_of(items.begin(), items.end(), [](const Value& item) { return item.is_scalar(); });
  if ((value.is_scalar() || value.is_list()) && scalars && !items.empty()) return items;
  out.Report(value.pos, path + ": expected values, found " + std::string(KindText(value)),
             "write a list, or as in 0-9 or a,b");
  return {};
}

void SetScalar(Value& root, const std::string& path, Value value, Diagnostics& out) {
  value.key_pos = value.pos;
  SetAt(root, path, std::move(value), out);
}

/// One axis of the combinations.
struct Axis {
  std::string path = {};  ///< "array.value", "matrix.lr"
  std::vector<Value> values = {};
};

std::vector<Axis> AxesIn(const Value& root, Diagnostics& out) {
  const Value* const array = root.Find("array");
  const Value* const matrix = root.Find("matrix");
  // A map is one job of an array already, as `config show` prints it.
  if (array != nullptr && array->is_map()) return {};
  std::vector<Axis> axes;
  const bool listed = array != nullptr && !array->is_null();
  if (listed) axes.push_back({"array.value", ValuesOf(*array, "array", out)});
  if (matrix == nullptr || !matrix->is_map()) return axes;
  if (listed) {
    out.Report(matrix->key_pos, "array and matrix cannot be used together",
               "make the array one more name of the matrix");
    return {};
  }
  for (const Value& name : matrix->children) {
    axes.push_back({"matrix." + name.key, ValuesOf(name, "matrix." + name.key, out)});
  }
  return axes;
}

/// How many combinations there are; 0 after a report.
int CountOf(const std::vector<Axis>& axes, Position place, Diagnostics& out) {
  std::size_t count = 1;
  for (const Axis& axis : axes) count = std::min(kTooMany, count * axis.values.size());
  if (count < kTooMany) return static_cast<int>(count);
  out.Report(place, "more than " + std::to_string(kMostElements) + " jobs",
             "divide the values among several files");
  return 0;
}

/// job.name and job.group of the element. A name that refers to the values needs no suffix.
void NameElement(Value& root, const ElementChoice& choice, Position place, Diagnostics& out) {
  const Value* const written = FindAt(root, {"job", "name"});
  const bool named = written != nullptr && written->is_scalar();
  Value name = named ? *written : Scalar(choice.file, place);
  const bool varies =
      base::Contains(name.text, "${array.") || base::Contains(name.text, "${matrix.");
  const Value* const group = FindAt(root, {"job", "group"});
  if (group == nullptr || group->is_null()) {
    SetScalar(root, "job.group", varies ? Scalar(choice.file, place) : name, out);
  }
  if (!varies) name.text += "-" + std::to_string(choice.index);
  SetScalar(root, "job.name", name, out);
}

}  // namespace

int TakeElement(Value& root, const ElementChoice& choice, Diagnostics& out) {
  const std::vector<Axis> axes = AxesIn(root, out);
  if (axes.empty() || !out.ok()) return 1;
  const bool listed = axes.front().path == "array.value";
  const Position place = root.Find(listed ? "array" : "matrix")->key_pos;
  const int count = CountOf(axes, place, out);
  if (choice.index >= count && out.ok()) {
    out.Report(place, "the file makes " + base::Plural(count, "job") + ", and this is job " +
                          std::to_string(choice.index) + ", counted from 0");
  }
  if (!out.ok()) return 1;
  NameElement(root, choice, place, out);
  if (Value* const array = root.Find("array"); array != nullptr) *array = Value{.key = "array"};
  SetScalar(root, "array.index", Scalar(std::to_string(choice.index), place), out);
  SetScalar(root, "array.size", Scalar(std::to_string(count), place), out);
  std::size_t left = static_cast<std::size_t>(choice.index);
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {  // the last varies fastest
    SetScalar(root, axis->path, axis->values[left % axis->values.size()], out);
    left /= axis->values.size();
  }
  return count;
}

std::pair<std::string, std::string> PlaceOfArray(const std::string& option) {
  const std::size_t equals = option.find('=');
  if (equals == std::string::npos) return {"array", option};
  return {"matrix." + option.substr(0, equals), option.substr(equals + 1)};
}

}  // namespace jobman::config
