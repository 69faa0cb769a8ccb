// SPDX-License-Identifier: MIT

import NanoStore

/// Bags among the results of searches.
///
/// The original stored a bag as a document with its class and three attributes, so its searches also found bags. Here
/// bags are not in the collection of documents.
extension NanoStoreCaseRunner {
  /// A document or a bag that a search may find.
  private struct Candidate {
    /// What the criteria apply to.
    let content: Document
    /// What is sorted and returned.
    let result: Document
  }

  /// Returns the documents and bags in the store that a search finds.
  func found(by search: Search) throws -> [Document] {
    // Before a merge, so that the library checks the limits.
    let documents = try search.documents(in: objects)
    let keys = try search.keys(in: objects)
    guard keys == documents.compactMap(\.key) else { throw failure("keys and documents differ") }
    let uncut = Self.uncut(search)
    let bags = try candidates(uncut)
    guard !bags.isEmpty else { return documents }
    let all = try uncut.documents(in: objects).map { Candidate(content: $0, result: $0) } + bags
    let ordered = sorted(all, by: search.orderings) { $0.result[$1] ?? .null }
    let page: [Document]
    if search.groupsValues {
      var grouping = search
      grouping.fields = []
      let kept = try grouping.grouped { visit in
        for candidate in ordered { try visit(candidate.content) }
      }
      let keptKeys = Set(kept.compactMap(\.key))
      page = ordered.filter { keptKeys.contains($0.content.key ?? "") }.map(\.result)
    } else {
      let limit = search.limit.flatMap { $0 > 0 ? $0 : nil } ?? ordered.count
      page = ordered.dropFirst(search.offset).prefix(limit).map(\.result)
    }
    guard !search.fields.isEmpty else { return page }
    return try page.map { try $0.selecting(search.fields.map { FieldPath($0) }) }
  }

  /// Returns the criteria of a search alone, because documents and bags are sorted and cut together.
  private static func uncut(_ search: Search) -> Search {
    var uncut = search
    uncut.orderings = []
    uncut.groupsValues = false
    uncut.limit = nil
    uncut.offset = 0
    uncut.fields = []
    return uncut
  }

  /// Returns the saved bags that a search finds.
  private func candidates(_ search: Search) throws -> [Candidate] {
    let bags = try store.bags()
    guard !bags.isEmpty else { return [] }
    var inTime: Set<String>?
    if let added = search.added {
      inTime = Set(try store.findBags(Search(added: added).condition).keys())
    }
    var criteria = search
    criteria.added = nil
    let matcher = try ConditionMatcher(criteria.condition)
    return try bags.compactMap { bag in
      guard inTime?.contains(bag.key) != false else { return nil }
      let content = try Document(storedContent(of: bag), key: bag.key, type: "bag")
      let matches = try content.withBytes { bytes in
        try matcher.holds(for: bytes) { attribute in
          switch attribute {
          case .key: .string(bag.key)
          case .type: "bag"
          default: .null
          }
        }
      }
      return matches ? Candidate(content: content, result: try document(of: bag)) : nil
    }
  }

  /// Returns the content of the document as which the original stored a bag.
  func storedContent(of bag: Bag) throws -> DocumentObject {
    let names = ["name": "Name", "key": "NSFKey", "members": "NSFObjectKeys"]
    return DocumentObject(
      try bag.representation().map { field in
        ("NSF_Private_NSFNanoBag_\(names[field.name] ?? field.name)", field.value)
      })
  }

  /// Returns the properties of a bag that results are sorted and projected by.
  func document(of bag: Bag) throws -> Document {
    try Document(
      ["name": bag.name.map { .string($0) } ?? .null, "key": .string(bag.key)],
      key: bag.key, type: "bag")
  }

  /// Returns the elements in the order of a search; equal ones stay in their order.
  func sorted<Element>(
    _ elements: [Element], by orderings: [SearchOrdering],
    _ value: (Element, String) -> DocumentValue
  ) -> [Element] {
    elements.enumerated().sorted { a, b in
      for ordering in orderings {
        let order = ValueOrder.compare(
          value(a.element, ordering.attribute), value(b.element, ordering.attribute))
        if order != 0 { return (order < 0) == ordering.ascending }
      }
      return a.offset < b.offset
    }.map(\.element)
  }
}

/// Contents of which only some attributes are returned.
extension NanoStoreCaseRunner {
  /// Returns the values at these paths in the form of the original: a path through a list gives a list of the values in
  /// its elements instead of the elements.
  static func selecting(_ paths: [String], of object: DocumentObject) -> DocumentObject {
    var selected = DocumentObject()
    for path in paths {
      let names = FieldPath(path).components[...]
      var values: [DocumentValue] = []
      let isList = collect(.object(object), names, &values)
      guard let first = values.first else { continue }
      set(isList ? .array(values) : first, names, in: &selected)
    }
    return selected
  }

  /// Collects the values at a path, and returns whether it leads through a list.
  private static func collect(
    _ value: DocumentValue, _ names: ArraySlice<String>, _ values: inout [DocumentValue]
  ) -> Bool {
    guard let name = names.first else {
      values.append(value)
      return false
    }
    if let array = value.array {
      for element in array { _ = collect(element, names, &values) }
      return true
    }
    guard let inner = value.object?[name] else { return false }
    return collect(inner, names.dropFirst(), &values)
  }

  private static func set(
    _ value: DocumentValue, _ names: ArraySlice<String>, in object: inout DocumentObject
  ) {
    guard let name = names.first else { return }
    if names.count == 1 {
      object[name] = value
      return
    }
    // A list that was selected as a whole has the value already.
    guard object[name]?.array == nil else { return }
    var inner = object[name]?.object ?? [:]
    set(value, names.dropFirst(), in: &inner)
    object[name] = .object(inner)
  }
}
