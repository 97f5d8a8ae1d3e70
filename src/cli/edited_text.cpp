#include "cli/edited_text.hpp"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "jobman/base/env.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::cli {
namespace {

/// What a line of a note begins with.
constexpr std::string_view kMark = "#jobman:";

std::string EditorCommand() {
  for (const char* const name : {"VISUAL", "EDITOR"}) {
    if (const auto value = base::GetEnv(name)) return *value;
  }
  return "vi";
}

/// $EDITOR may be a command line: "code --wait".
base::Status OpenEditor(const base::Path& file) {
  const std::string editor = EditorCommand();
  const int status = std::system((editor + " " + base::ShellQuote(file.string())).c_str());
  if (status == 0) return base::Ok();
  return base::Error{.code = base::Code::kFailedPrecondition,
                     .message = "the editor, " + editor + ", failed; nothing was changed",
                     .hint = "name another in EDITOR"};
}

}  // namespace

std::string WithNote(std::string_view note, const std::string& text) {
  if (note.empty()) return text;
  std::string comments;
  for (const std::string& line : base::Split(note, '\n')) {
    comments += std::string(kMark) + (line.empty() ? "" : " ") + line + "\n";
  }
  return comments + text;
}

std::string WithoutNote(std::string_view text) {
  while (text.starts_with(kMark)) {
    const std::size_t end = text.find('\n');
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return std::string(text);
}

base::Result<EditedText> EditedText::Begin(base::Path file, std::string stored) {
  EditedText text(std::move(file), std::move(stored));
  if (!base::FileSize(text.file_)) return text;
  JM_ASSIGN_OR_RETURN(const std::string left, base::ReadFile(text.file_));
  const std::string kept = WithoutNote(left);
  if (!base::Trim(kept).empty()) text.text_ = kept;
  return text;
}

base::Result<bool> EditedText::Edit(std::string_view note) {
  JM_TRY(base::WriteFileAtomic(file_, WithNote(note, text_)));
  const base::Status edited = OpenEditor(file_);
  const auto read = base::ReadFile(file_);
  const std::string after = read.ok() ? WithoutNote(*read) : text_;
  const std::string before = std::exchange(text_, base::Trim(after).empty() ? stored_ : after);
  JM_TRY(Keep());
  JM_TRY(edited);
  if (!read.ok()) return read.error();
  return text_ != before;
}

base::Status EditedText::Keep() {
  if (!IsStored()) return base::WriteFileAtomic(file_, text_);
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
  return base::Ok();
}

void EditedText::Stored() {
  const auto left = base::ReadFile(file_);
  if (!left.ok() || *left != text_) return;
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
}

}  // namespace jobman::cli
