// Stands in for libFuzzer, which only clang has: gives the target each file of the folders, whole
// and cut short at some places.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

#include "tests/fuzz/expect.hpp"

namespace {

namespace fs = std::filesystem;

void Give(const std::string& text) {
  // In a block of its own, so that a read behind its end is seen.
  const std::vector<std::uint8_t> data(text.begin(), text.end());
  LLVMFuzzerTestOneInput(data.data(), data.size());
}

int Replay(const fs::path& folder) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const std::size_t step = std::max<std::size_t>(1, text.size() / 64);
    for (std::size_t size = 0; size < text.size(); size += step) Give(text.substr(0, size));
    Give(text);
    ++files;
  }
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) files += Replay(argv[i]);
  std::cout << files << " files\n";
  return files > 0 ? 0 : 1;
}
