#include "jobman/base/late_text.hpp"

#include <utility>

namespace jobman::base {

LateText::LateText(std::function<Result<std::string>()> make, std::size_t piece)
    : make_(std::move(make)), piece_(piece) {}

Result<std::string> LateText::operator()() {
  if (!text_) {
    JM_ASSIGN_OR_RETURN(text_, make_());
  }
  if (given_ == 0 && text_->size() <= piece_) return std::exchange(*text_, {});
  std::string piece = text_->substr(given_, piece_);
  given_ += piece.size();
  if (piece.empty()) {
    static_cast<void>(std::exchange(*text_, {}));
    given_ = 0;
  }
  return piece;
}

}  // namespace jobman::base
