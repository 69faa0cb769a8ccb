// SPDX-License-Identifier: MIT

import NanoDocument

/// What the elements were made from, to compare them with the next ones.
struct LiveBasis {
  let fingerprint: ResultFingerprint
  let store: ObjectIdentifier
  let collection: String
  let isCustom: Bool
  /// The identities of elements that do not correspond to the documents.
  var identities: [AnyHashable]?

  init(_ evaluator: LiveQueryEvaluator<any Sendable>, _ fingerprint: ResultFingerprint) {
    self.fingerprint = fingerprint
    store = ObjectIdentifier(evaluator.store)
    collection = evaluator.collection.foldingASCII
    isCustom = evaluator.isCustom
  }

  /// Whether row IDs refer to the same documents.
  private func hasSameDocuments(as old: LiveBasis) -> Bool {
    store == old.store && collection == old.collection
  }

  /// Returns the difference of the elements from older ones; nil if their content is equal.
  ///
  /// - Parameter isSameQuery: False after a change of the query. Closures of two queries can make
  ///   different values of equal documents.
  func difference(from old: LiveBasis, isSameQuery: Bool) -> DocumentDifference? {
    if let identities, let old = old.identities {
      guard identities != old else { return nil }
      return DocumentDifference(from: old, to: identities) { _, _ in false }
    }
    let isComparable = isSameQuery || (hasSameDocuments(as: old) && !isCustom && !old.isCustom)
    if isComparable, fingerprint.hasSameContent(as: old.fingerprint) { return nil }
    let (before, after) = (old.fingerprint.documents, fingerprint.documents)
    guard isSameQuery || hasSameDocuments(as: old) else {
      return DocumentDifference(replacing: before.count, with: after.count)
    }
    return DocumentDifference(from: before.map(\.rowID), to: after.map(\.rowID)) { from, to in
      !isComparable || !after[to].hasSameContent(as: before[from])
    }
  }
}

extension LiveResults {
  /// Stores an outcome, then notifies the observers of what it changed.
  ///
  /// - Returns: The error of the outcome.
  @discardableResult
  func receive(_ outcome: LiveOutcome) -> (any Error)? {
    var next = state
    next.isLoading = false
    var failure: (any Error)?
    var isChanged = false
    switch outcome {
    case .result(let result):
      do {
        isChanged = try accept(result, &next)
        next.error = nil
      } catch {
        failure = error
      }
    case .failure(let error): failure = error
    case .end: subscription = nil
    }
    if let failure { next.error = failure }
    let before = state
    state = next
    if isChanged {
      notify(\.elements)
      if before.elements.count != next.elements.count { notify(\.count) }
      notify(\.difference)
    }
    if !Self.isSame(before.error, next.error) { notify(\.error) }
    if before.isLoading != next.isLoading { notify(\.isLoading) }
    return failure
  }

  /// Stores a result in a state.
  ///
  /// - Returns: Whether the content of the elements changed.
  private func accept(_ result: LiveResult<any Sendable>, _ state: inout State) throws -> Bool {
    guard let value = result.value else { return false }
    let elements = try source.make(value)
    var basis = LiveBasis(source.evaluator, result.fingerprint)
    basis.identities = source.identify.map { elements.map($0) }
    defer {
      (state.elements, state.basis) = (elements, basis)
      isChangedQuery = false
    }
    let difference: DocumentDifference?
    if let old = state.basis {
      difference = basis.difference(from: old, isSameQuery: !isChangedQuery)
    } else if elements.isEmpty {
      difference = nil
    } else {
      difference = DocumentDifference(replacing: 0, with: elements.count)
    }
    if let difference { state.difference = difference }
    return difference != nil
  }

  /// Whether an error says the same as an older one, so that an error that persists is not reported
  /// after each commit.
  private static func isSame(_ error: (any Error)?, _ other: (any Error)?) -> Bool {
    switch (error, other) {
    case (nil, nil): true
    case (let error?, let other?):
      type(of: error) == type(of: other) && String(reflecting: error) == String(reflecting: other)
    default: false
    }
  }
}
