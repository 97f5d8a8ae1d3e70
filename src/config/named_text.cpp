#include "config/named_text.hpp"

#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::config {

std::string ReadNamedText(Reader& reader, const std::string& path, const std::string& text,
                          std::size_t longest, const std::string& hint, Missing rule) {
  if (base::Contains(text, "\n")) return text;
  const base::Path file = ResolvePath(reader.defaults(), reader.FolderOf(path), text);
  auto content = base::ReadRegularFile(file, longest);
  if (!content.ok()) {
    const std::string message = path + ": " + content.error().message;
    if (rule == Missing::kIsWrong || reader.request().check_secrets) {
      reader.Complain(path, message, hint);
    } else {
      reader.Warn(path, message, hint);
    }
    return {};
  }
  reader.NoteFile(path, file);
  if (base::Contains(*content, std::string_view("\0", 1))) {
    reader.Complain(path, path + ": " + file.string() + " contains a NUL byte", "name a text file");
  }
  if (base::Trim(*content).empty())
    reader.Complain(path, path + ": " + file.string() + " is empty");
  if (!base::Contains(*content, "\n")) *content += "\n";
  return std::move(*content);
}

}  // namespace jobman::config
