// swift-tools-version: 6.2
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
  name: "Sync",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "NanoStore", path: "../..")],
  targets: [
    .executableTarget(
      name: "Sync",
      dependencies: [
        .product(name: "NanoStore", package: "NanoStore"),
        .product(name: "NanoStoreSync", package: "NanoStore"),
      ])
  ]
)
