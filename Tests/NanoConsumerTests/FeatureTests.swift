// SPDX-License-Identifier: MIT

import Foundation
import Testing

@Suite("Programs in another package", .enabled(if: ConsumerCompiler.isAvailable), .serialized)
struct FeatureTests {
  typealias Feature = ConsumerCompiler.Feature

  static let programs: [URL] = {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Programs")
    let files = try? FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    return (files ?? []).filter { $0.pathExtension == "swift" }.sorted { $0.path < $1.path }
  }()

  /// None, all, each alone, and all but one.
  static let combinations: [[Feature]] =
    [[], Feature.allCases] + Feature.allCases.map { [$0] }
    + Feature.allCases.map { left in Feature.allCases.filter { $0 != left } }

  @Test(
    "Programs compile without warnings with any upcoming features enabled", arguments: combinations)
  func features(enabled: [Feature]) throws {
    #expect(Self.programs.count >= 6)

    let outcome = try ConsumerCompiler.check(Self.programs, features: enabled)

    #expect(outcome.succeeded)
    #expect(outcome.messages == [])
  }
}
