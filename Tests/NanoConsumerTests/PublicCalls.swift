// SPDX-License-Identifier: MIT

import Foundation

/// A public method of the library, parsed from its source.
struct PublicCall {
  let type: String
  let name: String
  /// The parameter labels, without the implicit isolation parameter.
  let labels: [String]
  /// The parameter types, without concurrency attributes.
  let parameters: [String]
  let isFirstOptional: Bool
  let isAsync: Bool
  let throwsErrors: Bool

  var title: String { "\(type).\(name)(\(labels.map { $0 + ":" }.joined()))" }
  /// What both forms of a call have in common.
  var shape: String { "\(type).\(name)(\(parameters.joined(separator: ",")))" }

  /// Returns whether a program makes this call.
  func isUsed(in program: String) -> Bool {
    if program.contains(".\(name) {") { return true }
    guard let label = labels.first, label != "_", !isFirstOptional else {
      return program.contains(".\(name)(")
    }
    return program.contains(".\(name)(\(label):")
  }
}

extension PublicCall {
  /// The types that access the store. Public methods of other types work in memory.
  private static let types: Set<String> = [
    "Store", "DocumentCollection", "DocumentQuery", "Bag", "BagPart", "BagQuery", "Search",
    "ModelCollection", "ModelQuery", "ObjectContext", "ObjectQuery", "ObjectActor", "QueuedCall",
    "LegacyStore", "DocumentAttachments",
  ]

  /// The public methods of these types.
  static let all: [PublicCall] = {
    let folders = [
      "Sources/Store", "Sources/Layers",
      "Sources/Products/NanoStore",
      "Sources/Products/NanoStorePostgres", "Sources/Products/NanoStoreEncryption",
      "Sources/Import/NanoLegacy", "Sources/Sync/NanoStoreSync",
    ]
    let files = folders.flatMap { folder -> [URL] in
      let files = FileManager.default.enumerator(
        at: ConsumerCompiler.root.appending(path: folder), includingPropertiesForKeys: nil)
      return (files?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
    }
    return files.flatMap { file in
      (try? String(contentsOf: file, encoding: .utf8)).map(declarations) ?? []
    }.filter { types.contains($0.type) }
  }()

  private static func declarations(_ source: String) -> [PublicCall] {
    let lines = source.replacing("->", with: "→").split(
      separator: "\n", omittingEmptySubsequences: false)
    var type = ""
    var calls: [PublicCall] = []
    for (index, line) in lines.enumerated() {
      if let match = line.firstMatch(
        of: #/^(?:public )?(?:final )?(?:extension|struct|class|actor|enum|protocol) ([\w.]+)/#)
      {
        type = String(match.1)
      }
      guard !line.contains("//"),
        let match = line.firstMatch(of: #/^ *public (?:static |mutating )*func `?(\w+)`?/#)
      else { continue }
      // Skip declarations that exist only to explain why something does not compile.
      guard
        !lines[..<index].suffix(5).reversed().prefix(while: { !$0.contains("func ") })
          .contains(where: { $0.contains("unavailable") })
      else { continue }
      let text = lines[index...].prefix(14).joined(separator: " ")
      guard let call = PublicCall(type, String(match.1), text) else { continue }
      calls.append(call)
    }
    return calls
  }

  private init?(_ type: String, _ name: String, _ text: String) {
    guard let nameEnd = text.firstRange(of: "func ")?.upperBound,
      let open = text[nameEnd...].firstIndex(of: "("),
      let close = Self.end(of: text[open...])
    else { return nil }
    let effects = text[text.index(after: close)...].prefix { $0 != "→" && $0 != "{" }
    let parameters = Self.split(text[text.index(after: open)..<close])
      .map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty && !$0.hasPrefix("isolation:") }
    self.type = type
    self.name = name
    labels = parameters.map { String($0.prefix { $0 != ":" && $0 != " " }) }
    self.parameters = parameters.map(Self.plain)
    isFirstOptional = parameters.first?.contains("=") ?? false
    isAsync = effects.contains("async")
    throwsErrors = effects.contains("throws")
  }

  /// Returns the position of the bracket that closes the opening bracket at the start of the text.
  private static func end(of text: Substring) -> String.Index? {
    var depth = 0
    for index in text.indices {
      if text[index] == "(" { depth += 1 }
      if text[index] == ")" {
        depth -= 1
        if depth == 0 { return index }
      }
    }
    return nil
  }

  /// Splits parameters at commas outside brackets.
  private static func split(_ text: Substring) -> [String] {
    var (parts, depth) = ([""], 0)
    for character in text {
      if "([<".contains(character) { depth += 1 }
      if ")]>".contains(character) { depth -= 1 }
      if character == ",", depth == 0 {
        parts.append("")
      } else {
        parts[parts.count - 1].append(character)
      }
    }
    return parts
  }

  private static func plain(_ parameter: String) -> String {
    var text = parameter
    for word in ["sending ", "@escaping ", "@Sendable ", " & SendableMetatype", " & Sendable"] {
      text.replace(word, with: "")
    }
    return text.filter { $0 != " " }
  }
}
