// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import Testing
