// SPDX-License-Identifier: MIT

public import Observation

/// A value computed from a query's results that a user interface can hold: a count, aggregates,
/// groups or the first document.
///
/// ```swift
/// let unread = LiveValue(try mails.find("[read] = false").countUpdates())
/// // A view that reads `unread.value` is updated after each commit that changes the number.
/// ```
///
/// It has the guarantees of ``LiveResults``: it belongs to the actor that creates it, notifies only
/// the observers of what has changed, and survives errors.
public final class LiveValue<Value: Sendable>: Observable {
  private let results: LiveResults<Value>

  /// Creates a live value.
  ///
  /// - Parameters:
  ///   - updates: What `countUpdates()`, `aggregateUpdates(_:)` or `groupedUpdates(by:aggregates:)` of
  ///     a query returns.
  ///   - loading: When the query is first evaluated.
  ///   - interval: The minimum time between two evaluations, at most a day.
  ///   - isolation: The actor that the value belongs to.
  public init(
    _ updates: ValueUpdates<Value>, loading: LiveLoading = .inBackground,
    interval: Duration = .milliseconds(16), isolation: isolated any Actor = #isolation
  ) {
    results = LiveResults(
      LiveSource(updates), loading: loading, interval: interval, isolation: isolation)
  }

  /// Creates a live value of a query that may have no result, such as `firstUpdates()`.
  ///
  /// ```swift
  /// let latest = LiveValue(films.find().sorted(by: "-year").firstUpdates())
  /// latest.value?["title"]                // nil without films, or until it is loaded
  /// ```
  public init(
    _ updates: ValueUpdates<Value?>, loading: LiveLoading = .inBackground,
    interval: Duration = .milliseconds(16), isolation: isolated any Actor = #isolation
  ) {
    results = LiveResults(
      LiveSource(updates), loading: loading, interval: interval, isolation: isolation)
  }

  /// The current value; nil until the first result, and if the query has none.
  public var value: Value? { results.elements.first }

  /// Whether the value is not yet that of the query: until the first result or error, and again
  /// after `change(to:)`.
  public var isLoading: Bool { results.isLoading }

  /// The error of the last evaluation; nil after a successful one. The value remains.
  public var error: (any Error)? { results.error }

  /// Whether updates are suspended; see ``LiveResults/isPaused``.
  public var isPaused: Bool {
    get { results.isPaused }
    set { results.isPaused = newValue }
  }

  /// Evaluates the query immediately, on this thread; see ``LiveResults/load()``.
  ///
  /// - Throws: The errors of the query. The value remains, and the error is in ``error``.
  public func load() throws { try results.load() }

  /// Changes the query; the value remains until that of the new query exists.
  public func change(to updates: ValueUpdates<Value>) { results.change(to: LiveSource(updates)) }

  /// Changes the query to one that may have no result; the value remains until that of the new query
  /// exists.
  public func change(to updates: ValueUpdates<Value?>) { results.change(to: LiveSource(updates)) }
}
