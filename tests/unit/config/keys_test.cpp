// The lists of fields in core/job_spec.hpp and the schema table have the same keys.
#include "tests/unit/config/keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "jobman/base/strings.hpp"
#include "jobman/core/spec_json.hpp"
#include "tests/support/values_of.hpp"

namespace jobman::config {
namespace {

using core::Duration;
using testing::RowAt;

/// Compares each field of the spec with its row.
class FieldChecker {
 public:
  template <core::HasFields T>
  void Check(const std::string& prefix) {
    T::Fields([&](std::string_view key, auto member) {
      path_ = prefix + std::string(key);
      seen_.insert(path_);
      CheckField(member);
    });
  }
  const std::set<std::string>& seen() const { return seen_; }

 private:
  template <class T, class Value>
  void CheckField(Value T::* /*member*/) {
    const std::string path = path_;
    CheckType(static_cast<Value*>(nullptr));
    path_ = path;
  }
  template <class Member, class Needed>
  void CheckField(core::With<Member, Needed> with) {
    CheckField(with.member);
  }
  template <class Member>
  void CheckField(core::OrUnlimited<Member> /*limit*/) {
    ExpectType({Type::kCount});
  }
  template <class T>
  void CheckField(core::OneOf<std::optional<Duration> T::*, std::optional<core::TimePoint> T::*>) {
    ExpectType({Type::kDeadline});
  }
  template <class T>
  void CheckField(core::OneOf<std::string T::*, core::SecretSource T::*>) {
    ExpectType({Type::kTextOrSource});
  }

  void CheckType(const std::string*) { ExpectType({Type::kText, Type::kPath, Type::kWord}); }
  void CheckType(const bool*) { ExpectType({Type::kBool}); }
  void CheckType(const int*) { ExpectType({Type::kNumber}); }
  void CheckType(const std::int64_t*) { ExpectType({Type::kSize}); }
  void CheckType(const Duration*) { ExpectType({Type::kDuration, Type::kLimit}); }
  void CheckType(const core::HostSet*) { ExpectType({Type::kHosts}); }
  void CheckType(const std::map<std::string, std::string>*) { ExpectType({Type::kTextMap}); }
  void CheckType(const std::vector<std::string>*) { ExpectType({Type::kTextList}); }
  void CheckType(const core::SecretSource*) { ExpectType({Type::kSource}); }
  template <class T>
  void CheckType(const std::optional<T>*) {
    CheckType(static_cast<T*>(nullptr));
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void CheckType(const Enum*) {
    ExpectType({Type::kWord});
    std::vector<std::string> words;
    for (const Enum value : test::ValuesOf<Enum>()) words.emplace_back(WordOf(value));
    const KeyRow* row = RowAt(path_);
    EXPECT_EQ(row == nullptr ? "" : row->allowed, base::Join(words, "|")) << path_;
  }
  template <core::HasFields T>
  void CheckType(const T*) {
    ExpectType({Type::kMap});
    Check<T>(path_ + ".");
  }
  template <core::HasFields T>
  void CheckType(const std::vector<T>*) {
    ExpectType({Type::kMaps});
    Check<T>(path_ + "[].");
  }
  void CheckType(const std::vector<core::HookSpec>*) {
    ExpectType({Type::kMap});
    const std::string on = path_ + ".";
    for (const core::HookEvent event : test::ValuesOf<core::HookEvent>()) {
      path_ = on + std::string(WordOf(event));
      seen_.insert(path_);
      ExpectType({Type::kMaps});
    }
    Check<core::HookSpec>(on + "*[].");
  }

  void ExpectType(const std::vector<Type>& types) {
    const KeyRow* row = RowAt(path_);
    ASSERT_NE(row, nullptr) << path_ << " has no row in the schema";
    EXPECT_EQ(row->status, KeyStatus::kWorks) << path_;
    EXPECT_THAT(types, ::testing::Contains(row->type)) << path_;
  }

  std::string path_ = {};
  std::set<std::string> seen_ = {};
};

TEST(Keys, EveryFieldHasARowAndEveryRowAField) {
  FieldChecker checker;
  checker.Check<core::JobSpec>("");
  for (const KeyRow& row : Schema()) {
    if (row.status != KeyStatus::kWorks || checker.seen().contains(std::string(row.path))) continue;
    // "job" and "watchdog.no_output" exist only as parents of dotted names.
    const bool around =
        std::any_of(checker.seen().begin(), checker.seen().end(), [&](const std::string& path) {
          return row.type == Type::kMap && path.starts_with(ChildPrefix(row));
        });
    EXPECT_TRUE(around) << row.path << " works, but is not a field of the spec";
  }
}

TEST(Keys, TheSchemaHasTheDefaultsOfTheSpec) {
  core::JobSpec spec;
  spec.setup = {{.strict = true}};  // what is stored without the key was not
  spec.command.secrets.resize(1);
  spec.watchdog.no_output = spec.watchdog.max_duration = Duration{1};
  spec.watchdog.bad_output.resize(1);
  spec.hooks.resize(1);
  spec.smtp.host = "somewhere";
  int compared = 0;
  testing::ForEachKey(core::SpecToJson(spec), "", [&](const KeyRow* row, const base::Json& value) {
    ASSERT_NE(row, nullptr);
    if (value.is_structured() || row->fallback == "required") return;
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    EXPECT_TRUE(row->fallback.starts_with(text)) << row->path << ": " << text;
    ++compared;
  });
  EXPECT_GT(compared, 15);
}

}  // namespace
}  // namespace jobman::config
