#pragma once

#include <string>
#include <vector>

#include "controller/stage_hosts.hpp"

namespace jobman::controller {

/// Passes notices to the command on every host, with retries until it was told or has ended.
class NoticePasser {
 public:
  NoticePasser(const StageContext& context, StageHosts& hosts);

  /// At once, or when the command has started there. After earlier notices that it was not told
  /// yet, which are passed again: one of them may have the signal. Each notice is passed once, so
  /// few wait.
  void Pass(const core::Notice& notice, const std::string& signal);
  /// Whether the host is still to be told.
  bool Busy(std::size_t index) const { return !passings_[index].calls.empty(); }

 private:
  struct Passing {
    std::vector<remote::Call> calls = {};  ///< no deque: an empty one takes half a kilobyte
    base::CancelScope scope = {};
  };
  base::Task<void> PassAll(std::size_t index);
  base::Task<void> PassOne(std::size_t index, remote::Call call);

  const StageContext& context_;
  StageHosts& hosts_;
  std::vector<Passing> passings_;  ///< by host
};

}  // namespace jobman::controller
