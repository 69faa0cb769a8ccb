// SPDX-License-Identifier: MIT

import NanoStoreModels
import Testing
