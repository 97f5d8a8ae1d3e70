#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

/// What the fuzz targets share. A target is one function, as libFuzzer wants it:
/// https://llvm.org/docs/LibFuzzer.html
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace jobman::fuzz {

inline std::string Text(const std::uint8_t* data, std::size_t size) {
  return {data, data + size};
}

/// Ends the program, which libFuzzer takes for a finding.
inline void Expect(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "expected: %s\n", what.c_str());
  std::abort();
}

}  // namespace jobman::fuzz
