#pragma once
#include "jobman/base/id.hpp"
