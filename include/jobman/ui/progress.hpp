#pragma once

#include <string_view>

#include "jobman/ui/terminal.hpp"

namespace jobman::ui {

/// What the program is waiting for, as the status line of a terminal while this object lives:
/// rewritten in place on a terminal, a plain line for each change elsewhere, nothing when quiet.
class Progress {
 public:
  Progress(Terminal& terminal, bool quiet) : terminal_(terminal), quiet_(quiet) {}
  ~Progress() { terminal_.ClearStatus(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Update(std::string_view line) {
    if (!quiet_) terminal_.SetStatus(line);
  }

 private:
  Terminal& terminal_;
  bool quiet_;
};

}  // namespace jobman::ui
