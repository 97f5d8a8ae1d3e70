#pragma once

#include <string>
#include <string_view>

#include "jobman/base/files.hpp"

namespace jobman::cli {

/// The text with a note above it, in comments of YAML; and without them again.
std::string WithNote(std::string_view note, const std::string& text);
std::string WithoutNote(std::string_view text);

/// A stored text in the user's editor. What the user typed stays in the file, also when the program
/// ends, until it is stored.
class EditedText {
 public:
  /// Begins with what an earlier edit has left in the file, if that is another text.
  static base::Result<EditedText> Begin(base::Path file, std::string stored);

  /// Opens $VISUAL, $EDITOR or vi. False if the text is left as it was. An editor that fails is an
  /// error; what it wrote is kept. Who leaves nothing gives up: the text is the stored one again.
  base::Result<bool> Edit(std::string_view note);
  /// It is stored now: removes the file, unless somebody else has written into it.
  void Stored();

  bool IsStored() const { return text_ == stored_; }
  const std::string& text() const { return text_; }
  const base::Path& file() const { return file_; }

 private:
  EditedText(base::Path file, std::string stored)
      : file_(std::move(file)), stored_(stored), text_(std::move(stored)) {}
  base::Status Keep();

  base::Path file_;
  std::string stored_;
  std::string text_;
};

}  // namespace jobman::cli
