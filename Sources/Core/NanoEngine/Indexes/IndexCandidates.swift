// SPDX-License-Identifier: MIT

package import NanoDocument
package import NanoQuery

/// The indexes that would serve a query.
///
/// ```swift
/// // [city] = ? AND [age] > ? ORDER BY [name]
/// condition  // city, age
/// order      // nil: a range comes before the order
/// ```
///
/// Conditions that no index serves (contains, patterns, expressions, NOT) yield no candidates, and a disjunction
/// yields them only if an index serves each of its branches.
package struct IndexCandidates: Sendable, Hashable {
  /// The candidates that together find the documents: one index, or one per branch of a disjunction.
  package var condition: [IndexCandidate] = []
  /// The candidate that finds the documents in the requested order.
  package var order: IndexCandidate?
  /// The part of the condition that ``condition`` covers, if it does not cover all of it.
  package private(set) var answered: Condition?

  /// Whether no index would serve the query.
  package var isEmpty: Bool { condition.isEmpty && order == nil }

  /// - Parameters:
  ///   - observed: Returns what is known about a path in all documents; `nil` if nothing is known.
  ///   - ordersText: Whether the database compares strings by code point.
  ///   - defaults: The values that queries use for fields that a document does not have; indexes contain stored
  ///     values only.
  package init(
    _ query: Query, ordersText: Bool = true, defaults: FieldDefaults? = nil,
    observed: @escaping (FieldPath) -> PathSummary?
  ) {
    let finder = CandidateFinder(ordersText: ordersText, defaults: defaults, observed: observed)
    let parts = Self.conjuncts(query.condition)
    let choice = finder.best(of: parts)
    condition = choice?.candidates ?? []
    order = finder.order(query, choice)
    if let choice, choice.used.count < parts.count {
      answered = choice.used.count == 1 ? choice.used[0] : .all(choice.used)
    }
  }

  /// Removes the candidates that existing indexes serve.
  package mutating func remove(servedBy indexes: [IndexDefinition]) {
    condition.removeAll { candidate in indexes.contains { candidate.isServed(by: $0) } }
    if let order, indexes.contains(where: { order.isServed(by: $0) }) { self.order = nil }
  }

  static func conjuncts(_ condition: Condition) -> [Condition] {
    switch condition {
    case .all(let parts): parts.flatMap(conjuncts)
    case .constant(true): []
    default: [condition]
    }
  }

  /// The maximum number of fields in one index. Arbitrary: a further field saves little, and each makes entries
  /// longer.
  static let maximumWidth = 4
}

/// How an index can serve one part of a condition.
private struct PartUse {
  enum Kind { case equality, list, range }
  var path: FieldPath
  var kind: Kind
  var isElements: Bool
  var part: Condition
}

/// The parts of a condition chosen for index use.
private struct Choice {
  var candidates: [IndexCandidate]
  var used: [Condition]
  /// Whether the index can also return its results in order: a single index, and no list of values.
  var canOrder: Bool
}

private struct CandidateFinder {
  let ordersText: Bool
  let defaults: FieldDefaults?
  let observed: (FieldPath) -> PathSummary?

  /// Prefers equality to ranges, since it usually matches fewer documents; scalar fields to elements, since a
  /// compound index serves several parts at once; and a disjunction only if nothing else can be used.
  func best(of parts: [Condition]) -> Choice? {
    let uses = parts.compactMap { part in
      asStored(part).flatMap(use).map { use in
        var use = use
        use.part = part
        return use
      }
    }
    let scalars = uses.filter { !$0.isElements }
    let equalities = scalars.filter { $0.kind != .range }
    let range = scalars.first { $0.kind == .range }
    let elements = uses.filter(\.isElements)
    if !equalities.isEmpty { return compound(equalities, scalars.filter { $0.kind == .range }) }
    if let element = elements.first(where: { $0.kind != .range }) { return single(element) }
    if let range { return compound([], [range]) }
    if let element = elements.first { return single(element) }
    return parts.lazy.compactMap(branches).first
  }

  private func asStored(_ condition: Condition) -> Condition? {
    guard let defaults else { return condition }
    return condition.asStored(defaults)
  }

  private func compound(_ equalities: [PartUse], _ ranges: [PartUse]) -> Choice {
    var paths: [FieldPath] = []
    for use in equalities where !paths.contains(use.path) { paths.append(use.path) }
    paths = Array(paths.prefix(IndexCandidates.maximumWidth))
    var used = equalities.filter { paths.contains($0.path) }.map(\.part)
    var tail = IndexCandidate.Tail.none
    let range = ranges.first { !paths.contains($0.path) }
    if let range, paths.count < IndexCandidates.maximumWidth {
      tail = .range(range.path)
      used.append(range.part)
    }
    return Choice(
      candidates: [IndexCandidate(equalities: paths, tail: tail)], used: used,
      // SQLite does not order by a column that follows one with both an equality and a range condition.
      canOrder: !equalities.contains { $0.kind == .list }
        && !ranges.contains { paths.contains($0.path) })
  }

  private func single(_ use: PartUse) -> Choice {
    Choice(
      candidates: [IndexCandidate(kind: .elements, equalities: [use.path])], used: [use.part],
      canOrder: false)
  }

  private func branches(_ part: Condition) -> Choice? {
    guard case .any(let branches)? = asStored(part), !branches.isEmpty else { return nil }
    // A branch already refers to stored values and must not be translated again.
    let stored = CandidateFinder(ordersText: ordersText, defaults: nil, observed: observed)
    var candidates: [IndexCandidate] = []
    for branch in branches {
      guard let choice = stored.best(of: IndexCandidates.conjuncts(branch)) else { return nil }
      for candidate in choice.candidates where !candidates.contains(candidate) {
        candidates.append(candidate)
      }
    }
    return Choice(candidates: candidates, used: [part], canOrder: false)
  }

  /// Returns a candidate for the ordering. An index provides an ordering only if it sorts as the query semantics
  /// require and if all matching documents are in one contiguous range of it.
  func order(_ query: Query, _ choice: Choice?) -> IndexCandidate? {
    guard !query.orderings.isEmpty, choice?.canOrder ?? true else { return nil }
    let found = choice?.candidates.first ?? IndexCandidate(equalities: [])
    var columns: [IndexDefinition.Column] = []
    for ordering in query.orderings {
      guard case .field(let path) = ordering.expression, isSortable(path) else { return nil }
      // A column with a single value for all results does not affect the order; a repeated column has no effect.
      guard !found.equalities.contains(path), !columns.contains(where: { $0.path == path }) else {
        continue
      }
      columns.append(IndexDefinition.Column(path, descending: ordering.descending))
    }
    if case .range(let path) = found.tail, columns.first?.path != path { return nil }
    guard !columns.isEmpty,
      found.equalities.count + columns.count <= IndexCandidates.maximumWidth
    else { return nil }
    return IndexCandidate(equalities: found.equalities, tail: .order(columns))
  }

  private func isSortable(_ path: FieldPath) -> Bool {
    guard path.isIndexable, defaults?.reaches(path) != true,
      let plain = observed(path)?.plainClass
    else { return false }
    return plain != .text || ordersText
  }
}

extension CandidateFinder {
  private func use(_ part: Condition) -> PartUse? {
    switch part {
    case .comparison(.field(let path), let comparison, .value(let value)),
      .comparison(.value(let value), let comparison, .field(let path)):
      guard let interval = comparison.interval, let lookUp = PathSummary.lookUp(value) else {
        return nil
      }
      return partUse(path, interval == .equal ? .equality : .range, [lookUp], part)
    case .between(.field(let path), .value(let low), .value(let high)):
      guard let lookUp = PathSummary.lookUp(low), lookUp == PathSummary.lookUp(high) else {
        return nil
      }
      return partUse(path, .range, [lookUp], part)
    case .membership(.field(let path), let list):
      var lookUps: [PathSummary.LookUp] = []
      for case .value(let value) in list {
        guard let lookUp = PathSummary.lookUp(value) else { return nil }
        lookUps.append(lookUp)
      }
      guard lookUps.count == list.count, list.count <= Self.maximumListCount else { return nil }
      return partUse(path, .list, lookUps, part)
    // The values are not known before the query runs; those of a related document's key are texts.
    case .related(let related):
      guard related.test == .exists, case .field(let path) = related.local else { return nil }
      let lookUp = observed(path)?.plainClass.map { PathSummary.LookUp.ordered($0) }
      return lookUp.flatMap { partUse(path, .list, [$0], part) }
    case .text(.field(let path), .beginsWith, .value(.string(let prefix))):
      guard !prefix.isEmpty, !prefix.utf8.contains(0) else { return nil }
      return partUse(path, .range, [.ordered(.text)], part)
    case .isNull(.field(let path)), .not(.exists(let path)):
      guard let partUse = partUse(path, .equality, [], part), !partUse.isElements else {
        return nil
      }
      return partUse
    default: return nil
    }
  }

  private func partUse(
    _ path: FieldPath, _ kind: PartUse.Kind, _ lookUps: [PathSummary.LookUp], _ part: Condition
  ) -> PartUse? {
    guard path.isIndexable, let facts = observed(path) else { return nil }
    let isFound = lookUps.allSatisfy {
      kind == .range ? facts.findsRange($0, ordersText: ordersText) : facts.findsEqual($0)
    }
    guard isFound, !facts.entersArray || path.canIndexElements else { return nil }
    return PartUse(path: path, kind: kind, isElements: facts.entersArray, part: part)
  }

  /// The maximum number of values that the SQLite engine looks up at once; longer lists are compared document by
  /// document.
  private static let maximumListCount = 16_383
}

extension FieldPath {
  /// Whether databases can name the field in a path: SQLite's path syntax has no escapes for quotes,
  /// backslashes, and control characters.
  var isIndexable: Bool {
    components.allSatisfy { name in
      !name.isEmpty && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }
    }
  }

  /// Whether an index on elements can serve the path: such an index contains the elements of every array,
  /// without their positions.
  var canIndexElements: Bool {
    !addressesElement
  }
}
