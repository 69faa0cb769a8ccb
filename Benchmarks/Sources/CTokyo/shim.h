/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdint.h>
#include <tcutil.h>
#include <tchdb.h>
