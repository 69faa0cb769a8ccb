// SPDX-License-Identifier: MIT

import SwiftSyntax
import SwiftSyntaxBuilder

/// Writes what `print` and `dump` show of a struct: the properties that it declares, and nothing that is kept beside
/// them. Nil for a class, which `print` shows by its name.
struct MirrorRenderer {
  private let model: ModelDeclaration

  init(_ model: ModelDeclaration) { self.model = model }

  var member: DeclSyntax? {
    guard !model.isClass else { return nil }
    let children = model.shownNames.map { name in
      "\(FieldText.literal(name.trimmingBackticks)): self.\(name) as Any"
    }
    return """
      \(raw: model.access)var customMirror: Swift.Mirror {
      Swift.Mirror(self, children: [\(raw: children.joined(separator: ", "))], displayStyle: .struct)
      }
      """
  }
}
