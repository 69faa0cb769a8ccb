// SPDX-License-Identifier: MIT

import NanoStore

/// The steps and cases of NanoStore that are not run, by reason. What a step requires decides, never the ID of the case.
enum NanoStoreDifferences {
  /// Returns why a case cannot be run; nil if it can. If steps are skipped, the remaining ones may only prepare the case.
  static func exclusion(_ testCase: AcceptanceCase) -> String? {
    let reasons = testCase.steps.map { reason($0, testCase) }
    let isChecked = zip(testCase.steps, reasons).contains { step, reason in
      reason == nil
        && (step["expect"]?.object ?? [:]).contains { !($0.name == "ok" && $0.value == true) }
    }
    return isChecked ? nil : reasons.lazy.compactMap(\.self).first
  }

  /// Returns why a step is skipped; nil if it is run.
  static func reason(_ step: DocumentObject, _ testCase: AcceptanceCase) -> String? {
    let op = step["op"]?.string ?? ""
    let expected = step["expect"]?.object ?? [:]
    if op == "indexes", expected["names"] != nil || expected["count"] == 6 {
      return "the original's six indexes of its two tables do not exist here"
    }
    if op == "global", step["name"] == "uuid", expected["pattern"] != nil {
      return "keys are lowercase version 7 UUIDs, which sort by time"
    }
    if isFailure(expected), hasNil(step) { return "Swift's types do not accept nil here" }
    if op == "objectState", expected["hasUnsavedChanges"] == false, isNew(step["object"], testCase)
    {
      return "a new document has unsaved changes, even if it is empty"
    }
    let objects = testCase.fields["objects"]?.object ?? [:]
    let items = step["items"]?.array ?? step["objects"]?.array ?? []
    let isInvalid = items.compactMap(\.string).contains { name in
      objects[name]?.object?["invalid"].map { !$0.isNull } ?? false
    }
    return isInvalid ? "Swift's types do not accept such an object" : nil
  }

  /// Returns whether the case creates an object and never adds it to the store.
  private static func isNew(_ object: DocumentValue?, _ testCase: AcceptanceCase) -> Bool {
    guard let object else { return false }
    return testCase.steps.contains { $0["op"] == "newObject" && $0["bind"] == object }
      && !testCase.steps.contains { $0["items"]?.array?.contains(object) == true }
  }

  private static func isFailure(_ expected: DocumentObject) -> Bool {
    expected["ok"] == false || ![nil, .null, false].contains(expected["error"])
  }

  /// Returns whether an argument of a step is nil, or contains nil.
  private static func hasNil(_ step: DocumentObject) -> Bool {
    step.contains { field in
      !["expect", "expectOriginal"].contains(field.name)
        && (field.value.isNull || field.value.array?.contains(.null) == true)
    }
  }
}
