// SPDX-License-Identifier: MIT

import NanoDocument

extension Wire {
  /// A document with its metadata.
  static func document(_ document: Document, _ limits: WireLimits = .row) -> Wire {
    // Row IDs and revisions may exceed the exact range of JavaScript's numbers.
    var fields: [(name: String, value: Wire)] = [
      ("rowID", .optional(document.rowID.map(String.init))), ("key", .optional(document.key)),
      ("type", .optional(document.type)),
      ("version", .optional(document.version.map(String.init))),
      ("revision", .optional(document.revision.map(String.init))),
      ("added", document.added.map { .value(.date($0), limits) } ?? .null),
    ]
    do {
      fields.append(("value", .value(.object(try document.object()), limits)))
    } catch {
      // A document that cannot be read does not hide the others.
      fields.append(("error", .string("\(error)")))
    }
    return .fields(fields)
  }
}
