#pragma once

#include <memory>

#include "jobman/ports/cache.hpp"
#include "jobman/ports/guest_store.hpp"
#include "jobman/ports/host_key_store.hpp"
#include "jobman/ports/job_store.hpp"
#include "jobman/ports/lease_store.hpp"
#include "jobman/ports/outbox.hpp"
#include "jobman/ports/queue_store.hpp"
#include "jobman/ports/site_store.hpp"

namespace jobman::ports {

/// The ports of one store, for callers that need several.
struct Stores {
  JobStore* jobs = nullptr;
  Outbox* outbox = nullptr;
  LeaseStore* leases = nullptr;
  HostKeyStore* host_keys = nullptr;
  Cache* cache = nullptr;
  SiteStore* sites = nullptr;
  QueueStore* queues = nullptr;
  GuestStore* guests = nullptr;
  std::shared_ptr<void> owner = {};  ///< keeps them alive if nothing else does
};

/// All ports of an object that implements them all.
template <class Store>
Stores StoresOf(Store& store) {
  return {.jobs = &store,
          .outbox = &store,
          .leases = &store,
          .host_keys = &store,
          .cache = &store,
          .sites = &store,
          .queues = &store,
          .guests = &store};
}

template <class Store>
Stores StoresOf(std::shared_ptr<Store> store) {
  Stores stores = StoresOf(*store);
  stores.owner = std::move(store);
  return stores;
}

}  // namespace jobman::ports
