// swift-tools-version: 6.2
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
  name: "Live",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "NanoStore", path: "../..")],
  targets: [
    .executableTarget(
      name: "Live", dependencies: [.product(name: "NanoStoreModels", package: "NanoStore")])
  ]
)
