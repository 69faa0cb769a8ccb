// SPDX-License-Identifier: MIT

import SwiftSyntax
import SwiftSyntaxBuilder

/// Writes the functions that decode a value.
///
/// Documents that a program wrote have their fields in the order of declaration, so each name is expected
/// where it stands then, and compared with one constant. A document that is different is read again from
/// its beginning, by names in any order, in a function of its own.
struct ReaderRenderer {
  private let model: ModelDeclaration

  init(_ model: ModelDeclaration) { self.model = model }

  private static let reader = "reader: inout NanoStoreModels.JSONReader"
  private static let failure = "throws(NanoStoreModels.StoreError)"

  var initializers: [DeclSyntax] {
    let access = model.access
    guard model.key != nil else {
      return [
        """
        \(raw: access)init(reading \(raw: Self.reader)) \(raw: Self.failure) {
        \(raw: body)
        }
        """
      ]
    }
    let delegating = model.isClass ? "convenience " : ""
    return [
      """
      \(raw: access)\(raw: delegating)init(reading \(raw: Self.reader)) \(raw: Self.failure) {
      try self.init(reading: &reader, key: .none)
      }
      """,
      """
      \(raw: access)init(reading \(raw: Self.reader), key: NanoStoreModels.BorrowedKey) \(raw: Self.failure) {
      \(raw: body)
      }
      """,
    ]
  }

  private var body: String {
    var lines = ["try reader.enter()", "let start = reader", "inOrder: do {"]
    var hasFields = false
    for (index, property) in model.properties.enumerated() {
      let isFirst = index == 0 && property.isAlwaysWritten && !property.isKey
      if index == 0, !isFirst { lines.append("guard reader.match(\"{\") else { break inOrder }") }
      let match =
        isFirst
        ? "reader.match(\(FieldText.opening(property, "{")))"
        : "reader.\(hasFields ? "match" : "matchField")(\(FieldText.opening(property)))"
      lines.append(expect(property, "f\(index)", match))
      hasFields = hasFields || (property.isAlwaysWritten && !property.isKey)
    }
    lines.append("guard reader.match(\"}\") else { break inOrder }")
    lines.append(assign { "f\($0)" })
    lines += ["reader.leave()", "return", "}", "reader = start"]
    lines.append("let read = try Self._$read(&reader\(model.key == nil ? "" : ", key"))")
    lines.append(assign { "read.\($0)" })
    lines.append("self._$unknownFields = read.\(model.properties.count)")
    lines.append("reader.leave()")
    return lines.joined(separator: "\n")
  }

  /// Reads a field where it is expected.
  private func expect(_ property: StoredProperty, _ name: String, _ match: String) -> String {
    let type = property.type.text
    let read = read(property)
    let expected = "guard \(match) else { break inOrder }\n\(name) = \(read)"
    if property.isKey {
      return """
        let \(name): \(type)
        if case .none = key {
        \(property.type.isOptional ? "\(name) = \(match) ? \(read) : nil" : expected)
        } else {
        \(name) = try \(type)(documentKey: key)
        }
        """
    }
    switch property.absence {
    case .error: return "guard \(match) else { break inOrder }\nlet \(name): \(type) = \(read)"
    case .null: return "let \(name): \(type) = \(match) ? \(read) : nil"
    case .value(let value):
      // What an optional was when it was written is null, also if its first value is another.
      let condition = property.type.isOptional ? match : "\(match) && !reader.consumeNull()"
      return "let \(name): \(type) = \(condition) ? \(read) : \(value)"
    case .askType:
      return """
        let \(name): \(type)
        if \(match) {
        \(name) = \(read)
        } else if let missing = NanoStoreModels.ModelCoding.missing(\(metatype(type))) {
        \(name) = missing
        } else {
        break inOrder
        }
        """
    }
  }

  /// Reading values of the properties' types, in the order of declaration, and the fields beside them.
  var anyOrder: [DeclSyntax] {
    let types = model.properties.map(\.type.text) + ["NanoStoreModels.UnknownFields"]
    var lines = ["let start = reader"]
    for (index, property) in model.properties.enumerated() {
      lines.append("var v\(index): Swift.Optional<\(property.type.text)> = .none")
      for former in property.formerNames.indices {
        lines.append("var v\(index)_\(former): Swift.Optional<\(property.type.text)> = .none")
      }
    }
    lines.append("var unknown = NanoStoreModels.UnknownFields.Collector()")
    lines.append(
      "try reader.fields { (\(Self.reader), name) \(Self.failure) in")
    lines.append(branches.joined(separator: " else ") + " else {")
    lines += ["try unknown.keep(name, &reader)", "}", "}"]
    for (index, property) in model.properties.enumerated() {
      lines.append(settle(property, index))
    }
    let values = model.properties.indices.map { "f\($0)" } + ["unknown.fields"]
    lines.append("return (\(values.joined(separator: ", ")))")
    let key = model.key == nil ? "" : ", _ key: NanoStoreModels.BorrowedKey"
    return [
      """
      @inline(never)
      private static func _$read(
      _ \(raw: Self.reader)\(raw: key)
      ) \(raw: Self.failure) -> (\(raw: types.joined(separator: ", "))) {
      \(raw: lines.joined(separator: "\n"))
      }
      """
    ]
  }

  private var branches: [String] {
    var branches: [String] = []
    for (index, property) in model.properties.enumerated() {
      let names =
        [(property.storedName, "v\(index)")]
        + property.formerNames.enumerated().map { ($1, "v\(index)_\($0)") }
      for (name, variable) in names {
        let stored = FieldText.literal(FieldText.stored(name))
        branches.append(
          "if name.matches(\(stored)) {\n\(take(property, variable))\n}")
      }
    }
    return branches
  }

  /// Of two fields with one name the first counts.
  private func take(_ property: StoredProperty, _ variable: String) -> String {
    let skip = "try reader.skipValue()"
    var read = "\(variable) = \(read(property))"
    if case .value = property.absence, !property.type.isOptional {
      read = "if !reader.consumeNull() { \(read) }"
    }
    let isOpen = "case .none = \(variable)"
    let condition = property.isKey ? "\(isOpen), case .none = key" : isOpen
    return "if \(condition) { \(read) } else { \(skip) }"
  }

  /// What the value is, of those that were read.
  private func settle(_ property: StoredProperty, _ index: Int) -> String {
    let type = property.type.text
    let found = (["v\(index)"] + property.formerNames.indices.map { "v\(index)_\($0)" })
      .joined(separator: " ?? ")
    let name = FieldText.literal(property.storedName)
    func required(_ value: String) -> String {
      "guard case .some(let f\(index)) = \(value) else { throw start.missingField(\(name)) }"
    }
    if property.isKey {
      let missing = property.type.isOptional ? " ?? .some(.none)" : ""
      return """
        if case .none = key {} else { v\(index) = try \(type)(documentKey: key) }
        \(required(found + missing))
        """
    }
    switch property.absence {
    case .error: return required(found)
    case .null: return "let f\(index): \(type) = \(found) ?? .none"
    case .value(let value): return "let f\(index): \(type) = \(found) ?? (\(value))"
    case .askType:
      return required("\(found) ?? NanoStoreModels.ModelCoding.missing(\(metatype(type)))")
    }
  }

  private func read(_ property: StoredProperty) -> String {
    let type = property.type
    if let plain = PlainCoding(type.text) { return plain.read }
    if let wrapped = type.wrapped, let plain = PlainCoding(wrapped) {
      return "reader.consumeNull() ? nil : \(plain.read)"
    }
    return "try NanoStoreModels.ModelCoding.read(\(metatype(type.text)), &reader)"
  }

  private func metatype(_ type: String) -> String {
    type.allSatisfy { $0.isLetter || $0.isNumber || ".<>_".contains($0) }
      ? "\(type).self" : "(\(type)).self"
  }

  /// Gives the properties their values. Where there is such an initializer, the compiler's own is used: in
  /// another one each property would get its first value before, which may take long to make.
  private func assign(_ value: (Int) -> String) -> String {
    if model.hasMemberwiseInitializer {
      let arguments = model.properties.enumerated().map { index, property in
        "\(property.name): \(value(index))"
      }
      return "self.init(\(arguments.joined(separator: ", ")))"
    }
    return model.properties.enumerated()
      .map { index, property in "self.\(property.name) = \(value(index))" }
      .joined(separator: "\n")
  }
}
