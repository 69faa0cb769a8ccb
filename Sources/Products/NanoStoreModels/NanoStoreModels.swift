// SPDX-License-Identifier: MIT

@_exported import NanoGraph
@_exported import NanoModel
@_exported import NanoStore
