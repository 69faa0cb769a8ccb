// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Compiles programs that make every public call.
///
/// Programs in `Calls/Twins` use `await`, and are also compiled as synchronous functions without it. Programs in
/// `Calls/Single` do not use `await`, and are also compiled as async functions. Programs in `Calls/Streams` make
/// calls that are async only.
@Suite(
  "Calls with and without await", .enabled(if: ConsumerCompiler.isAvailable), .serialized)
struct CallFormTests {
  typealias Feature = ConsumerCompiler.Feature

  static let combinations: [[Feature]] = [
    [], Feature.allCases, [.nonisolatedNonsendingByDefault], [.mainActorByDefault],
  ]

  static func programs(_ folder: String) throws -> [String] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Calls/\(folder)")
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    return try files.filter { $0.pathExtension == "swift" }.sorted { $0.path < $1.path }
      .map { try String(contentsOf: $0, encoding: .utf8) }
  }

  /// Removes `await` from a program. Also removes `try` from a call that throws only if its task is canceled.
  static func synchronous(_ program: String) -> String {
    program.replacing("async throws", with: "throws")
      .split(separator: "\n", omittingEmptySubsequences: false)
      .map { line in
        let words = line.contains("// does not throw without await") ? "try await " : "await "
        return line.replacing(words, with: "")
      }.joined(separator: "\n")
  }

  static func asynchronous(_ program: String) -> String {
    program.replacing(#/\) throws\s*\{/#, with: ") async throws {")
  }

  private func expectClean(_ programs: [String], _ features: [Feature]) throws {
    let outcome = try ConsumerCompiler.check(programs, features: features)
    #expect(outcome.succeeded)
    #expect(outcome.messages == [])
  }

  @Test("In an async function, await selects the async form", arguments: combinations)
  func awaited(features: [Feature]) throws {
    try expectClean(Self.programs("Twins"), features)
  }

  @Test("In a synchronous function, the same calls compile without await", arguments: combinations)
  func withoutAwait(features: [Feature]) throws {
    try expectClean(Self.programs("Twins").map(Self.synchronous), features)
  }

  @Test("Calls with only one form compile in both kinds of functions", arguments: combinations)
  func oneForm(features: [Feature]) throws {
    let programs = try Self.programs("Single")
    try expectClean(programs, features)
    try expectClean(programs.map(Self.asynchronous), features)
  }

  @Test("Streams and async-only calls compile", arguments: combinations)
  func streams(features: [Feature]) throws { try expectClean(Self.programs("Streams"), features) }
}

/// Compares the public methods in the sources with each other and with the programs.
@Suite("Every public call")
struct PublicCallTests {
  /// Calls that throw and have no async form, with the reason.
  static let synchronousOnly: [String: String] = [
    "Store.replicate(_:with:direction:mode:options:)": "only starts a task",
    "Bag.add(_:in:)": "changes the bag in memory",
    "Bag.add(_:)": "changes the bag in memory",
    "Bag.add(object:in:)": "changes the bag in memory",
    "DocumentCollection.nextRowID()": "is called inside a write transaction",
    "DocumentCollection.find(_:_:)": "only parses text",
    "DocumentCollection.find(_:arguments:named:)": "only parses text",
    "DocumentCollection.find(_:named:)": "only parses text",
    "DocumentQuery.sorted(byText:)": "only parses text",
    "DocumentQuery.pipe(_:_:)": "only parses text",
    "DocumentQuery.pipe(_:arguments:named:)": "only parses text",
    "DocumentQuery.facets(_:)": "only creates a pipeline",
    "ModelQuery.pipe()": "only creates a pipeline",
    "ModelQuery.pipe(_:_:)": "only parses text",
    "Bag.find(_:_:)": "only parses text",
    "ModelCollection.find(_:_:)": "only parses text",
    "ModelCollection.find(_:named:)": "only parses text",
    "ModelQuery.documentQuery()": "only creates a query",
    "ObjectQuery.each(_:)": "passes objects of the context's thread to a closure",
    "QueuedCall.wait()": "the async form is `value`",
    "Store.blocking(_:)": "runs the synchronous forms",
    "Store.close()": "is called in `defer` and `deinit`",
    "Store.each(of:_:)": "passes borrowed bytes to a closure; the async form is `stream(of:)`",
    "Store.reopen()": "synchronous like the initializers",
    "Store.object(_:)": "reads a document in memory",
  ]
  /// Objects belong to the thread of their context, and saving visits all of them. Elsewhere, use ``ObjectActor``.
  static let synchronousTypes: Set = ["ObjectContext"]

  /// Calls that are async only.
  static let asynchronousOnly: Set = [
    "ObjectActor.perform(_:)",
    "Store.addAttachment(pieces:contentType:)", "Store.addAttachment(bytes:contentType:)",
    "DocumentAttachments.add(pieces:named:contentType:)",
    "DocumentAttachments.add(bytes:named:contentType:)",
  ]

  @Test("Both forms of a call have the same parameters")
  func shapes() {
    let calls = PublicCall.all
    #expect(calls.count > 250)
    let synchronous = Set(calls.filter { !$0.isAsync }.map(\.shape))
    let asynchronous = calls.filter(\.isAsync)
    for call in asynchronous where !Self.asynchronousOnly.contains(call.title) {
      #expect(synchronous.contains(call.shape), "\(call.title) has no sync form")
    }
    let shapes = Set(asynchronous.map(\.shape))
    for call in calls where !call.isAsync && call.throwsErrors && !shapes.contains(call.shape) {
      #expect(
        Self.synchronousOnly[call.title] != nil || Self.synchronousTypes.contains(call.type),
        "\(call.title) has no async form")
    }
  }

  @Test(
    "A program makes every public call; calls with two forms are compiled in both"
  )
  func programs() throws {
    let twins = try CallFormTests.programs("Twins").joined()
    let all = try twins + ["Single", "Streams"].flatMap(CallFormTests.programs).joined()
    let shapes = Set(PublicCall.all.filter(\.isAsync).map(\.shape))
    for call in PublicCall.all {
      let hasTwoForms = !call.isAsync && shapes.contains(call.shape)
      let isUsed = call.isUsed(in: hasTwoForms ? twins : all)
      #expect(isUsed, "\(call.title) is missing in Calls/\(hasTwoForms ? "Twins" : "Single")")
    }
  }
}
