#pragma once
#include "sim/cloud/node.hpp"
