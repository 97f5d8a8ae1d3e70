#include "sim/wire/gzip.hpp"

#include <zlib.h>

#include "jobman/base/strings.hpp"

namespace jobman::sim {

bool AcceptsGzip(const std::string& header) {
  for (const std::string& part : base::Split(base::ToLower(header), ',')) {
    const std::vector<std::string> words = base::Split(base::ReplaceAll(part, " ", ""), ';');
    const bool never = words.size() > 1 && (words[1] == "q=0" || words[1].starts_with("q=0.0"));
    if ((words[0] == "gzip" || words[0] == "*") && !never) return true;
  }
  return false;
}

std::optional<std::string> Gzip(const std::string& text) {
  constexpr int kGzipFormat = 15 + 16;  // the largest window, with gzip's header
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipFormat, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return std::nullopt;
  }
  std::string packed(deflateBound(&stream, text.size()), '\0');
  std::string input = text;  // zlib takes no pointer to const
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return done ? std::optional(packed) : std::nullopt;
}

}  // namespace jobman::sim
