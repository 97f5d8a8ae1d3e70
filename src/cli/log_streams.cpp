#include "cli/log_streams.hpp"

#include <utility>

namespace jobman::cli {

void LogStreams::Add(core::JobId job, client::LogFollower::Options from, LogLook look,
                     LineFilter filter) {
  streams_.push_back(
      std::make_unique<Stream>(Stream{.follower = {context_, job, std::move(from)},
                                      .printer = {app_, job, std::move(look), std::move(filter)}}));
}

bool LogStreams::Take(Stream& stream, const client::LogStage& stage, int host,
                      const client::LogPiece& piece) {
  if (stream.stage != stage) {
    stream.host_count = client::HostCount(context_.paths, stream.follower.job(), stage);
    stream.stage = stage;
  }
  narrator_.Heard(piece.bytes);
  return stream.printer.Print(stage, host, stream.host_count, piece);
}

base::Result<bool> LogStreams::Follow(
    const std::function<void(const core::Job& job, bool over)>& looked, base::Duration poll_every) {
  std::vector<client::Followed> jobs;
  for (const auto& stream : streams_) {
    Stream* const one = stream.get();
    const auto take = [this, one](const client::LogStage& stage, int host,
                                  const client::LogPiece& piece) {
      return Take(*one, stage, host, piece);
    };
    const auto look = [this, one, &looked] {
      one->printer.PrintFolded(context_.Now());
      if (one->follower.done()) one->printer.Finish();
      looked(one->follower.job(), one->follower.done());
    };
    jobs.push_back({.follower = &one->follower, .take = take, .looked = look});
  }
  auto followed = client::FollowLogs(context_, jobs, poll_every);
  if (!followed.ok()) Finish();
  return followed;
}

void LogStreams::Finish() {
  for (const auto& stream : streams_) stream->printer.Finish();
}

std::vector<core::Job> LogStreams::JobsThatAre(bool over) const {
  std::vector<core::Job> jobs;
  for (const auto& stream : streams_) {
    if (stream->follower.done() == over) jobs.push_back(stream->follower.job());
  }
  return jobs;
}

}  // namespace jobman::cli
