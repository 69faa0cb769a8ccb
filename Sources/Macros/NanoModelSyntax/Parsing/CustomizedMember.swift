// SPDX-License-Identifier: MIT

import SwiftSyntax

/// A static member of a model that replaces a default of the protocol, provided that it has the required type: the
/// compiler would otherwise use the default, without a warning.
struct CustomizedMember {
  let name: String
  let declaration: Syntax

  /// Returns the required type; nil if the protocol has no such member.
  ///
  /// - Parameter module: What precedes the names of the library.
  private static func type(of name: String, in model: String, module: String = "") -> String? {
    switch name {
    case "upgrades": "[\(module)ModelUpgrade]"
    case "indexes": "[\(module)ModelIndex<\(model)>]"
    case "expirationRule": "\(module)ExpirationRule?"
    default: nil
    }
  }

  /// The required type, as a user writes it.
  var type: String { Self.type(of: name, in: "Self") ?? "" }

  /// The required type in generated code.
  func qualifiedType(in model: String) -> String {
    Self.type(of: name, in: model, module: "NanoStoreModels.") ?? ""
  }

  static func members(of variable: VariableDeclSyntax) -> [CustomizedMember] {
    guard variable.isStatic else { return [] }
    return variable.bindings.compactMap { binding in
      guard let token = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier,
        type(of: token.text.trimmingBackticks, in: "Self") != nil
      else { return nil }
      return CustomizedMember(
        name: token.text.trimmingBackticks, declaration: Syntax(token))
    }
  }
}

extension VariableDeclSyntax {
  /// Whether it declares members of the type.
  var isStatic: Bool {
    modifiers.contains { [.keyword(.static), .keyword(.class)].contains($0.name.tokenKind) }
  }
}
