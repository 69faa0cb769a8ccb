// SPDX-License-Identifier: MIT

import Foundation

/// A store written by NanoStore for Objective-C, NTJsonStore or BNRPersistence.
public enum LegacyStore {}
