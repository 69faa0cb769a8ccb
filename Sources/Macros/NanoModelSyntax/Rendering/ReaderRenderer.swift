// SPDX-License-Identifier: MIT

/// Renders the functions that decode a value.
///
/// Documents written by a model have their fields in declaration order, so the fast path expects each name at its
/// position and compares it with one constant. If a document differs, a separate function reads it again from the
/// start and searches for each name (`FieldSearch.swift`).
///
/// Local names begin with `_$`, so that they do not shadow names in the initial values of properties.
struct ReaderRenderer {
  private let model: ModelDeclaration

  init(_ model: ModelDeclaration) { self.model = model }

  private static let failure = "throws(NanoStoreModels.StoreError)"
  private static func reader(_ name: String) -> String {
    "\(name): inout NanoStoreModels.JSONReader"
  }

  /// The initializers that the protocol requires.
  var initializers: [String] {
    let access = model.access
    if model.isClass {
      return [
        """
        \(access)init(\(Self.reader("reading reader"))) \(Self.failure) {
        throw NanoStoreModels.ModelCoding.embeddingError(Self.self)
        }
        """,
        """
        \(access)init(\(Self.reader("reading reader")), key: NanoStoreModels.BorrowedKey) \
        \(Self.failure) {
        \(initialize("&reader, key"))
        }
        """,
      ] + defaultInitializer
    }
    guard model.key != nil else {
      return [
        """
        \(access)init(\(Self.reader("reading reader"))) \(Self.failure) {
        \(initialize("&reader"))
        }
        """
      ] + defaultInitializer
    }
    return [
      """
      \(access)init(\(Self.reader("reading reader"))) \
      \(Self.failure) {
      try self.init(reading: &reader, key: .none)
      }
      """,
      """
      \(access)init(\(Self.reader("reading reader")), key: NanoStoreModels.BorrowedKey) \
      \(Self.failure) {
      \(initialize("&reader, key"))
      }
      """,
    ] + defaultInitializer
  }

  /// A replacement for the default initializer, which the other initializers suppress.
  private var defaultInitializer: [String] {
    model.hasDefaultInitializer ? ["init() {}"] : []
  }

  private func initialize(_ arguments: String) -> String {
    if model.hasMemberwiseInitializer { return "self = try Self._$read(\(arguments))" }
    let values = model.properties.enumerated().map { "self.\($1.storageName) = read.\($0)" }
    return
      (["let read = try Self._$read(\(arguments))"] + values
      + ["self._$unknownFields = read.\(model.properties.count)"])
      .joined(separator: "\n")
  }

  /// The decoding functions: one for declaration order and one by name.
  var members: [String] {
    [
      """
      @inline(__always)
      nonisolated private static func _$read(\(parameters)) \(Self.failure) -> \(result) {
      \(inOrder)
      }
      """,
      """
      @inline(never)
      nonisolated private static func _$readByName(\(parameters)) \(Self.failure) -> \(result) {
      \(byName)
      }
      """,
    ]
  }

  private var parameters: String {
    Self.reader("_ _$reader") + (model.readsKey ? ", _ _$key: NanoStoreModels.BorrowedKey" : "")
  }

  /// The result type: the model itself, or a tuple of property values if it has no memberwise initializer.
  var result: String {
    if model.hasMemberwiseInitializer { return "Self" }
    let types = model.properties.map(\.type.text) + ["NanoStoreModels.UnknownFields"]
    return "(\(types.joined(separator: ", ")))"
  }

  // MARK: In the order of declaration

  private var inOrder: String {
    var lines = ["try _$reader.enter()", "let _$start = _$reader", "inOrder: do {"]
    if mayNest { lines.append("guard !_$reader.readsByName else { break inOrder }") }
    var hasFields = false
    for (index, property) in model.properties.enumerated() {
      let isFirst = index == 0 && property.isAlwaysWritten && !property.isKey
      if index == 0, !isFirst { lines.append("guard _$reader.match(\"{\") else { break inOrder }") }
      let match =
        isFirst
        ? "_$reader.match(\(FieldText.opening(property, "{")))"
        : "_$reader.\(hasFields ? "match" : "matchField")(\(FieldText.opening(property)))"
      lines.append(read(property, "_$f\(index)", atPosition(match)))
      hasFields = hasFields || (property.isAlwaysWritten && !property.isKey)
    }
    lines.append("guard _$reader.match(\"}\") else { break inOrder }")
    lines.append("_$reader.leave()")
    lines.append("return \(resultExpression("NanoStoreModels.UnknownFields()"))")
    lines += ["}", "_$reader = _$start"]
    if mayNest { lines.append("_$reader.readsByName = true") }
    lines.append("return try Self._$readByName(&_$reader\(model.readsKey ? ", _$key" : ""))")
    return lines.joined(separator: "\n")
  }

  /// Whether a property can hold a value that contains others, such as one of the model itself.
  private var mayNest: Bool {
    model.properties.contains { PlainCoding($0.type.wrapped ?? $0.type.text) == nil }
  }

  /// Returns the result expression.
  ///
  /// Uses the memberwise initializer if there is one, because any other initializer would first evaluate all initial
  /// values, which may be slow.
  private func resultExpression(_ unknownFields: String) -> String {
    let names = model.properties.indices.map { "_$f\($0)" }
    guard model.hasMemberwiseInitializer else {
      return "(\((names + [unknownFields]).joined(separator: ", ")))"
    }
    let arguments = zip(model.properties, names).map { "\($0.label): \($1)" }
    return "Self(\(arguments.joined(separator: ", ")))"
  }

  private func atPosition(_ match: String) -> Lookup {
    Lookup(
      find: match, findValue: "\(match) && !_$reader.consumeNull()",
      findAccepted: { "\(match) && (\($0) || !_$reader.consumeNull())" },
      failure: "break inOrder")
  }

  // MARK: By name

  private var byName: String {
    var lines = ["let _$fields = try NanoStoreModels.FieldSearch(_$reader)"]
    for (index, property) in model.properties.enumerated() {
      lines.append(read(property, "_$f\(index)", byName(property)))
    }
    lines.append("let _$unknown = try _$fields.finish(&_$reader)")
    lines.append("_$reader.leave()")
    if model.hasMemberwiseInitializer {
      lines.append("var _$value = \(resultExpression(""))")
      lines += ["_$value._$unknownFields = _$unknown", "return _$value"]
    } else {
      lines.append("return \(resultExpression("_$unknown"))")
    }
    return lines.joined(separator: "\n")
  }

  private func byName(_ property: StoredProperty) -> Lookup {
    let names = ([property.storedName] + property.formerNames).map {
      FieldText.literal(FieldText.stored($0))
    }
    let arguments = "(\(names.joined(separator: ", ")), reader: &_$reader)"
    return Lookup(
      find: "try _$fields.find\(arguments)", findValue: "try _$fields.findValue\(arguments)",
      findAccepted: {
        "try (\($0) ? _$fields.find\(arguments) : _$fields.findValue\(arguments))"
      },
      failure: "throw _$fields.missingField(\(FieldText.literal(property.storedName)))",
      ignore: "_$fields.ignore(\(names[0]))")
  }

  // MARK: Values

  /// How code finds a field.
  private struct Lookup {
    /// Moves the reader to the value; false if the document does not have the field.
    let find: String
    /// Also false if the value is null.
    let findValue: String
    /// Also false if the value is null, unless the constant of this name is true.
    let findAccepted: (_ acceptsNull: String) -> String
    /// Leaves the code if a required field is missing.
    let failure: String
    /// Skips a field whose value is known from elsewhere.
    var ignore: String?
  }

  /// Returns code that finds a field and reads it into a constant.
  private func read(_ property: StoredProperty, _ name: String, _ field: Lookup) -> String {
    let type = property.type.text
    let read = read(property)
    if property.isKey {
      let found =
        property.type.isOptional
        ? "\(name) = \(field.find) ? \(read) : nil"
        : "guard \(field.find) else { \(field.failure) }\n\(name) = \(read)"
      let known = [field.ignore, "\(name) = \(readKey(type))"].compactMap(\.self)
      return """
        let \(name): \(type)
        if case .none = _$key {
        \(found)
        } else {
        \(known.joined(separator: "\n"))
        }
        """
    }
    switch property.absence {
    case .error:
      return "guard \(field.find) else { \(field.failure) }\nlet \(name): \(type) = \(read)"
    case .null: return "let \(name): \(type) = \(field.find) ? \(read) : \(type).none"
    case .value(let value):
      // For an optional, a stored null means nil, even if the initial value is not nil.
      if property.type.isOptional {
        return "let \(name): \(type) = \(field.find) ? \(read) : \(value)"
      }
      if property.type.isPlain || property.relationship != nil {
        return "let \(name): \(type) = \(field.findValue) ? \(read) : \(value)"
      }
      // Only the compiler knows whether the type accepts null, as `DocumentValue` and aliases of optionals do.
      let acceptsNull = "\(name)AcceptsNull"
      return """
        let \(acceptsNull) = NanoStoreModels.ModelCoding.missing(\(FieldText.metatype(type))) != nil
        let \(name): \(type) = \(field.findAccepted(acceptsNull)) ? \(read) : \(value)
        """
    case .dependsOnType:
      return """
        let \(name): \(type)
        if \(field.find) {
        \(name) = \(read)
        } else if let _$missing = NanoStoreModels.ModelCoding.missing(\(FieldText.metatype(type))) {
        \(name) = _$missing
        } else {
        \(field.failure)
        }
        """
    }
  }

  /// Returns code that reads the value at the cursor.
  private func read(_ property: StoredProperty) -> String {
    guard let wrapped = property.type.wrapped else { return read(property.type.text) }
    // For a nested optional, a plain nil would be the inner one.
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
