// SPDX-License-Identifier: MIT

import NanoDocument

extension ContractCheck {
  /// Checks that names are sorted, each once.
  func requireSorted<Element>(
    _ elements: [Element], by name: (Element) -> String
  ) -> [Element] {
    let isSorted = zip(elements, elements.dropFirst()).allSatisfy { name($0).isBefore(name($1)) }
    require(isSorted, .notSorted)
    return elements
  }

  /// Checks a number of results of a query.
  func requireCount(_ count: Int, limit: Int?) -> Int {
    require(count >= 0, .negativeCount)
    if let limit { require(count <= limit, .beyondLimit) }
    return count
  }

  /// Returns a progress closure that checks its values.
  func progress(_ progress: @escaping (Double) throws -> Void) -> (Double) throws -> Void {
    { done in
      self.require((0...1).contains(done), .progressOutOfRange)
      try self.callerClosure { try progress(done) }
    }
  }
}

/// The keys of a call that reads documents by key, each of which may be passed once.
struct RequestedKeys {
  private let check: ContractCheck
  private let requested: Set<DocumentKey>
  private var remaining: Set<DocumentKey>

  init(_ keys: [DocumentKey], _ check: ContractCheck) {
    self.check = check
    requested = Set(keys)
    remaining = requested
  }

  mutating func receive(_ document: StoredDocument) {
    guard let key = document.key, requested.contains(key) else {
      return check.report(.wrongDocument)
    }
    check.require(remaining.remove(key) != nil, .repeatedDocument)
  }
}

extension StoredDocument {
  /// Returns whether the document has this identity.
  func has(_ identity: Identity) -> Bool {
    switch identity {
    case .key(let key): self.key == key
    case .rowID(let id): rowID == id
    }
  }
}

extension StoredNames {
  /// Returns whether documents can be stored in a collection of this name.
  static func isAcceptable(_ collection: String) -> Bool {
    let description = CollectionDescription(name: collection, isInternal: true)
    return (try? validate(description)) != nil
  }
}
