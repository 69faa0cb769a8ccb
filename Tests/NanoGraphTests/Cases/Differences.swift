// SPDX-License-Identifier: MIT

import NanoStore
import NanoTestSupport

/// The steps and cases that are not run, by reason. The operation of a step decides, never the id of the case.
///
/// Some steps are run differently, because NanoStore differs from the original:
/// - An object gets its row ID when it is first saved, and ids start with 1, so that 2 in a case is 1 here. Row IDs
///   increase, each class has its own sequence, and none is reused. The row ID of a new object is the one that its save
///   would assign, and new objects that are deleted before the save count too, as they do in the original.
/// - `willUpdate` marks an object in the original. Here the step assigns a property its own value.
/// - Deleted, unsaved objects are not among all objects, but in `deletedObjects`. A step that asks for all objects
///   includes them.
/// - A named value is stored immediately by the store, or with all other changes by the context. Steps that require
///   it immediately use the store, which stores a reference as the context does.
/// - Accents are ignored by indexes of words only, so these are used, and the original's expressions are evaluated on
///   the texts. An index of substrings is faster, but accents are significant.
/// - Removing a missing name is not an error. A step that expects one checks whether the name exists.
/// - Undo reverts one group of changes. A step that inserts, marks or deletes starts a group.
/// - The passphrase is specified when a store is opened, so a step that sets one reopens the store. It first drops
///   what would expose plaintext: the indexes of a plain store. Encrypted stores have no full-text indexes.
/// - The kind of error is checked, not the original's error number.
/// - Bytes in the original's format are written by the tests, compared with those of the case, and read by the importer.
enum Differences {
  /// Returns why a case cannot be run; nil if it can.
  static func exclusion(_ one: AcceptanceCase) -> String? {
    for step in one.steps {
      let op = step["op"]?.string ?? ""
      if op == "defineClass", !isDefined(step) { return undefinedClass }
      for (name, version) in step["current"]?.object ?? [:] where op == "upgradeNeeded" {
        let versions = Original.classes[name]?.count ?? 0
        if version.int.map({ $0 < 1 || $0 > versions }) ?? true { return undefinedClass }
      }
    }
    // If steps are skipped, the remaining ones may only prepare the case.
    let isChecked = steps(one).contains { $0.reason == nil && hasExpectation($0.step) }
    return isChecked ? nil : steps(one).lazy.compactMap(\.reason).first
  }

  private static let undefinedClass = "the program declares no class with these fields and version"

  private static func isDefined(_ step: DocumentObject) -> Bool {
    let versions = Original.classes[step["name"]?.string ?? ""] ?? []
    let version = Int(step["version"]?.int ?? 1)
    guard versions.indices.contains(version - 1) else { return false }
    return (step["fields"]?.array ?? []).allSatisfy {
      versions[version - 1].hasField($0.array?.first?.string ?? "")
    }
  }

  private static func hasExpectation(_ step: DocumentObject) -> Bool {
    (step["expect"]?.object ?? [:]).contains {
      !($0.name == "ok" && $0.value == true) && !isLeftOut($0.name)
    }
  }

  /// Returns whether an expectation is about the original's error numbers, which do not exist here.
  static func isLeftOut(_ field: String) -> Bool { field == "code" }

  /// Returns the steps of a case, each with the reason why it is skipped, if any.
  static func steps(_ one: AcceptanceCase) -> [(step: DocumentObject, reason: String?)] {
    var marked: Set<String> = []
    return one.steps.map { step in
      let op = step["op"]?.string ?? ""
      let name = step["object"]?.string ?? step["bind"]?.string ?? ""
      switch op {
      case "insert", "willUpdate": marked.insert(name)
      case "save", "reopen": marked = []
      case "setField" where !marked.contains(name):
        return (step, "every change is tracked, so there are no untracked changes")
      default: break
      }
      return (step, reasons[op])
    }
  }

  private static let reasons: [String: String] = [
    "classID": "classes are identified by collection name and have no numbers",
    "note": "a helper of the original that dictionaries replace in Swift",
  ]
}
