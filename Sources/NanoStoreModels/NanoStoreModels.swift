// SPDX-License-Identifier: MIT

@_exported import NanoModel
@_exported import NanoStore
