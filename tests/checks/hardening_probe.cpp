// A small program with one place for each kind of hardening, for hardening.sh to read.
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

// Needs more than a page of stack.
[[gnu::noinline]] std::size_t LargeFrame(const char* text) {
  char copy[20'000];
  std::strncpy(copy, text, sizeof copy - 1);
  copy[sizeof copy - 1] = '\0';
  return std::strlen(copy);
}

// Copies to a block whose size only the program knows.
[[gnu::noinline]] char* CopyOf(const char* text, std::size_t size, std::size_t count) {
  auto* block = static_cast<char*>(std::malloc(size));
  if (block != nullptr) std::memcpy(block, text, count);
  return block;
}

[[gnu::noinline]] int At(const std::vector<int>& numbers, std::size_t index) {
  return numbers[index];
}

}  // namespace

int main(int count, char** words) {
  const std::size_t length = LargeFrame(words[0]);
  char* copy = CopyOf(words[0], length + 1, length);
  const int first = copy == nullptr ? 0 : copy[0];
  std::free(copy);
  return first + At({0, 1, 2}, static_cast<std::size_t>(count - 1));
}
