// swift-tools-version: 6.2
// SPDX-License-Identifier: MIT

import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
]

/// BNRPersistence's storage, for comparison. Optional.
let hasTokyo = Context.environment["NANOBENCH_TOKYO"] == "1"
let tokyo: [Target] = [
  .systemLibrary(
    name: "CTokyo", pkgConfig: "tokyocabinet", providers: [.apt(["libtokyocabinet-dev"])])
]

let package = Package(
  name: "NanoStoreBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "NanoStore", path: ".."),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
  ],
  targets: [
    .target(name: "BenchmarkKit", swiftSettings: strict),
    .systemLibrary(name: "CMalloc"),
    .executableTarget(
      name: "postgresbench",
      dependencies: [
        "BenchmarkKit",
        .product(name: "NanoStore", package: "NanoStore"),
        .product(name: "NanoStorePostgres", package: "NanoStore"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "writerbench",
      dependencies: [
        "BenchmarkKit",
        .product(name: "NanoStore", package: "NanoStore"),
        .product(name: "NanoStorePostgres", package: "NanoStore"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "syncbench",
      dependencies: [
        "BenchmarkKit",
        .product(name: "NanoStore", package: "NanoStore"),
        .product(name: "NanoStoreSync", package: "NanoStore"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "nanobench",
      dependencies: [
        "BenchmarkKit", "CMalloc",
        .product(name: "NanoStore", package: "NanoStore"),
        .product(name: "NanoStoreModels", package: "NanoStore"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ] + (hasTokyo ? ["CTokyo"] : []),
      swiftSettings: strict),
    .testTarget(
      name: "nanobenchTests", dependencies: ["BenchmarkKit", "nanobench"], swiftSettings: strict),
  ] + (hasTokyo ? tokyo : [])
)
