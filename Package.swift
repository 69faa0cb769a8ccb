// swift-tools-version: 6.2
// SPDX-License-Identifier: MIT

import CompilerPluginSupport
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
]

/// What the fuzzer runs is no product of ours, but a package of its own can only use products: `scripts/fuzz`
/// sets this.
let forFuzzing: [Product] =
  Context.environment["NANOSTORE_FUZZ"] == nil
  ? [] : [.library(name: "NanoFuzzTargets", targets: ["NanoFuzzTargets"])]

let package = Package(
  name: "NanoStore",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
  products: [
    .library(name: "NanoStore", targets: ["NanoStore"]),
    .library(name: "NanoStoreModels", targets: ["NanoStoreModels"]),
    .library(name: "NanoStoreEncryption", targets: ["NanoStoreEncryption"]),
    .library(name: "NanoStorePostgres", targets: ["NanoStorePostgres"]),
    .library(name: "NanoStoreLegacy", targets: ["NanoStoreLegacy"]),
    .library(name: "NanoStoreSync", targets: ["NanoStoreSync"]),
    .executable(name: "nanostore", targets: ["NanoCommand"]),
    .library(name: "NanoStoreServer", targets: ["NanoStoreServer"]),
    .executable(name: "nanostore-inspector", targets: ["NanoInspectorCommand"]),
    .executable(name: "nanostore-server", targets: ["NanoServerCommand"]),
  ] + forFuzzing,
  traits: [
    .trait(
      name: "LegacyImport",
      description:
        "The nanostore tool imports the stores of older libraries, which needs swift-crypto."),
    .default(enabledTraits: ["LegacyImport"]),
  ],
  dependencies: [
    // Public API of 7.0 only, so that an app may use the version it wants.
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.0.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/swiftlang/swift-syntax", "602.0.0"..<"604.0.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
    // Without its traits: the server reads no configuration files.
    .package(
      url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
  ],
  targets: [
    .target(
      name: "NanoDocument",
      dependencies: [.product(name: "OrderedCollections", package: "swift-collections")],
      path: "Sources/Core/NanoDocument", swiftSettings: strict),
    .target(
      name: "NanoQuery", dependencies: ["NanoDocument"], path: "Sources/Core/NanoQuery",
      swiftSettings: strict),
    // The digests of attachments. swift-crypto would add more than a minute to every clean build on Linux.
    .target(name: "CSHA256", path: "Sources/Core/CSHA256"),
    .target(
      name: "NanoEngine", dependencies: ["CSHA256", "NanoDocument", "NanoQuery"],
      path: "Sources/Core/NanoEngine", swiftSettings: strict),
    .target(
      name: "NanoSQL", dependencies: ["NanoDocument", "NanoQuery", "NanoEngine"],
      path: "Sources/Engines/NanoSQL", swiftSettings: strict),
    .systemLibrary(
      name: "CSQLiteSettings", path: "Sources/Engines/CSQLiteSettings",
      providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"])]),
    .target(
      name: "NanoSQLite",
      dependencies: [
        "CSQLiteSettings", "NanoDocument", "NanoQuery", "NanoEngine", "NanoSQL",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Sources/Engines/NanoSQLite", swiftSettings: strict),
    .systemLibrary(
      name: "CLibPQ", path: "Sources/Engines/CLibPQ", pkgConfig: "libpq",
      providers: [.apt(["libpq-dev"]), .yum(["libpq-devel"]), .brew(["libpq"])]),
    .target(
      name: "NanoPostgres",
      dependencies: [
        "CLibPQ", "NanoDocument", "NanoQuery", "NanoEngine", "NanoSQL",
      ],
      path: "Sources/Engines/NanoPostgres", swiftSettings: strict),
    .target(
      name: "NanoStoreCore",
      dependencies: [
        "NanoDocument", "NanoQuery", "NanoEngine",
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Sources/Store/NanoStoreCore", swiftSettings: strict),
    .target(
      name: "NanoBags",
      dependencies: ["NanoDocument", "NanoQuery", "NanoEngine", "NanoStoreCore"],
      path: "Sources/Layers/NanoBags", swiftSettings: strict),
    .target(
      name: "NanoCopying",
      dependencies: ["NanoDocument", "NanoQuery", "NanoEngine", "NanoStoreCore"],
      path: "Sources/Layers/NanoCopying", swiftSettings: strict),
    .target(
      name: "NanoStore",
      dependencies: [
        "NanoDocument", "NanoQuery", "NanoEngine", "NanoStoreCore", "NanoBags", "NanoCopying",
        "NanoSQLite",
      ],
      path: "Sources/Products/NanoStore", swiftSettings: strict),
    .target(
      name: "NanoModelSyntax",
      dependencies: [
        .product(name: "SwiftSyntax", package: "swift-syntax"),
        .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
        .product(name: "SwiftDiagnostics", package: "swift-syntax"),
      ],
      path: "Sources/Macros/NanoModelSyntax", swiftSettings: strict),
    .macro(
      name: "NanoMacros",
      dependencies: [
        "NanoModelSyntax",
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
        .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
      ],
      path: "Sources/Macros/NanoMacros", swiftSettings: strict),
    .target(
      name: "NanoModel",
      dependencies: ["NanoDocument", "NanoQuery", "NanoEngine", "NanoStoreCore"],
      path: "Sources/Layers/NanoModel", swiftSettings: strict),
    .target(
      name: "NanoGraph",
      dependencies: ["NanoDocument", "NanoQuery", "NanoEngine", "NanoStoreCore", "NanoModel"],
      path: "Sources/Layers/NanoGraph", swiftSettings: strict),
    .target(
      name: "NanoStoreModels",
      dependencies: ["NanoStore", "NanoModel", "NanoGraph", "NanoMacros"],
      path: "Sources/Products/NanoStoreModels", swiftSettings: strict),
    .target(
      name: "NanoEncryption",
      dependencies: [
        "NanoDocument", "NanoQuery", "NanoEngine",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "CryptoExtras", package: "swift-crypto"),
      ],
      path: "Sources/Engines/NanoEncryption", swiftSettings: strict),
    .target(
      name: "NanoStoreEncryption", dependencies: ["NanoStore", "NanoEncryption", "NanoSQLite"],
      path: "Sources/Products/NanoStoreEncryption", swiftSettings: strict),
    .target(
      name: "NanoStorePostgres",
      dependencies: [
        "NanoDocument", "NanoQuery", "NanoEngine", "NanoStoreCore", "NanoBags", "NanoCopying",
        "NanoPostgres",
      ],
      path: "Sources/Products/NanoStorePostgres", swiftSettings: strict),
    .target(
      name: "NanoLegacy",
      dependencies: [
        "NanoDocument", "NanoQuery", "NanoEngine", "NanoStoreCore", "NanoBags", "NanoSQLite",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "CryptoExtras", package: "swift-crypto"),
      ],
      path: "Sources/Import/NanoLegacy", swiftSettings: strict),
    .target(
      name: "NanoStoreLegacy", dependencies: ["NanoStore", "NanoLegacy"],
      path: "Sources/Products/NanoStoreLegacy", swiftSettings: strict),
    .target(
      name: "NanoSync",
      dependencies: [
        "CZlib", "NanoDocument", "NanoQuery", "NanoEngine", "NanoStoreCore",
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      path: "Sources/Sync/NanoSync", swiftSettings: strict),
    .testTarget(
      name: "NanoSyncTests",
      dependencies: [
        "NanoSync", "NanoStore", "NanoStorePostgres", "NanoStoreEncryption", "NanoStoreCore",
        "NanoDocument", "NanoEngine", "NanoTestSupport", "NanoServerSupport",
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      exclude: ["Fixtures"], swiftSettings: strict),
    // Compression. The HTTP client links the same library.
    .systemLibrary(
      name: "CZlib", path: "Sources/Sync/CZlib", pkgConfig: "zlib",
      providers: [.apt(["zlib1g-dev"]), .yum(["zlib-devel"])]),
    .target(
      name: "NanoStoreSync",
      dependencies: [
        "CZlib", "NanoDocument", "NanoQuery", "NanoEngine", "NanoStoreCore", "NanoSync",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ],
      path: "Sources/Sync/NanoStoreSync", swiftSettings: strict),
    .testTarget(
      name: "NanoStoreSyncTests",
      dependencies: [
        "NanoStoreSync", "NanoSync", "NanoStoreServer", "NanoServerCommand", "NanoStore",
        "NanoStoreModels", "NanoStoreEncryption", "NanoStoreCore", "NanoDocument", "NanoEngine",
        "NanoTesting", "NanoTestSupport", "nanostore-sync-test-helper",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      exclude: ["Fixtures"], swiftSettings: strict),
    .executableTarget(
      name: "NanoCommand", dependencies: ["NanoCLI"], path: "Sources/Tools/NanoCommand",
      swiftSettings: strict),
    .target(
      name: "NanoCLI",
      dependencies: [
        "NanoStore", "NanoStorePostgres",
        .target(name: "NanoStoreLegacy", condition: .when(traits: ["LegacyImport"])),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Sources/Tools/NanoCLI", swiftSettings: strict),
    .target(
      name: "NanoServer",
      dependencies: [
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      path: "Sources/Server/NanoServer", swiftSettings: strict),
    .target(
      name: "NanoInspector",
      dependencies: [
        "NanoDocument", "NanoQuery", "NanoEngine", "NanoStoreCore", "NanoSync", "NanoServer",
      ],
      path: "Sources/Server/NanoInspector", resources: [.embedInCode("Pages")],
      swiftSettings: strict),
    .executableTarget(
      name: "NanoInspectorCommand",
      dependencies: [
        "NanoInspector", "NanoServer", "NanoCLI", "NanoStoreCore",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Sources/Tools/NanoInspectorCommand", swiftSettings: strict),
    .target(
      name: "NanoStoreServer",
      dependencies: [
        "NanoDocument", "NanoEngine", "NanoStoreCore", "NanoSync", "NanoServer",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "HummingbirdTLS", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      path: "Sources/Server/NanoStoreServer", swiftSettings: strict),
    .executableTarget(
      name: "NanoServerCommand",
      dependencies: [
        "NanoServer", "NanoStoreServer", "NanoCLI", "NanoDocument", "NanoStoreCore",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Sources/Tools/NanoServerCommand", swiftSettings: strict),
    .testTarget(
      name: "NanoStoreServerTests",
      dependencies: [
        "NanoStoreServer", "NanoSync", "NanoStore", "NanoDocument", "NanoTestSupport",
        "NanoServerSupport",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
      ],
      exclude: ["Fixtures"], swiftSettings: strict),
    .testTarget(
      name: "NanoInspectorTests",
      dependencies: [
        "NanoInspector", "NanoServer", "NanoInspectorCommand", "NanoStore", "NanoStoreSync",
        "NanoTestSupport",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "NanoCLITests",
      dependencies: ["NanoCLI", "NanoCommand", "NanoStore", "NanoTestSupport"],
      swiftSettings: strict),
    .target(
      name: "NanoTesting", dependencies: ["NanoDocument", "NanoQuery", "NanoEngine"],
      path: "Sources/Tools/NanoTesting", swiftSettings: strict),
    .testTarget(
      name: "NanoEngineTests",
      dependencies: [
        "NanoTesting", "NanoDocument", "NanoQuery", "NanoEngine", "NanoSQL", "NanoSQLite",
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "NanoDocumentTests", dependencies: ["NanoDocument"], swiftSettings: strict),
    .executableTarget(
      name: "nanostore-test-helper", dependencies: ["NanoStore"], path: "Tests/Helper",
      swiftSettings: strict),
    .executableTarget(
      name: "nanostore-sync-test-helper", dependencies: ["NanoStore", "NanoStoreSync"],
      path: "Tests/SyncHelper", swiftSettings: strict),
    .target(
      name: "NanoTestSupport",
      dependencies: [
        "NanoStore", "NanoStorePostgres", "NanoServerSupport",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "CryptoExtras", package: "swift-crypto"),
      ],
      path: "Tests/Support", swiftSettings: strict),
    .target(
      name: "NanoServerSupport", dependencies: ["NanoDocument"], path: "Tests/ServerSupport",
      swiftSettings: strict),
    .testTarget(
      name: "NanoServerTests", dependencies: ["NanoServerSupport"], swiftSettings: strict),
    .testTarget(
      name: "NanoStoreTests",
      dependencies: [
        "NanoTestSupport",
        "NanoStore", "NanoStoreCore", "NanoSQLite", "NanoTesting", "nanostore-test-helper",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "NanoEncryptionTests",
      dependencies: [
        "NanoStoreEncryption", "NanoEncryption", "NanoStore", "NanoStoreModels", "NanoSQLite",
        "NanoTesting", "NanoTestSupport", "NanoDocument", "NanoEngine", "NanoQuery",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "CryptoExtras", package: "swift-crypto"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "NanoLegacyTests",
      dependencies: [
        "NanoStoreLegacy", "NanoLegacy", "NanoStore", "NanoStoreModels", "NanoStoreCore",
        "NanoSQLite", "NanoDocument", "NanoEngine", "NanoTestSupport",
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      exclude: ["Fixtures"], swiftSettings: strict),
    .target(
      name: "NanoFuzzTargets",
      dependencies: [
        "NanoDocument", "NanoQuery", "NanoEngine", "NanoStoreCore", "NanoBags", "NanoSQLite",
        "NanoTesting", "NanoCLI", "NanoLegacy", "NanoStoreLegacy",
      ],
      path: "Tests/FuzzTargets", swiftSettings: strict),
    .testTarget(
      name: "NanoFuzzTests", dependencies: ["NanoFuzzTargets"], swiftSettings: strict),
    .target(
      name: "CFaults", path: "Tests/StressTests/Faults",
      linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .executableTarget(
      name: "nanostore-stress",
      dependencies: [
        "CFaults", "NanoStore", "NanoStoreModels", "NanoStoreEncryption", "NanoSync", "NanoTesting",
        "NanoTestSupport",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      path: "Tests/StressTests/Runner", swiftSettings: strict),
    .testTarget(
      name: "NanoStressTests",
      dependencies: [
        "NanoStore", "NanoStoreEncryption", "NanoTestSupport", "NanoCommand", "nanostore-stress",
      ],
      exclude: ["Kept"],
      swiftSettings: strict),
    .executableTarget(
      name: "example-quickstart", dependencies: ["NanoStore"],
      path: "Examples/QuickStart/Sources/QuickStart"),
    .executableTarget(
      name: "example-models", dependencies: ["NanoStoreModels"],
      path: "Examples/Models/Sources/Models"),
    .executableTarget(
      name: "example-objects", dependencies: ["NanoStoreModels"],
      path: "Examples/Objects/Sources/Objects"),
    .executableTarget(
      name: "example-live", dependencies: ["NanoStoreModels"],
      path: "Examples/Live/Sources/Live"),
    .executableTarget(
      name: "example-sync", dependencies: ["NanoStore", "NanoStoreSync"],
      path: "Examples/Sync/Sources/Sync"),
    .testTarget(
      name: "NanoModelTests",
      dependencies: [
        "NanoStoreModels", "NanoStore", "NanoStoreCore", "NanoModel", "NanoTesting",
        "NanoTestSupport", "example-quickstart", "example-models", "example-objects",
        "example-live",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "NanoGraphTests",
      dependencies: [
        "NanoStoreModels", "NanoStoreEncryption", "NanoStore", "NanoStoreCore", "NanoEngine",
        "NanoSQLite", "NanoGraph", "NanoLegacy", "NanoTesting", "NanoTestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "NanoMainActorTests", dependencies: ["NanoStoreModels", "NanoTestSupport"],
      swiftSettings: strict + [.defaultIsolation(MainActor.self)]),
    .testTarget(
      name: "NanoModelSyntaxTests",
      dependencies: [
        "NanoModelSyntax",
        .product(name: "SwiftSyntax", package: "swift-syntax"),
        .product(name: "SwiftParser", package: "swift-syntax"),
        .product(name: "SwiftDiagnostics", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacroExpansion", package: "swift-syntax"),
        .product(name: "SwiftBasicFormat", package: "swift-syntax"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "NanoPostgresTests",
      dependencies: [
        "NanoPostgres", "NanoStorePostgres", "NanoStoreCore", "NanoDocument", "NanoQuery",
        "NanoEngine", "NanoTesting", "NanoServerSupport", "NanoTestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "NanoConsumerTests",
      dependencies: [
        "NanoStore", "NanoStoreModels", "NanoStoreEncryption", "NanoStorePostgres",
        "NanoStoreLegacy", "NanoStoreSync", "NanoStoreServer",
      ],
      exclude: ["Calls", "Programs", "Snippets"], swiftSettings: strict),
    .testTarget(
      name: "NanoQueryTests", dependencies: ["NanoQuery", "NanoDocument", "NanoTesting"],
      swiftSettings: strict),
  ]
)
