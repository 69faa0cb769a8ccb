// SPDX-License-Identifier: MIT

import NanoStore
import NanoTestSupport

/// Everything of the cases that is not played, by reason. What a step asks for decides, never which case it
/// is.
///
/// What is played differently, because it is different here:
/// - An object gets its row id when it is saved for the first time, and ids begin with 1. A step that asks for
///   row ids therefore saves, and 2 in a case is 1 here. They grow, each class has its own, none is used again.
/// - What is marked by `willUpdate` there is changed by changing it here: the step gives a property its own value.
/// - What is deleted and not saved is not among all objects; the context lists it as `deletedObjects`. A step
///   that asks for all adds those.
/// - A named value is stored at once by the store, and with all other changes by the context. Steps that say
///   "at once" ask the store.
/// - Removing a name that is not there is no error; a step that asks for one looks whether there is one.
/// - Undoing takes back the changes of one group; a step that inserts, marks or deletes begins one.
/// - A passphrase is given when a store is opened, so that a step that sets one opens the store anew. What would
///   show sealed texts and values goes before: the indexes of a plain store. Stores with a passphrase have no
///   text indexes.
/// - Which errors there are is looked at, not which number the original gave them.
enum Differences {
  /// Why a case cannot be played at all; nil if it can.
  static func exclusion(_ one: AcceptanceCase) -> String? {
    for step in one.steps {
      let op = step["op"]?.string ?? ""
      if op == "defineClass", !isDefined(step) { return undefinedClass }
      for (name, version) in step["current"]?.object ?? [:] where op == "upgradeNeeded" {
        let versions = Original.classes[name]?.count ?? 0
        if version.int.map({ $0 < 1 || $0 > versions }) ?? true { return undefinedClass }
      }
    }
    // Nothing is left but what prepares it.
    guard steps(one).contains(where: { $0.reason == nil && saysSomething($0.step) }) else {
      return steps(one).lazy.compactMap(\.reason).first ?? nothingSaid
    }
    return nil
  }

  private static let undefinedClass = "the program declares no class with these fields and version"
  private static let nothingSaid = "the case says nothing that could be checked"

  private static func isDefined(_ step: DocumentObject) -> Bool {
    let versions = Original.classes[step["name"]?.string ?? ""] ?? []
    let version = Int(step["version"]?.int ?? 1)
    guard versions.indices.contains(version - 1) else { return false }
    return (step["fields"]?.array ?? []).allSatisfy {
      versions[version - 1].hasField($0.array?.first?.string ?? "")
    }
  }

  private static func saysSomething(_ step: DocumentObject) -> Bool {
    (step["expect"]?.object ?? [:]).contains {
      !($0.name == "ok" && $0.value == true) && !isLeftOut($0.name, of: step)
    }
  }

  /// Expectations about what does not exist here: the original's error numbers, bytes of its files, and what
  /// its tables said of themselves beside the last row id.
  static func isLeftOut(_ field: String, of step: DocumentObject) -> Bool {
    if step["op"] == "rawMetadata" { return field != "present" && field != "lastRowID" }
    return field == "code" || field == "hex"
  }

  /// The steps of a case with the reason why one is left out.
  static func steps(_ one: AcceptanceCase) -> [(step: DocumentObject, reason: String?)] {
    var marked: Set<String> = []
    return one.steps.map { step in
      let op = step["op"]?.string ?? ""
      let name = step["object"]?.string ?? step["bind"]?.string ?? ""
      switch op {
      case "insert", "willUpdate": marked.insert(name)
      case "save", "reopen": marked = []
      case "setField" where !marked.contains(name):
        return (step, "every change is noticed, so that there is none without notice")
      default: break
      }
      return (step, reasons[op])
    }
  }

  private static let bytes = "the bytes of the original's files concern who reads such files"

  private static let reasons: [String: String] = [
    "write": bytes, "read": bytes, "readHex": bytes, "writeRecord": bytes, "readRecord": bytes,
    "rawRecord": bytes, "bufferFromBytes": bytes, "encryptBuffer": bytes,
    "decryptBuffer": bytes, "encryptRecord": bytes,
    "classID": "classes are known by the names of their collections and have no numbers",
    "setVersioning": "every document of a class with versions says its version",
    "note": "a helper of the original, in place of which Swift has dictionaries",
  ]
}
