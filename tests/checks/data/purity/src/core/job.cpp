#include "jobman/core/job.hpp"

#include <sqlite3.h>

#include <asio/io_context.hpp>

// getenv("X") and time(nullptr) in a comment are fine, and so is "system_clock::now()" in a text.
const char* text = "rand()";
const char* raw = R"(popen()
getenv())";
auto now = std::chrono::system_clock::now();
auto then = std::time(nullptr);
auto home = getenv("HOME");
int dice = 1'000 + rand();
int socket_number = ::socket(1, 2, 3);
auto fine = job.time() + step->open() + wall_time() + Clock::time(3);
