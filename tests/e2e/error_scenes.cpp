#include "tests/e2e/error_scenes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::test {
namespace {

using base::GetMember;
using base::GetString;
using base::Json;

/// Where a recorded error is met, if not by the request for a slice.
std::vector<Met> WhereMet(const std::string& file, const std::string& origin) {
  static const std::map<std::string, std::vector<Met>> kElsewhere = {
      {"already_exists", {Met::kTaken}},
      {"api_disabled", {Met::kOffer, Met::kCreate}},
      {"bad_gateway_html", {Met::kEverything}},
      {"bad_zone", {Met::kOffer, Met::kCreate}},
      {"conflict", {Met::kDelete}},
      {"internal", {Met::kEverything}},
      {"permission", {Met::kOffer, Met::kCreate, Met::kList, Met::kDelete}},
      {"queued_needs_force", {Met::kDelete}},
      {"scope", {Met::kOffer, Met::kCreate}},
      {"unauthenticated", {Met::kOffer, Met::kCreate, Met::kList}},
      {"unavailable", {Met::kEverything}},
      {"zone_not_allowed", {Met::kOffer, Met::kCreate}}};
  if (origin == "operation") return {Met::kOperation};
  if (origin == "queued") return {Met::kQueued};
  const auto found = kElsewhere.find(file);
  return found == kElsewhere.end() ? std::vector<Met>{Met::kCreate} : found->second;
}

/// The end of a job's name.
std::string Suffix(Met met) {
  switch (met) {
    case Met::kOffer:
      return "-offer";
    case Met::kList:
      return "-list";
    case Met::kDelete:
      return "-delete";
    case Met::kCreate:
    case Met::kTaken:
    case Met::kOperation:
    case Met::kQueued:
    case Met::kEverything:
      return "";
  }
  return "";
}

/// The zone and the type that the error speaks of.
std::string Named(const std::string& body, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (base::Contains(body, word)) return word;
  }
  return words.back();
}

Scene SceneOf(const std::string& file, const Json& sample, Met met) {
  const Json& body = GetMember(sample, "body");
  const std::string text = body.dump();
  Scene scene{.name = base::ReplaceAll(file, "_", "-") + Suffix(met),
              .about = GetString(sample, "about")};
  scene.zone = Named(
      text, {"us-central2-b", "asia-east1-a", "asia-east1-c", "asia-northeast1-a", "us-east5-a"});
  scene.type = scene.zone == "us-central2-b" ? "v4-8" : Named(text, {"v6e-1", "v5litepod-8"});
  const auto status = static_cast<int>(base::GetInt(sample, "http_status"));
  scene.trouble = {.met = met, .http_status = status == 0 ? 200 : status, .body = body};
  for (const auto& [name, value] : GetMember(sample, "headers").items()) {
    scene.trouble.headers[name] = value.get<std::string>();
  }
  return scene;
}

/// The body about a queued resource is for one; the other deletes are of nodes.
bool IsQueued(const Scene& scene) {
  const Met met = scene.trouble.met;
  if (met == Met::kDelete) return scene.name.starts_with("queued");
  return met == Met::kOffer || met == Met::kCreate || met == Met::kQueued;
}

}  // namespace

std::string WordsOf(Met met) {
  switch (met) {
    case Met::kOffer:
      return "asking what the zone offers";
    case Met::kCreate:
    case Met::kTaken:
      return "requesting the slice";
    case Met::kOperation:
      return "the operation of the request";
    case Met::kQueued:
      return "the state of the queued resource";
    case Met::kList:
      return "listing the slices of the zone";
    case Met::kDelete:
      return "deleting the slice";
    case Met::kEverything:
      return "every call";
  }
  return "";
}

std::vector<Scene> AllScenes() {
  const base::Path folder = base::Path(JOBMAN_SOURCE_DIR) / "tests/data/errors";
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path().stem().string());
  }
  std::sort(files.begin(), files.end());
  std::vector<Scene> scenes;
  for (const std::string& file : files) {
    const auto sample = base::ParseJson(base::ReadFile(folder / (file + ".json")).value());
    EXPECT_TRUE(sample.ok()) << file;
    if (!sample.ok()) continue;
    for (const Met met : WhereMet(file, GetString(*sample, "origin"))) {
      scenes.push_back(SceneOf(file, *sample, met));
    }
  }
  return scenes;
}

bool IsOfTheCommand(const Scene& scene) {
  return scene.trouble.met == Met::kOffer;
}

bool IsNoted(const Scene& scene) {
  return scene.trouble.met == Met::kEverything;
}

std::string FileOf(const Scene& scene) {
  return scene.name + ".yaml";
}

std::string JobText(const Scene& scene, const std::string& endpoint, const std::string& token) {
  const std::string mode = IsQueued(scene) ? "queued-resources" : "tpu-vm";
  return "job: {name: " + scene.name + "}\ncloud:\n  endpoint: " + endpoint +
         "\n  token_file: " + token + "\ntpu:\n  project: my-project\n  zone: " + scene.zone +
         "\n  accelerator: " + scene.type + "\n  pricing: spot\n  allocation_mode: " + mode +
         "\nretries: {backoff: 1000h, backoff_cap: 1000h}\ncommand: {cmd: \"true\"}\n";
}

}  // namespace jobman::test
