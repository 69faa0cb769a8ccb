// SPDX-License-Identifier: MIT

@_exported import NanoLegacy
@_exported import NanoStore
