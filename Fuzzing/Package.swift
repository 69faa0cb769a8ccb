// swift-tools-version: 6.2
// SPDX-License-Identifier: MIT

import PackageDescription

// Built by scripts/fuzz, which sets NANOSTORE_FUZZ and instruments all code for the fuzzer.
let package = Package(
  name: "NanoStoreFuzzing",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "NanoStore", path: "..")],
  targets: [
    .executableTarget(
      name: "nanofuzz",
      dependencies: [.product(name: "NanoFuzzTargets", package: "NanoStore")],
      swiftSettings: [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
      ])
  ]
)
