#include "tests/e2e/terminal.hpp"

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "jobman/base/handle.hpp"

namespace jobman::test {
namespace {

constexpr int kPatienceMs = 60'000;

/// The next bytes from the screen; empty at the end. Kills a program that is silent for too long.
std::string ReadScreen(int screen, pid_t program) {
  pollfd news{.fd = screen, .events = POLLIN, .revents = 0};
  if (poll(&news, 1, kPatienceMs) != 1) kill(program, SIGKILL);
  std::array<char, 4096> bytes{};
  const ssize_t count = read(screen, bytes.data(), bytes.size());  // EIO: the program has ended
  return count > 0 ? std::string(bytes.data(), static_cast<std::size_t>(count)) : std::string{};
}

}  // namespace

Ran AnswerOnTerminal(std::vector<std::string> argv, const std::string& question,
                     const std::string& answer) {
  std::vector<char*> words;
  for (std::string& word : argv) words.push_back(word.data());
  words.push_back(nullptr);
  int screen = -1;
  const pid_t child = forkpty(&screen, nullptr, nullptr, nullptr);
  if (child == 0) {
    execvp(words[0], words.data());
    _exit(127);
  }
  Ran ran{.code = -1};
  if (child < 0) return ran;
  const base::UniqueFd closes(screen);
  bool answered = false;
  for (;;) {
    const std::string news = ReadScreen(screen, child);
    if (news.empty()) break;
    ran.out += news;
    if (answered || ran.out.find(question) == std::string::npos) continue;
    const std::string line = answer + "\n";
    answered = write(screen, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  }
  int status = 0;
  waitpid(child, &status, 0);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

}  // namespace jobman::test
