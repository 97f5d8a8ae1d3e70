#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/guest_choice.hpp"
#include "cli/views/guests.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/guests.hpp"
#include "jobman/ports/guest_store.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli {
namespace {

struct KeysOptions {
  GuestWords guest = {};
  bool yes = false;
};

/// Asks on a terminal; without one nobody is asked, so that scripts go on.
bool IsMeant(App& app, const KeysOptions& options, const std::string& question) {
  const bool nobody = app.mode() != OutputMode::kText || !app.terminal().facts().err_screen;
  if (options.yes || nobody) return true;
  const auto answer = app.Ask(question);
  const bool may = !answer.ok() || *answer;
  if (!may) app.Say("nothing was done");
  return may;
}

/// Of the nodes, in order.
std::vector<base::Error> ErrorsOf(const views::GuestChanges& view) {
  std::vector<base::Error> errors;
  for (const client::GuestChange& change : view.rows) {
    for (const client::GuestVisit& visit : change.visits) {
      if (visit.error) errors.push_back(*visit.error);
    }
  }
  return errors;
}

/// "ann (ED25519 SHA256:...)"
std::string Called(const core::Guest& guest) {
  return fmt::format("{} ({} {})", guest.user, views::KeyTypeWord(guest.key),
                     core::FingerprintOf(guest.key));
}

/// Shows what was done; says what to do about nodes that failed.
int ShowChanges(App& app, const views::GuestChanges& view, const std::string& again) {
  app.Show(view);
  const std::vector<base::Error> errors = ErrorsOf(view);
  // Where something else has to be done first, the row says what.
  const bool helps = std::any_of(errors.begin(), errors.end(), [](const base::Error& error) {
    return error.code != base::Code::kFailedPrecondition;
  });
  if (helps) app.Say("what failed is tried again by: " + again);
  return errors.empty() ? kSuccess : ExitCodeOf(errors.front());
}

/// With --quiet, too, as the exit code is that of the first. Not wrapped: the cure is a command.
void SayUnread(App& app, const std::vector<ports::UnreadGuest>& unread) {
  for (const ports::UnreadGuest& one : unread) {
    const std::string cure = one.error.hint.empty() ? "" : "; " + one.error.hint;
    app.terminal().Err(ui::CleanLines(one.error.ToString() + cure));
  }
}

/// What was asked for is not done where a record cannot be used.
int UnreadCode(const std::vector<ports::UnreadGuest>& unread) {
  return unread.empty() ? kSuccess : ExitCodeOf(unread.front().error);
}

/// The error of a record that cannot be used, if it is of the same user and key.
base::Status CheckReadable(const std::vector<ports::UnreadGuest>& unread,
                           const core::Guest& guest) {
  for (const ports::UnreadGuest& one : unread) {
    if (core::IsSameLogin(one.login, guest)) return one.error;
  }
  return base::Ok();
}

base::Result<int> RunAdd(App& app, const KeysOptions& options) {
  JM_ASSIGN_OR_RETURN(core::Guest guest, ReadGuest(options.guest, app.Now()));
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const auto unread, context.Await(context.stores.guests->UnreadGuests()));
  JM_TRY(CheckReadable(unread, guest));
  const std::string question =
      fmt::format("let {} in, with sudo, to {}?", Called(guest), views::WhereText(guest));
  if (!IsMeant(app, options, question)) return kJobFailed;
  views::GuestChanges view;
  JM_ASSIGN_OR_RETURN(auto change, context.Await(client::LetIn(context, std::move(guest))));
  view.rows.push_back(std::move(change));
  return ShowChanges(app, view, "the same command");
}

/// Those who were let in by all the words; says who was not. An error if nobody was.
base::Result<std::vector<core::Guest>> LetInBy(App& app, const std::vector<core::Guest>& guests,
                                               const std::vector<std::string>& words) {
  std::vector<core::Guest> chosen;
  std::vector<std::string> others;
  for (const core::Guest& guest : guests) {
    const auto checked = client::CheckLetInBy(guest, words);
    if (checked.ok())
      chosen.push_back(guest);
    else
      others.push_back(core::FingerprintOf(guest.key) + " stays: " + checked.error().message);
  }
  if (chosen.empty()) {
    JM_TRY(client::CheckLetInBy(guests.front(), words));
  }
  for (const std::string& other : others) app.Say(other);
  return chosen;
}

/// Whom the user means.
struct NamedGuests {
  std::vector<core::Guest> guests = {};
  std::vector<ports::UnreadGuest> unread = {};  ///< nothing can be done about them
};

/// An error if nobody is meant, or nobody whose record can be used.
base::Result<NamedGuests> ChooseNamed(App& app, const client::Context& context,
                                      const GuestWords& words) {
  JM_ASSIGN_OR_RETURN(auto all, context.Await(context.stores.guests->Guests()));
  JM_ASSIGN_OR_RETURN(const auto unread, context.Await(context.stores.guests->UnreadGuests()));
  for (const ports::UnreadGuest& one : unread) all.push_back(one.login);
  const auto named = ChooseGuests(all, words);
  if (!named.ok()) {
    SayUnread(app, unread);  // the comment of its key is not known: it may be meant
    return named.error();
  }
  NamedGuests chosen;
  for (const core::Guest& guest : *named) {
    if (CheckReadable(unread, guest).ok()) chosen.guests.push_back(guest);
  }
  for (const ports::UnreadGuest& one : unread) {
    if (core::FindLogin(*named, one.login)) chosen.unread.push_back(one);
  }
  if (chosen.guests.empty()) return chosen.unread.front().error;
  return chosen;
}

base::Result<int> RunRemove(App& app, const KeysOptions& options) {
  JM_ASSIGN_OR_RETURN(const auto words, ReadJobWords(options.guest.jobs));
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const NamedGuests chosen, ChooseNamed(app, context, options.guest));
  JM_ASSIGN_OR_RETURN(const auto guests, LetInBy(app, chosen.guests, words));
  std::vector<std::string> names;
  for (const core::Guest& guest : guests) names.push_back(Called(guest));
  const std::string where = words.empty() ? "" : " to " + base::Join(words, ", ");
  const std::string question = "no longer let in " + base::Join(names, " and ") + where + "?";
  if (!IsMeant(app, options, question)) return kJobFailed;
  views::GuestChanges view;
  for (const core::Guest& guest : guests) {
    auto change = context.Await(client::TakeAway(context, guest, words));
    if (!change.ok()) {
      // What was done before is shown all the same, but for one document of JSON.
      if (!view.rows.empty() && app.mode() != OutputMode::kJson) app.Show(view);
      return std::move(change).error().With(Called(guest));
    }
    view.rows.push_back(*std::move(change));
  }
  const std::string print = core::FingerprintOf(guests.front().key);
  const int code = ShowChanges(
      app, view, guests.size() == 1 ? "jobman keys remove " + print : "the same command");
  SayUnread(app, chosen.unread);
  return code == kSuccess ? UnreadCode(chosen.unread) : code;
}

base::Result<int> ListGuests(App& app) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading());
  views::Guests view;
  JM_ASSIGN_OR_RETURN(view.rows, context.Await(context.stores.guests->Guests()));
  JM_ASSIGN_OR_RETURN(const auto unread, context.Await(context.stores.guests->UnreadGuests()));
  app.Show(view);
  SayUnread(app, unread);
  for (const core::Guest& guest : view.rows) {
    if (guest.leaving)
      app.Say("to try to take it away again: jobman keys remove " + core::FingerprintOf(guest.key));
  }
  if (view.rows.empty() && unread.empty())
    app.Say("nobody is let in but by the jobs' own keys; jobman keys add FILE.pub --user NAME");
  return UnreadCode(unread);
}

void AddGuestOptions(CLI::App& command, const std::shared_ptr<KeysOptions>& options,
                     const char* user, const char* jobs) {
  command.add_option("-u,--user", options->guest.user, user)->type_name("NAME");
  command.add_option("--job", options->guest.jobs, jobs)
      ->type_name("JOB,...")
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  command.add_flag("-y,--yes", options->yes, "Without asking");
}

}  // namespace

void AddKeys(CLI::App& root, Invocation& chosen) {
  CLI::App* command =
      root.add_subcommand("keys", "Who may log in to the hosts beside the jobs' own keys");
  command->require_subcommand(1);
  CLI::App* list = command->add_subcommand("list", "Who is let in, and where");
  list->alias("ls");
  list->callback([&chosen] { chosen.run = [](App& app) { return ListGuests(app); }; });

  auto added = std::make_shared<KeysOptions>();
  CLI::App* add = command->add_subcommand(
      "add", "Let the owner of a public key in, to nodes that are there and to later ones");
  add->add_option("FILE", added->guest.key,
                  "The public key: a file, - for standard input, or the line itself in quotes")
      ->required();
  AddGuestOptions(*add, added, "As whom it logs in; else the name in the key's comment, ann@...",
                  "Only to these jobs: numbers, or patterns of names, for later jobs too");
  add->callback(
      [added, &chosen] { chosen.run = [added](App& app) { return RunAdd(app, *added); }; });

  auto leaving = std::make_shared<KeysOptions>();
  CLI::App* remove =
      command->add_subcommand("remove", "Take a key away from all nodes, now and later");
  remove->alias("rm");
  remove
      ->add_option("WHO", leaving->guest.key,
                   "User, fingerprint or its beginning, comment of the key, or the key as for add")
      ->required();
  AddGuestOptions(*remove, leaving, "Only the keys of this user",
                  "Only from what was added with this --job");
  remove->callback([leaving, &chosen] {
    chosen.run = [leaving](App& app) { return RunRemove(app, *leaving); };
  });
}

}  // namespace jobman::cli
