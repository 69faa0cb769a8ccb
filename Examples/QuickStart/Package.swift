// swift-tools-version: 6.2
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
  name: "QuickStart",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "NanoStore", path: "../..")],
  targets: [
    .executableTarget(
      name: "QuickStart", dependencies: [.product(name: "NanoStore", package: "NanoStore")])
  ]
)
