#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <string>

#include "sim/wire/request.hpp"

namespace jobman::sim {

/// The requests since the start: counts by method, and the latest ones in full.
class RequestLog {
 public:
  void Add(const std::string& method, const Request& request, const Reply& reply, TimePoint now) {
    ++counts_[method];
    ++total_;
    if (total_ == 1) first_ = now;
    const auto minute = std::chrono::floor<std::chrono::minutes>(now - first_);
    if (minute != minute_) in_minute_ = 0;
    minute_ = minute;
    peak_ = std::max(peak_, ++in_minute_);
    last_.push_back({method, request, reply.lost ? 0 : reply.status, now});
    if (last_.size() > kKept) last_.pop_front();
  }
  /// Requests a minute since the first one: the mean and the maximum.
  Json Rates(TimePoint now) const {
    const double minutes = std::chrono::duration<double, std::ratio<60>>(now - first_).count();
    const double mean = total_ == 0 ? 0 : static_cast<double>(total_) / std::max(1.0, minutes);
    return {{"total", total_}, {"mean_per_minute", mean}, {"peak_per_minute", peak_}};
  }
  /// `limit` bounds the list of requests, newest last.
  Json ToJson(std::size_t limit) const {
    Json list = Json::array();
    const std::size_t skip = last_.size() > limit ? last_.size() - limit : 0;
    for (std::size_t i = skip; i < last_.size(); ++i) {
      const Entry& entry = last_[i];
      list.push_back({{"time", Timestamp(entry.time)},
                      {"call", entry.method},
                      {"method", entry.request.method},
                      {"path", entry.request.path},
                      {"query", entry.request.query},
                      {"body", entry.request.body},
                      {"status", entry.status}});
    }
    return {{"total", total_}, {"counts", counts_}, {"requests", std::move(list)}};
  }

 private:
  static constexpr std::size_t kKept = 500;
  struct Entry {
    std::string method = {};
    Request request = {};
    int status = 0;  ///< 0: no answer was sent
    TimePoint time = {};
  };
  std::map<std::string, std::uint64_t> counts_ = {};
  std::deque<Entry> last_ = {};
  std::uint64_t total_ = 0;
  TimePoint first_ = {};
  std::chrono::minutes minute_{0};  ///< the current one, counted from the first request
  std::uint64_t in_minute_ = 0;
  std::uint64_t peak_ = 0;
};

}  // namespace jobman::sim
