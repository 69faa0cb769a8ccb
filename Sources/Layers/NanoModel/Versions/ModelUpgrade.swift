// SPDX-License-Identifier: MIT

public import NanoDocument

/// How a document of one version of a model becomes one of the next.
///
/// For what defaults, former names and wider types do not cover:
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
/// Documents are upgraded when they are read, and stored so when they are saved, or all at once by
/// `upgrade(batch:progress:)` of ``ModelCollection``. A version without an upgrade needs none.
public struct ModelUpgrade: Sendable {
  /// The version of the documents that it changes.
  public let version: Int
  let change: @Sendable (inout DocumentObject) throws -> Void

  /// - Parameter change: Gets the fields as they are stored. An error that it throws is the error of the
  ///   call that reads the document, which stays as it is.
  public init(
    from version: Int, _ change: @escaping @Sendable (inout DocumentObject) throws -> Void
  ) {
    self.version = version
    self.change = change
  }
}

extension Model {
  /// The fields of a document of an older version as the newest has them.
  static func upgrade(_ object: inout DocumentObject, from version: Int) throws {
    let steps = upgrades.filter { $0.version >= version && $0.version < modelVersion }
    // Of the same version, in the order in which they are listed.
    for step in steps.enumerated().sorted(by: { ($0.1.version, $0.0) < ($1.1.version, $1.0) }) {
      try step.element.change(&object)
    }
  }
}
