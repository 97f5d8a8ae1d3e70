#pragma once

#include <string>

#include "jobman/client/context.hpp"
#include "jobman/config/load.hpp"

namespace jobman::client {

/// What there is to say of a reservation that may do.
struct ReservationVerdict {
  std::string note = {};  ///< empty: all is well, or no reservation is named
  bool asked = true;      ///< no: the list could not be had, which is what the note says
};

/// Checks before a job is created that the reservation it names (tpu.reservation) exists, has not
/// ended, and is large enough for all its slices (reservations.list of v2alpha1; nothing is kept,
/// since others use it up). An error shows the key's place in the job file and the names that would
/// do. What only may fail is a note, which is returned: too little is free now; the reservation is
/// not listed but may be one of Compute Engine (a reservation-bound job, or the list is empty); the
/// list could not be asked for within kOfferAnswer, or the API refuses it.
base::Task<base::Result<ReservationVerdict>> CheckReservation(Context context,
                                                              config::Loaded loaded);

/// Whether CheckReservation() would say the same of both: one asks for as much, of the same
/// reservation.
bool AsksForSameReservation(const core::JobSpec& one, const core::JobSpec& other);

}  // namespace jobman::client
