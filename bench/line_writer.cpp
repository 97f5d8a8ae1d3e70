#include "bench/line_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>

namespace jobman::bench {

std::string LineWriter::Line(int host, int number) {
  return fmt::format("{} {} loss 2.345678, 12345.6 tokens/s", host, number);
}

void LineWriter::Write() {
  for (int host = 0; host < hosts(); ++host) {
    const base::Path& path = files_[static_cast<std::size_t>(host)];
    const std::string line = Line(host, lines_) + "\n";
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const bool written = ::write(file, line.data(), line.size()) == std::ssize(line);
    ::close(file);
    if (!written) throw std::runtime_error("cannot write " + path.string());
  }
  ++lines_;
}

void LineWriter::WriteFor(int seconds) {
  using Clock = std::chrono::steady_clock;
  auto due = Clock::now();
  for (int tick = 0; tick < seconds * kPerSecond; ++tick) {
    Write();
    due += std::chrono::milliseconds{1000 / kPerSecond};
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(due - Clock::now());
    if (left.count() > 0) usleep(static_cast<useconds_t>(left.count()));
  }
}

}  // namespace jobman::bench
