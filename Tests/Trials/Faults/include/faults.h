// SPDX-License-Identifier: MIT

#ifndef NANO_FAULTS_H
#define NANO_FAULTS_H

#include <stdint.h>

#endif
