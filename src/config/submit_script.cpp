#include <map>
#include <optional>
#include <utility>

#include "config/convert/jobman_options.hpp"
#include "config/convert/script.hpp"
#include "config/convert/words.hpp"
#include "config/diagnostics.hpp"
#include "config/names.hpp"
#include "config/queue_format.hpp"
#include "config/utf8.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/config/places.hpp"
#include "jobman/config/submit.hpp"
#include "jobman/core/accelerators.hpp"

namespace jobman::config {
namespace {

constexpr std::string_view kHeader = "#JOBMAN";
constexpr const char* kRoomForNumber = "-00000";
constexpr const char* kStandardInput = "/dev/stdin";

/// The steps of ReadTaskScript() and their shared state.
class TaskScriptReader {
 public:
  explicit TaskScriptReader(const TaskScriptRequest& request) : request_(request) {}

  Submission Run() {
    ReadText();
    if (out_.ok()) ReadHead();
    AddOptions();
    Submission result;
    if (out_.ok()) {
      result.numbered = request_.options.name.empty();
      result.tasks.push_back(Definition());
    }
    result.problems = out_.Take();
    if (!result.problems.empty()) result.tasks.clear();
    result.warnings = out_.TakeWarnings();
    return result;
  }

 private:
  struct Given {
    std::string text = {};
    Position at = {};
  };

  bool IsPiped() const { return request_.file == "-"; }

  base::Result<std::string> TextOf() const {
    if (request_.text) return *request_.text;
    return IsPiped() ? base::ReadFile(kStandardInput) : base::ReadRegularFile(request_.file);
  }

  void ReadText() {
    const auto text = TextOf();
    text_ = text.value_or("");
    source_ =
        out_.AddSource({.name = IsPiped() ? "standard input" : request_.file.string()}, text_);
    if (!text.ok()) return out_.Report(At(0), text.error().message, text.error().hint);
    if (text_.size() > kLongestTaskScript) {
      return out_.Report(At(0), "the script is longer than 256 KiB",
                         "put what is large into files that it fetches");
    }
    if (!IsUtf8Text(text_)) {
      return out_.Report(At(0), "is no text in UTF-8, so it is no script",
                         "submit a script that runs the program");
    }
    if (base::Trim(text_).empty()) out_.Report(At(0), "the script is empty");
  }

  Position At(int line, int column = 1) const {
    return {.source = source_, .line = line, .column = line == 0 ? 0 : column};
  }

  static bool IsHeader(std::string_view line) {
    if (!line.starts_with(kHeader)) return false;
    return line.size() == kHeader.size() || line[kHeader.size()] == ' ' ||
           line[kHeader.size()] == '\t';
  }

  /// The head ends with the first line that is neither blank nor a comment.
  void ReadHead() {
    int number = 0;
    bool in_head = true;
    for (const std::string& line : base::Split(text_, '\n')) {
      ++number;
      const std::string_view bare = base::Trim(line);
      if (!bare.empty() && !bare.starts_with('#')) in_head = false;
      if (!IsHeader(bare)) continue;
      if (in_head) {
        Header(bare.substr(kHeader.size()), At(number, ColumnBehindMark(line)));
      } else {
        out_.Warn(At(number), std::string(bare) + " is passed over: it follows the first command",
                  "move it to the head of the script");
      }
    }
  }

  static int ColumnBehindMark(const std::string& line) {
    return static_cast<int>(line.find(kHeader) + kHeader.size()) + 1;
  }

  void Header(std::string_view options, Position begin) {
    const auto words = convert::WordsOf(options, begin, convert::Rules::kOptions, out_);
    if (!words) return;
    for (std::size_t i = 0; i < words->size(); ++i) {
      const convert::Word* const next = i + 1 < words->size() ? &(*words)[i + 1] : nullptr;
      if (TookNext((*words)[i], next)) ++i;
    }
  }

  /// One option; whether the next word was its value.
  bool TookNext(const convert::Word& word, const convert::Word* next) {
    const std::size_t equals = word.text.find('=');
    const std::string name = word.text.substr(0, equals);
    const bool separate =
        equals == std::string::npos && next != nullptr && !next->text.starts_with("--");
    const convert::JobmanOption* const option = convert::FindJobmanOption(name);
    if (option == nullptr) {
      Unknown(word, name);
      return separate;
    }
    std::string value;
    if (separate) value = next->text;
    if (equals != std::string::npos) value = word.text.substr(equals + 1);
    if (value.empty()) {
      out_.Report(word.pos, name + " needs a value");
    } else {
      Take(*option, {.text = value, .at = word.pos});
    }
    return separate;
  }

  void Unknown(const convert::Word& word, const std::string& name) {
    const auto near = base::Nearest(name, convert::JobmanOptionNames());
    out_.Report(word.pos, "\"" + name + "\" is no option of a #JOBMAN line",
                near ? "did you mean " + *near + "?"
                     : "they are " + base::Join(convert::JobmanOptionNames(), ", "));
  }

  void Take(const convert::JobmanOption& option, Given given) {
    if (option.passed.empty()) {
      given_[std::string(option.name)] = std::move(given);
    } else {
      out_.Warn(given.at, "--" + std::string(option.name) + " is passed over",
                std::string(option.passed));
    }
  }

  /// Those of the command line.
  void AddOptions() {
    const SubmitOptions& options = request_.options;
    const std::pair<const char*, const std::string*> said[] = {
        {"--accelerator", &options.accelerator},
        {"--zone", &options.zone},
        {"--name", &options.name},
        {"--max-retries", &options.max_retries},
        {"--tpu-version", &options.tpu_version},
        {"--pricing", &options.pricing}};
    for (const auto& [name, value] : said) {
      if (value->empty()) continue;
      const int flag = out_.AddSource({.name = name, .is_flag = true}, *value);
      Take(*convert::FindJobmanOption(name),
           {.text = *value, .at = {.source = flag, .line = 1, .column = 1}});
    }
  }

  core::TaskDefinition Definition() {
    core::TaskDefinition task{.id = Id(),
                              .accelerator = Needed("accelerator", "v4-8"),
                              .zone = Needed("zone", "us-central2-b"),
                              .run = WithArguments()};
    const Given* const retries = Find("max-retries");
    if (retries != nullptr && Holds(*retries, CheckMaxRetries(retries->text)))
      task.max_retries = static_cast<int>(*base::ParseNumber(retries->text));
    return task;
  }

  const Given* Find(const std::string& name) const {
    const auto found = given_.find(name);
    return found == given_.end() ? nullptr : &found->second;
  }

  /// Reports what is wrong.
  bool Holds(const Given& given, const base::Status& status) {
    if (!status.ok()) out_.Report(given.at, status.error().message, status.error().hint);
    return status.ok();
  }

  std::string Id() {
    if (const Given* const name = Find("name")) {
      const bool numbered = request_.options.name.empty();
      Holds(*name, CheckTaskId(name->text + (numbered ? kRoomForNumber : "")));
      return name->text;
    }
    const base::Path stem = request_.file.stem();
    return IsPiped() || stem.empty() ? "task" : MakeValidName(stem.string());
  }

  std::string Needed(const std::string& name, const std::string& example) {
    const Given* const given = Find(name);
    if (given == nullptr) {
      out_.Report(
          At(0), "--" + name + " is missing: which workers take the task?",
          "give the option, or write a line into the script: #JOBMAN --" + name + "=" + example);
      return {};
    }
    Holds(*given, name == "zone" ? CheckZone(given->text) : CheckType(given->text));
    return given->text;
  }

  static base::Status CheckType(const std::string& type) {
    if (core::MayBeType(type)) return base::Ok();
    return base::InvalidArgument("\"" + type + "\" is not an accelerator type",
                                 "for example: v4-8");
  }

  std::string WithArguments() {
    const std::vector<std::string>& arguments = request_.arguments;
    if (arguments.empty()) return text_;
    std::string script =
        convert::WithShellLines(text_, "set -- " + base::ShellJoin(arguments) + "\n");
    if (script == text_) {
      out_.Report(At(1), "this is no script for a shell, so it cannot be given arguments",
                  "submit a shell script that calls it with them");
    }
    return script;
  }

  const TaskScriptRequest& request_;
  Diagnostics out_ = {};
  int source_ = 0;
  std::string text_ = {};
  std::map<std::string, Given> given_ = {};
};

}  // namespace

Submission ReadTaskScript(const TaskScriptRequest& request) {
  return TaskScriptReader(request).Run();
}

}  // namespace jobman::config
