#include "jobman/ui/csv.hpp"

#include "jobman/base/strings.hpp"

namespace jobman::ui {
namespace {

std::string CsvField(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  return "\"" + base::ReplaceAll(field, "\"", "\"\"") + "\"";
}

}  // namespace

std::string CsvLine(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) line += ',';
    line += CsvField(field);
  }
  return line + "\n";
}

}  // namespace jobman::ui
