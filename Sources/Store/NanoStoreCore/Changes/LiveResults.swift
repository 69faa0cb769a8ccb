// SPDX-License-Identifier: MIT

public import Observation

/// When new live results are first evaluated.
public enum LiveLoading: Sendable, Hashable {
  /// On a thread of the store. Until then, there are no elements and `isLoading` is true.
  case inBackground
  /// In the initializer, on the caller's thread: the first frame already shows the elements. An
  /// error goes to `error`.
  case immediately
}

/// The results of a query as an observable list that a user interface can hold.
///
/// ```swift
/// @MainActor final class Adults {
///   let people: LiveResults<Document>
///   init(_ store: Store) throws {
///     people = LiveResults(try store["people"].find("[age] > 30").sorted(by: "name"))
///   }
/// }
/// // A view that reads `adults.people.elements` is updated after each commit that changes them.
/// ```
///
/// Observers are notified only if what they read has changed: a commit that leaves the content of
/// the elements equal notifies none of them, even if it saved the same documents again. All
/// properties have their new values before the first notification.
///
/// It belongs to the actor that creates it and cannot leave it; code outside of an actor cannot
/// create one. It is active until it is released. Unlike a loop over ``DocumentUpdates``, it
/// survives errors: it keeps its elements and evaluates its query again after the next commit that
/// may change them, and by itself after an error that is
/// ``/NanoDocument/StoreError/isRetryable``. If the store is closed, it keeps its elements and ends;
/// ``load()`` resumes it after ``Store/reopen()``.
public final class LiveResults<Element>: Observable {
  /// What an update can change; separate from the registrar, so that everything is in place before
  /// the first notification.
  struct State {
    var elements: [Element] = []
    var isLoading = true
    var error: (any Error)?
    var difference = DocumentDifference(from: [], to: [])
    /// The basis of the next difference; nil before the first result.
    var basis: LiveBasis?
  }
  var state = State()
  var source: LiveSource<Element>
  /// Whether the elements are those of a former source.
  var isChangedQuery = false
  /// Nil while paused, and after the end.
  var subscription: LiveSubscription?
  private var isIdle = false
  private let interval: Duration
  private let registrar = ObservationRegistrar()
  /// Not retained, because the actor may own the results.
  private weak var actor: (any Actor)?

  /// The longest interval. Arbitrary, and far from the limits of the clock.
  private static var maximumInterval: Duration { .seconds(86_400) }

  package init(
    _ source: LiveSource<Element>, loading: LiveLoading = .inBackground,
    interval: Duration = .milliseconds(16), isolation: isolated any Actor = #isolation
  ) {
    self.source = source
    self.interval = Swift.min(Swift.max(interval, .zero), Self.maximumInterval)
    actor = isolation
    switch loading {
    case .inBackground: subscribe()
    case .immediately: try? load()
    }
  }

  deinit { subscription?.end() }

  /// The current results, in order; empty until the first result.
  ///
  /// Documents may be replaced without a notification by newer ones with equal content, whose
  /// revision is higher.
  public var elements: [Element] {
    registrar.access(self, keyPath: \.elements)
    return state.elements
  }

  /// The number of elements. Its observers are not notified if only the content changes.
  public var count: Int {
    registrar.access(self, keyPath: \.count)
    return state.elements.count
  }

  /// Whether the elements are not yet those of the query: until the first result or error, and
  /// again after `change(to:)`.
  public var isLoading: Bool {
    registrar.access(self, keyPath: \.isLoading)
    return state.isLoading
  }

  /// The error of the last evaluation; nil after a successful one. The elements remain.
  ///
  /// It is a ``StoreError`` or an error of decoding. ``StoreError/Code/closed`` means that the store
  /// was closed before; ``StoreError/Code/unsupported``, that the engine does not report commits.
  public var error: (any Error)? {
    registrar.access(self, keyPath: \.error)
    return state.error
  }

  /// The difference from the previous elements to the current ones, for lists that are updated by
  /// positions.
  ///
  /// Only the last difference is kept. An observer that may miss an update compares for itself.
  public var difference: DocumentDifference {
    registrar.access(self, keyPath: \.difference)
    return state.difference
  }

  /// Whether updates are suspended, for example off screen; false at the beginning.
  ///
  /// While it is true, commits cost nothing. When it becomes false, the query is evaluated again in
  /// the background, with at most one notification.
  public var isPaused: Bool {
    get {
      registrar.access(self, keyPath: \.isPaused)
      return isIdle
    }
    set {
      guard newValue != isIdle else { return }
      isIdle = newValue
      if newValue { unsubscribe() } else { subscribe() }
      notify(\.isPaused)
    }
  }

  /// Evaluates the query immediately, on this thread.
  ///
  /// ```swift
  /// try results.load()
  /// table.reloadData()                     // results.elements is current
  /// ```
  ///
  /// It also works while paused, and resumes results that ended with their store. Inside a read block of the store, it
  /// shows the state of the block, and inside a write block, or one that sees buffered saves, what is committed.
  ///
  /// - Throws: The errors of the query, such as ``StoreError/Code/closed``; ``StoreError/Code/invalidArgument`` inside a block
  ///   with writes of a store in memory, or without a write-ahead log. The elements remain, and the error is in ``error``.
  public func load() throws {
    unsubscribe()
    let next = LiveSubscription(source.evaluator)
    defer { if isIdle || subscription !== next { next.end() } }
    let outcome: LiveOutcome
    do {
      // Registered before the read, so that no commit is missed.
      if !isIdle { try next.start() }
      outcome = next.evaluateNow()
      if !isIdle { run(next, isLoaded: true) }
      if outcome.isRetryable { next.signal.invalidate() }
    } catch {
      outcome = .failure(error)
      if !isIdle, outcome.isRetryable { run(next, isLoaded: false) }
    }
    if let failure = receive(outcome) { throw failure }
  }

  /// Evaluates the query again in the background, within the interval, unless paused.
  package func invalidate() {
    guard !isIdle else { return }
    if let subscription { subscription.signal.invalidate() } else { subscribe() }
  }

  /// Replaces the source and keeps the elements until those of the new source exist.
  package func change(to source: LiveSource<Element>) {
    unsubscribe()
    (self.source, isChangedQuery) = (source, true)
    let wasLoading = state.isLoading
    state.isLoading = true
    if !isIdle { subscribe() }
    if !wasLoading { notify(\.isLoading) }
  }
}

extension LiveResults {
  private func subscribe() { run(LiveSubscription(source.evaluator), isLoaded: false) }

  private func unsubscribe() {
    subscription?.end()
    subscription = nil
  }

  private func run(_ next: LiveSubscription, isLoaded: Bool) {
    subscription = next
    let receiver = LiveReceiver(self, on: actor)
    next.run(interval, isLoaded: isLoaded) { sender, outcome in
      await receiver.perform { results in
        // A former subscription may have had a result before it was ended.
        if results.subscription === sender { results.receive(outcome) }
      }
    }
  }

  func notify(_ keyPath: KeyPath<LiveResults, some Any>) {
    // The new value is in place: who reads it in the handler of `withObservationTracking`, which
    // `willSet` calls, expects it.
    registrar.willSet(self, keyPath: keyPath)
    registrar.didSet(self, keyPath: keyPath)
  }
}

// @unchecked: `results` is used only on the actor that it belongs to; loading a weak reference is atomic.
private final class LiveReceiver<Element>: @unchecked Sendable {
  private weak var results: LiveResults<Element>?
  private weak var actor: (any Actor)?

  init(_ results: LiveResults<Element>, on actor: (any Actor)?) {
    self.results = results
    self.actor = actor
  }

  /// Calls a closure with the results on their actor, unless they have been released.
  func perform(_ work: @escaping @Sendable (LiveResults<Element>) -> Void) async {
    guard let actor else { return }
    await perform(work, on: actor)
  }

  private func perform(
    _ work: @Sendable (LiveResults<Element>) -> Void, on actor: isolated any Actor
  ) {
    if let results { work(results) }
  }
}
