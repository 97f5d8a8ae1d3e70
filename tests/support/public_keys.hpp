#pragma once

#include "jobman/core/guest.hpp"

namespace jobman::test {

// Public keys whose private halves are gone.
inline constexpr const char* kEd25519Key =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAII7RC1GwqZvHvwNpCaOcPqaMCOOL4ok5Vg0H3R0ngfrA";
inline constexpr const char* kEd25519Print = "SHA256:UvhPTnMZULksvwREMH/XqGDntoOURZIfeCU/Kpc1nzc";
inline constexpr const char* kEcdsaKey =
    "ecdsa-sha2-nistp256 "
    "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBAgYD940t2qdq5tpEngIQHIWqUivmwznO5FZBIg3L5"
    "2Q3Pr73XfvlboKMDvZD+tgND2zRaqa4/c5mscGh6Q50kc=";
inline constexpr const char* kEcdsaPrint = "SHA256:X9UvJuhcMaTN1Ac8iaA0q5k9F26eRp2vd7PB8X+DxSo";

inline core::Guest GuestWith(const char* key, std::string user,
                             std::vector<std::string> jobs = {}) {
  core::Guest guest{.user = std::move(user), .jobs = std::move(jobs)};
  guest.key = core::ParsePublicKey(std::string(key) + " " + guest.user + "@laptop").value();
  return guest;
}
inline core::Guest Ann(std::vector<std::string> jobs = {}) {
  return GuestWith(kEd25519Key, "ann", std::move(jobs));
}
inline core::Guest Bob(std::vector<std::string> jobs = {}) {
  return GuestWith(kEcdsaKey, "bob", std::move(jobs));
}

}  // namespace jobman::test
