#pragma once

#include <asio/io_context.hpp>
#include <map>
#include <memory>
#include <string>

#include "controller/job_book.hpp"
#include "controller/listing.hpp"

namespace jobman::controller {

/// Deletes slices of abandoned requests: slices with this store's labels that their job asked for
/// and gave up, by its own record (Job::abandoned, or an attempt that has ended), and does not
/// hold. No job is about to adopt them: a name is never used for a second slice. What carries our
/// labels and is on no record, such as a slice of a copy of this store, is left to `jobman gc`.
class AbandonedSlices {
 public:
  AbandonedSlices(asio::io_context& loop, const Ports& ports, const Options& options,
                  JobBook& book);
  ~AbandonedSlices();

  /// Asks to delete those that the listing shows, and waits for no answer; the book gets it. Not
  /// asked again before it came, nor within a pause that grows with each refusal.
  base::Task<void> Judge(std::shared_ptr<ports::SliceApi> api, Listing listing);
  /// Whether no answer is awaited.
  bool Quiet() const;

 private:
  struct Asked {
    bool pending = true;
    core::TimePoint again = {};  ///< not before
    std::optional<core::DeleteRefused> refused = {};
  };
  static base::Task<void> Delete(AbandonedSlices* self, std::shared_ptr<ports::SliceApi> api,
                                 core::JobId job, Labels ours, core::SliceRef slice);

  asio::io_context& loop_;
  const Ports& ports_;
  const Options& options_;
  JobBook& book_;
  std::map<std::string, Asked> asked_ = {};
  base::CancelScope scope_ = {};
};

}  // namespace jobman::controller
