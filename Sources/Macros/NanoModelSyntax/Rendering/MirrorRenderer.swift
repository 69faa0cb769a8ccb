// SPDX-License-Identifier: MIT

/// Renders the mirror of a struct, which limits `print` and `dump` to the declared properties.
///
/// Renders nothing for a class, which `print` displays by its name.
struct MirrorRenderer {
  private let model: ModelDeclaration

  init(_ model: ModelDeclaration) { self.model = model }

  var member: String? {
    guard !model.isClass else { return nil }
    let children = model.mirroredNames.map { name in
      "\(FieldText.literal(name.trimmingBackticks)): self.\(name) as Any"
    }
    return """
      \(model.access)var customMirror: Swift.Mirror {
      Swift.Mirror(self, children: [\(children.joined(separator: ", "))], displayStyle: .struct)
      }
      """
  }
}
