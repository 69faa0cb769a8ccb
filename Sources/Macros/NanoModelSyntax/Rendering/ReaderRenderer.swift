// SPDX-License-Identifier: MIT

import SwiftSyntax
import SwiftSyntaxBuilder

/// Writes the functions that decode a value.
///
/// Documents that a program wrote have their fields in the order of declaration, so each name is expected
/// where it stands then, and compared with one constant. A document that is different is read again from
/// its beginning, by names in any order, in a function of its own.
///
/// Local names begin with `_$`, or they would hide names that the values of properties mention.
struct ReaderRenderer {
  private let model: ModelDeclaration

  init(_ model: ModelDeclaration) { self.model = model }

  private static let failure = "throws(NanoStoreModels.StoreError)"
  private static func reader(_ name: String) -> String {
    "\(name): inout NanoStoreModels.JSONReader"
  }

  /// What the protocol asks for.
  var initializers: [DeclSyntax] {
    let access = model.access
    if model.isClass {
      return [
        """
        \(raw: access)init(\(raw: Self.reader("reading reader"))) \(raw: Self.failure) {
        throw NanoStoreModels.ModelCoding.partRefused(Self.self)
        }
        """,
        """
        \(raw: access)init(\(raw: Self.reader("reading reader")), key: NanoStoreModels.BorrowedKey) \
        \(raw: Self.failure) {
        \(raw: initialize("&reader, key"))
        }
        """,
      ] + plainInitializer
    }
    guard model.key != nil else {
      return [
        """
        \(raw: access)init(\(raw: Self.reader("reading reader"))) \(raw: Self.failure) {
        \(raw: initialize("&reader"))
        }
        """
      ] + plainInitializer
    }
    return [
      """
      \(raw: access)init(\(raw: Self.reader("reading reader"))) \
      \(raw: Self.failure) {
      try self.init(reading: &reader, key: .none)
      }
      """,
      """
      \(raw: access)init(\(raw: Self.reader("reading reader")), key: NanoStoreModels.BorrowedKey) \
      \(raw: Self.failure) {
      \(raw: initialize("&reader, key"))
      }
      """,
    ] + plainInitializer
  }

  /// The compiler writes none into a class that has another.
  private var plainInitializer: [DeclSyntax] {
    model.hasPlainInitializer ? ["init() {}"] : []
  }

  private func initialize(_ arguments: String) -> String {
    if model.hasMemberwiseInitializer { return "self = try Self._$read(\(arguments))" }
    let values = model.properties.enumerated().map { "self.\($1.place) = read.\($0)" }
    return
      (["let read = try Self._$read(\(arguments))"] + values
      + ["self._$unknownFields = read.\(model.properties.count)"])
      .joined(separator: "\n")
  }

  /// The functions that do the work, one for each of both ways.
  var members: [DeclSyntax] {
    [
      """
      @inline(__always)
      nonisolated private static func _$read(\(raw: parameters)) \(raw: Self.failure) -> \(raw: result) {
      \(raw: inOrder)
      }
      """,
      """
      @inline(never)
      nonisolated private static func _$readInAnyOrder(\(raw: parameters)) \(raw: Self.failure) -> \(raw: result) {
      \(raw: inAnyOrder)
      }
      """,
    ]
  }

  private var parameters: String {
    Self.reader("_ _$reader") + (model.readsKey ? ", _ _$key: NanoStoreModels.BorrowedKey" : "")
  }

  /// The value, or those of the properties if an initializer has to put them together.
  private var result: String {
    if model.hasMemberwiseInitializer { return "Self" }
    let types = model.properties.map(\.type.text) + ["NanoStoreModels.UnknownFields"]
    return "(\(types.joined(separator: ", ")))"
  }

  // MARK: In the order of declaration

  private var inOrder: String {
    var lines = ["try _$reader.enter()", "let _$start = _$reader", "inOrder: do {"]
    var hasFields = false
    for (index, property) in model.properties.enumerated() {
      let isFirst = index == 0 && property.isAlwaysWritten && !property.isKey
      if index == 0, !isFirst { lines.append("guard _$reader.match(\"{\") else { break inOrder }") }
      let match =
        isFirst
        ? "_$reader.match(\(FieldText.opening(property, "{")))"
        : "_$reader.\(hasFields ? "match" : "matchField")(\(FieldText.opening(property)))"
      lines.append(expect(property, "_$f\(index)", match))
      hasFields = hasFields || (property.isAlwaysWritten && !property.isKey)
    }
    lines.append("guard _$reader.match(\"}\") else { break inOrder }")
    lines.append("_$reader.leave()")
    lines.append("return \(together("NanoStoreModels.UnknownFields()"))")
    lines += ["}", "_$reader = _$start"]
    lines.append("return try Self._$readInAnyOrder(&_$reader\(model.readsKey ? ", _$key" : ""))")
    return lines.joined(separator: "\n")
  }

  /// The values of all properties as a result. Where there is such an initializer, the compiler's own is
  /// used: in another one each property would get its first value before, which may take long to make.
  private func together(_ unknownFields: String) -> String {
    let names = model.properties.indices.map { "_$f\($0)" }
    guard model.hasMemberwiseInitializer else {
      return "(\((names + [unknownFields]).joined(separator: ", ")))"
    }
    let arguments = zip(model.properties, names).map { "\($0.label): \($1)" }
    return "Self(\(arguments.joined(separator: ", ")))"
  }

  /// Reads a field where it is expected.
  private func expect(_ property: StoredProperty, _ name: String, _ match: String) -> String {
    let type = property.type.text
    let read = read(property)
    if property.isKey {
      let expected = "guard \(match) else { break inOrder }\n\(name) = \(read)"
      return """
        let \(name): \(type)
        if case .none = _$key {
        \(property.type.isOptional ? "\(name) = \(match) ? \(read) : nil" : expected)
        } else {
        \(name) = \(readKey(type))
        }
        """
    }
    switch property.absence {
    case .error: return "guard \(match) else { break inOrder }\nlet \(name): \(type) = \(read)"
    case .null: return "let \(name): \(type) = \(match) ? \(read) : \(type).none"
    case .value(let value):
      // What an optional was when it was written is null, also if its first value is another.
      let condition =
        property.type.isOptional ? match : "\(match) && !_$reader.consumeNull()"
      return "let \(name): \(type) = \(condition) ? \(read) : \(value)"
    case .askType:
      return """
        let \(name): \(type)
        if \(match) {
        \(name) = \(read)
        } else if let _$missing = NanoStoreModels.ModelCoding.missing(\(FieldText.metatype(type))) {
        \(name) = _$missing
        } else {
        break inOrder
        }
        """
    }
  }

  // MARK: In any order

  private var inAnyOrder: String {
    var lines = model.properties.contains(where: \.isRequired) ? ["let _$start = _$reader"] : []
    for (index, property) in model.properties.enumerated() {
      lines.append("var _$v\(index): Swift.Optional<\(property.type.text)> = nil")
      for former in property.formerNames.indices {
        lines.append("var _$v\(index)_\(former): Swift.Optional<\(property.type.text)> = nil")
      }
    }
    lines.append("var _$unknown = NanoStoreModels.UnknownFields.Collector()")
    lines.append(
      "try _$reader.fields { (\(Self.reader("_$reader")), _$name) \(Self.failure) in")
    lines.append(branches.joined(separator: " else ") + " else {")
    lines += ["try _$unknown.keep(_$name, &_$reader)", "}", "}"]
    for (index, property) in model.properties.enumerated() {
      lines.append(settle(property, index))
    }
    lines.append("_$reader.leave()")
    if model.hasMemberwiseInitializer {
      lines.append("var _$value = \(together(""))")
      lines += ["_$value._$unknownFields = _$unknown.fields", "return _$value"]
    } else {
      lines.append("return \(together("_$unknown.fields"))")
    }
    return lines.joined(separator: "\n")
  }

  private var branches: [String] {
    var branches: [String] = []
    for (index, property) in model.properties.enumerated() {
      let names =
        [(property.storedName, "_$v\(index)")]
        + property.formerNames.enumerated().map { ($1, "_$v\(index)_\($0)") }
      for (name, variable) in names {
        let stored = FieldText.literal(FieldText.stored(name))
        branches.append("if _$name.matches(\(stored)) {\n\(take(property, variable))\n}")
      }
    }
    return branches
  }

  /// Of two fields with one name the first counts.
  private func take(_ property: StoredProperty, _ variable: String) -> String {
    let skip = "try _$reader.skipValue()"
    var read = "\(variable) = \(read(property))"
    if case .value = property.absence, !property.type.isOptional {
      read = "if !_$reader.consumeNull() { \(read) }"
    }
    let isOpen = "case nil = \(variable)"
    let condition = property.isKey ? "\(isOpen), case .none = _$key" : isOpen
    return "if \(condition) { \(read) } else { \(skip) }"
  }

  /// What the value is, of those that were read.
  private func settle(_ property: StoredProperty, _ index: Int) -> String {
    let type = property.type.text
    let found = (["_$v\(index)"] + property.formerNames.indices.map { "_$v\(index)_\($0)" })
      .joined(separator: " ?? ")
    let name = FieldText.literal(property.storedName)
    func required(_ value: String) -> String {
      "guard case .some(let _$f\(index)) = \(value) else { throw _$start.missingField(\(name)) }"
    }
    if property.isKey {
      let missing = property.type.isOptional ? " ?? .some(nil)" : ""
      return """
        if case .none = _$key {} else { _$v\(index) = \(readKey(type)) }
        \(required(found + missing))
        """
    }
    switch property.absence {
    case .error: return required(found)
    case .null: return "let _$f\(index): \(type) = \(found) ?? nil"
    case .value(let value): return "let _$f\(index): \(type) = \(found) ?? \(value)"
    case .askType:
      return required(
        "\(found) ?? NanoStoreModels.ModelCoding.missing(\(FieldText.metatype(type)))")
    }
  }

  // MARK: Values

  /// Reads a value that stands at the cursor.
  private func read(_ property: StoredProperty) -> String {
    guard let wrapped = property.type.wrapped else { return read(property.type.text) }
    // A plain nil would be that of the inner optional, where there are two.
    return "_$reader.consumeNull() ? \(property.type.text).none : \(read(wrapped))"
  }

  private func readKey(_ type: String) -> String {
    "try NanoStoreModels.ModelCoding.readKey(\(FieldText.metatype(type)), _$key)"
  }

  private func read(_ type: String) -> String {
    PlainCoding(type)?.read("_$reader")
      ?? "try NanoStoreModels.ModelCoding.read(\(FieldText.metatype(type)), &_$reader)"
  }
}
