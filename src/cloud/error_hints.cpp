#include "cloud/error_hints.hpp"

namespace jobman::cloud {
namespace {

using base::Code;
using base::Reason;

/// " --project=P", or with a placeholder.
std::string ProjectFlag(const ErrorContext& context) {
  return " --project=" + (context.project.empty() ? "PROJECT" : context.project);
}
/// What shows everything that the zone offers.
std::string ZoneCommand(const ErrorContext& context) {
  return "jobman zones " + (context.zone.empty() ? "ZONE" : context.zone) + ProjectFlag(context);
}

std::string QuotaPage(const ErrorContext& context) {
  return "https://console.cloud.google.com/iam-admin/quotas?project=" +
         (context.project.empty() ? "PROJECT" : context.project);
}

std::string QuotaHint(About about, const ErrorContext& context) {
  if (about == About::kAddresses) {
    return "set tpu.external_ips: false, or ask for more addresses at " + QuotaPage(context);
  }
  return "delete slices you do not need (jobman list shows yours; FAILED, SUSPENDED and "
         "PREEMPTED ones count too), or ask for more at " +
         QuotaPage(context);
}

std::string PermissionHint(About about, const ErrorContext& context) {
  if (about == About::kTokenScope) {
    return "log in again with gcloud auth login, or give the machine that jobman runs on the "
           "access scope https://www.googleapis.com/auth/cloud-platform";
  }
  if (about == About::kQuotaProject) {
    return "this is about the project that pays for requests, which GOOGLE_CLOUD_QUOTA_PROJECT or "
           "the credentials file's quota_project_id names: name another one, or have its owner "
           "give you roles/serviceusage.serviceUsageConsumer there";
  }
  return "ask the project's owner for the role: gcloud projects add-iam-policy-binding " +
         (context.project.empty() ? "PROJECT" : context.project) +
         " --member=user:YOU --role=roles/tpu.admin";
}

/// What helps as a rule, where no reason tells more. A name that is taken is looked at first, and
/// what was cancelled is known to the user.
std::string HintForCode(Code code) {
  switch (code) {
    case Code::kUnauthenticated:
      return "jobman doctor says whose credentials these are, and compares the clocks; your own "
             "login is renewed by gcloud auth application-default login (or gcloud auth login)";
    case Code::kInvalidArgument:
    case Code::kOutOfRange:
    case Code::kFailedPrecondition:
      return "correct what the message names, in the job file or with jobman edit; what each zone "
             "offers: jobman zones";
    case Code::kNotFound:
      return "check tpu.project, tpu.zone, tpu.network and what else the job file names";
    case Code::kAborted:
      return "something else is changing it: try again when that has ended";
    case Code::kUnimplemented:
      return "this is not the Cloud TPU API, or not its version 2: check --endpoint and "
             "cloud.endpoint";
    case Code::kUnknown:
    case Code::kInternal:
    case Code::kUnavailable:
    case Code::kDeadlineExceeded:
    case Code::kDataLoss:
      return "this passes by itself as a rule; if it lasts: https://status.cloud.google.com";
    case Code::kOk:
    case Code::kCancelled:
    case Code::kAlreadyExists:
    case Code::kPermissionDenied:
    case Code::kResourceExhausted:
      break;
  }
  return "";
}

}  // namespace

std::string HintFor(Code code, Reason reason, About about, const ErrorContext& context) {
  if (about == About::kOsLogin) {
    return "your organisation requires OS Login: set ssh.os_login: true, with which the job's key "
           "goes into your account's login profile";
  }
  switch (reason) {
    case Reason::kStockout:
      return "another zone or another accelerator type may have capacity now";
    case Reason::kQuota:
      return QuotaHint(about, context);
    case Reason::kQuotaZero:
      return "waiting does not help: choose another zone or accelerator type, or ask for quota "
             "at " +
             QuotaPage(context);
    case Reason::kRateLimit:
      return "wait: such limits are for a minute, and other programs that use the same project "
             "count too";
    case Reason::kPermission:
      return PermissionHint(about, context);
    case Reason::kApiDisabled:
      return "enable it, and wait a few minutes: gcloud services enable tpu.googleapis.com" +
             ProjectFlag(context);
    case Reason::kZoneNotAllowed:
      return "choose another zone, or have the project allowed for this one; check the name of "
             "the zone and of the project";
    case Reason::kBadAccelerator:
      return "choose another tpu.accelerator or tpu.zone; what the zone offers: " +
             ZoneCommand(context);
    case Reason::kBadZone:
      return "set tpu.zone to a zone that this lists: jobman zones" + ProjectFlag(context);
    case Reason::kBadRuntime:
      return "leave tpu.version out, or set it to one of: " + ZoneCommand(context);
    case Reason::kReservation:
      return "check tpu.reservation and its zone, or set tpu.pricing to spot or ondemand";
    case Reason::kNone:
    case Reason::kExpired:
    case Reason::kNotPublished:
    case Reason::kNoToken:
    case Reason::kUnreachable:
    case Reason::kHostRefused:
    case Reason::kHostTimeout:
    case Reason::kConnectionBroke:
    case Reason::kHostHangs:
    case Reason::kHostAuth:
    case Reason::kHostKeyChanged:
    case Reason::kAgentSilent:
    case Reason::kKeyUnreadable:
    case Reason::kChipsBusy:
    case Reason::kSetupLapsed:
    case Reason::kDiskFull:
    case Reason::kNotWritable:
    case Reason::kNewerStore:
    case Reason::kCopiedStore:
    case Reason::kLeaseLost:
    case Reason::kStale:
    case Reason::kNotSupported:
      break;
  }
  return HintForCode(code);
}

}  // namespace jobman::cloud
