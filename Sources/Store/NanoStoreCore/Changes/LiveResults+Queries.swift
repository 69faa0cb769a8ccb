// SPDX-License-Identifier: MIT

public import NanoDocument

extension LiveResults where Element: Sendable {
  /// Creates live results of a query.
  ///
  /// ```swift
  /// let names = LiveResults(people.find().updates(as: Name.self), loading: .immediately)
  /// names.elements                        // already loaded
  /// ```
  ///
  /// - Parameters:
  ///   - updates: What `updates()` or `updates(as:)` of a query returns.
  ///   - loading: When the query is first evaluated.
  ///   - interval: The minimum time between two evaluations, at most a day. A burst of commits leads
  ///     to one update per interval; the last state always arrives.
  ///   - isolation: The actor that the results belong to.
  public convenience init(
    _ updates: DocumentUpdates<Element>, loading: LiveLoading = .inBackground,
    interval: Duration = .milliseconds(16), isolation: isolated any Actor = #isolation
  ) {
    self.init(LiveSource(updates), loading: loading, interval: interval, isolation: isolation)
  }

  /// Changes the query, for example to another condition, order or page.
  ///
  /// ```swift
  /// results.change(to: people.find(condition).updates())
  /// ```
  ///
  /// The elements remain until those of the new query exist. A result of the former query does not
  /// arrive any more.
  public func change(to updates: DocumentUpdates<Element>) { change(to: LiveSource(updates)) }
}

extension LiveResults where Element == Document {
  /// Creates live results of a query over documents.
  ///
  /// ```swift
  /// let adults = LiveResults(try people.find("[age] > 30").sorted(by: "name"))
  /// ```
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - loading: When the query is first evaluated.
  ///   - interval: The minimum time between two evaluations, at most a day.
  ///   - isolation: The actor that the results belong to.
  public convenience init(
    _ query: DocumentQuery, loading: LiveLoading = .inBackground,
    interval: Duration = .milliseconds(16), isolation: isolated any Actor = #isolation
  ) {
    self.init(query.updates(), loading: loading, interval: interval, isolation: isolation)
  }

  /// Changes the query; the elements remain until those of the new query exist.
  public func change(to query: DocumentQuery) { change(to: query.updates()) }
}

extension LiveResults {
  /// Returns the elements in sections with equal keys, in the order of their first appearance.
  ///
  /// ```swift
  /// for section in people.sections(by: \.city) { print(section.id, section.elements.count) }
  /// ```
  ///
  /// - Throws: The error of the closure.
  public func sections<Key: Hashable>(
    by key: (Element) throws -> Key
  ) rethrows -> [LiveSection<Key, Element>] {
    var sections: [LiveSection<Key, Element>] = []
    var positions: [Key: Int] = [:]
    for element in elements {
      let id = try key(element)
      if let position = positions[id] {
        sections[position].elements.append(element)
      } else {
        positions[id] = sections.count
        sections.append(LiveSection(id: id, elements: [element]))
      }
    }
    return sections
  }
}

/// Elements of a list that have the same key.
public struct LiveSection<Key: Hashable, Element>: Identifiable {
  /// The key of all its elements, unique in its list of sections.
  public let id: Key
  /// The elements, in the order of the list.
  public fileprivate(set) var elements: [Element]
}

extension LiveSection: Sendable where Key: Sendable, Element: Sendable {}
