#include "jobman/ui/ask.hpp"

#include <unistd.h>

#include <string>

#include "jobman/base/strings.hpp"

namespace jobman::ui {
namespace {

// Byte by byte, to leave everything after the line to the next reader.
std::string ReadLine(int fd) {
  std::string line;
  char byte = 0;
  while (line.size() < 1024) {
    const ssize_t got = ::read(fd, &byte, 1);
    if (got <= 0 || byte == '\n') break;
    line += byte;
  }
  return line;
}

}  // namespace

bool ReadYesNo(Terminal& terminal, int in_fd, std::string_view question) {
  terminal.Err(std::string(question) + " [y/N]");
  const std::string answer = base::ToLower(base::Trim(ReadLine(in_fd)));
  return answer == "y" || answer == "yes";
}

base::Result<bool> AskYesNo(Terminal& terminal, int in_fd, std::string_view question) {
  if (::isatty(in_fd) != 1 || ::isatty(STDERR_FILENO) != 1)
    return base::InvalidArgument("this needs a confirmation, and there is no terminal to ask on",
                                 "pass --yes to skip the question");
  return ReadYesNo(terminal, in_fd, question);
}

}  // namespace jobman::ui
