// SPDX-License-Identifier: MIT

public import NanoDocument

/// A conversion of documents from one version of a model to the next.
///
/// Use upgrades for changes that defaults, former names and wider types do not cover:
///
/// ```swift
/// @Model(version: 2) struct Person {
///   var fullName: String
///   static let upgrades = [
///     ModelUpgrade(from: 1) { fields in
///       fields["fullName"] = .string("\(fields["first"]?.string ?? "") \(fields["last"]?.string ?? "")")
///       fields["first"] = nil
///       fields["last"] = nil
///     }
///   ]
/// }
/// ```
///
/// Documents are upgraded when they are read. The upgraded form is stored when they are saved, or
/// for all documents by `upgrade(batch:progress:)` of ``ModelCollection``. Versions without an
/// upgrade need no conversion.
public struct ModelUpgrade: Sendable {
  /// The version of the documents that the upgrade converts.
  public let version: Int
  let change: @Sendable (inout DocumentObject) throws -> Void

  /// Creates an upgrade.
  ///
  /// - Parameter change: Receives the stored fields. If it throws, the call that reads or changes the document
  ///   throws a ``StoreError`` with the document: that error with details added, or for an error of another type
  ///   ``StoreError/Code/typeMismatch`` with its description. The stored document is unchanged.
  public init(
    from version: Int, _ change: @escaping @Sendable (inout DocumentObject) throws -> Void
  ) {
    self.version = version
    self.change = change
  }
}

extension Model {
  /// Converts the fields of an older version to the current version.
  ///
  /// - Throws: The error of an upgrade; ``StoreError/Code/typeMismatch`` if it is not a ``StoreError``.
  static func upgrade(_ object: inout DocumentObject, from version: Int) throws(StoreError) {
    do {
      try applyUpgrades(&object, from: version)
    } catch {
      let reason =
        error as? StoreError
        ?? StoreError(.typeMismatch, "A document cannot be upgraded", [.value: "\(error)"])
      throw reason.adding(.actual, "a document of version \(version), read as \(modelVersion)")
    }
  }

  private static func applyUpgrades(_ object: inout DocumentObject, from version: Int) throws {
    let steps = upgrades.filter { $0.version >= version && $0.version < modelVersion }
    // Upgrades of the same version run in the order in which they are listed.
    for step in steps.enumerated().sorted(by: { ($0.1.version, $0.0) < ($1.1.version, $1.0) }) {
      try step.element.change(&object)
    }
  }
}
