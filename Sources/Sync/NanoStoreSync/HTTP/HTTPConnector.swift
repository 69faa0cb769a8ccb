// SPDX-License-Identifier: MIT

import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NanoDocument
import NanoSync
import Synchronization

/// Sends requests to a peer: with its credentials, compressed, within time limits; and follows redirects.
final class HTTPConnector: Sendable {
  let url: PeerURL
  let limits: HTTPLimits
  private let client: HTTPClient
  private let credentials: SyncCredentials
  private let state: Mutex<State>

  private struct State {
    /// The cookie of the session.
    var cookie: String?
    /// Whether the peer has no sessions.
    var lacksSessions = false
    var compression: Compression
  }

  private enum Compression {
    /// The peer was not asked to read a compressed body so far.
    case unknown
    case understood
    case off
  }

  /// The same number as in other clients.
  private static let maximumRedirects = 5

  init(
    _ url: PeerURL, _ credentials: SyncCredentials, _ client: HTTPClient, _ limits: HTTPLimits,
    compresses: Bool
  ) {
    self.url = url
    self.client = client
    self.limits = limits
    self.credentials =
      if credentials == .none, let user = url.user {
        .password(user: user.name, password: user.password)
      } else {
        credentials
      }
    state = Mutex(State(compression: compresses ? .unknown : .off))
  }

  /// Sends a request, and reads its answer.
  ///
  /// - Throws: ``PeerError`` if the peer cannot be reached, `CancellationError`, and the errors of the closure.
  func send<Result: Sendable>(
    _ call: HTTPCall, _ read: @escaping @Sendable (HTTPAnswer) async throws -> Result
  ) async throws -> Result {
    do {
      return try await ProgressWatch.watching { watch in
        try await read(try await self.answer(call, watch))
      }
    } catch {
      throw Self.converted(error)
    }
  }

  private static func converted(_ error: any Error) -> any Error {
    switch error {
    case _ where Task.isCancelled: CancellationError()
    case is PeerError, is StoreError, is ProgressWatch.Ended: error
    // A request was ended by the client, not by the task.
    case is CancellationError: PeerError(.unreachable, "The connection to the peer broke")
    case let error as HTTPClientError where error == .invalidURL || error == .emptyHost:
      PeerError(.refused, "The peer redirects to a URL that is not valid")
    // A body that ends early.
    case HTTPParserError.invalidEOFState:
      PeerError(.unreachable, "The connection to the peer broke")
    case is HTTPParserError: PeerError(.invalidAnswer, "The peer's answer is not HTTP")
    // Its text names the host at most.
    default: PeerError(.unreachable, "The peer cannot be reached: \(error)")
    }
  }

  // MARK: Authorization

  /// Returns the answer, after the session was renewed if it has ended.
  private func answer(_ call: HTTPCall, _ watch: ProgressWatch) async throws -> HTTPAnswer {
    guard call.isAuthorized else { return try await uncompressedIfRefused(call, nil, watch) }
    let authorization = try await authorization(watch)
    let answer = try await uncompressedIfRefused(call, authorization, watch)
    note(answer)
    guard answer.status == 401, let authorization, authorization.name == "Cookie" else {
      return answer
    }
    await answer.discard()
    state.withLock {
      if $0.cookie == authorization.value { $0.cookie = nil }
    }
    let renewed = try await uncompressedIfRefused(call, try await self.authorization(watch), watch)
    note(renewed)
    return renewed
  }

  private typealias Header = (name: String, value: String)

  private func authorization(_ watch: ProgressWatch) async throws -> Header? {
    guard case .session(let user, let password) = credentials else {
      return credentials.header.map { ("Authorization", $0) }
    }
    let (cookie, lacksSessions) = state.withLock { ($0.cookie, $0.lacksSessions) }
    if let cookie { return ("Cookie", cookie) }
    if !lacksSessions, let cookie = try await session(user, password, watch) {
      return ("Cookie", cookie)
    }
    return credentials.header.map { ("Authorization", $0) }
  }

  /// Starts a session, and returns its cookie; nil if the peer has no sessions.
  private func session(
    _ name: String, _ password: String, _ watch: ProgressWatch
  ) async throws -> String? {
    var call = HTTPCall(.POST, url.session, .form([("name", name), ("password", password)]))
    call.isAuthorized = false
    let answer = try await uncompressedIfRefused(call, nil, watch)
    if answer.status == 404 {
      await answer.discard()
      state.withLock { $0.lacksSessions = true }
      return nil
    }
    guard answer.isSuccess else { throw try await answer.failure() }
    await answer.discard()
    guard let cookie = Self.cookie(answer.headers) else {
      throw PeerError(
        .invalidAnswer, "The peer started a session without a cookie", status: answer.status)
    }
    state.withLock { $0.cookie = cookie }
    return cookie
  }

  /// Keeps the cookie by which a peer renews a session that is about to end.
  private func note(_ answer: HTTPAnswer) {
    guard case .session = credentials, answer.isSuccess,
      let cookie = Self.cookie(answer.headers)
    else { return }
    state.withLock { $0.cookie = cookie }
  }

  private static func cookie(_ headers: HTTPHeaders) -> String? {
    for value in headers["Set-Cookie"] {
      let pair = value.prefix { $0 != ";" }
      if pair.hasPrefix("AuthSession="), pair.utf8.count > "AuthSession=".utf8.count {
        return String(pair)
      }
    }
    return nil
  }

  // MARK: Compression

  /// Returns the answer to the compressed request, or to the same without compression if the peer does not understand it.
  private func uncompressedIfRefused(
    _ call: HTTPCall, _ authorization: Header?, _ watch: ProgressWatch
  ) async throws -> HTTPAnswer {
    let compression = state.withLock { $0.compression }
    guard compression != .off, case .json(let json) = call.body,
      let compressed = Gzip.compressed(json)
    else { return try await redirected(call, authorization, watch) }
    var smaller = call
    smaller.body = .json(compressed)
    smaller.headers.add(name: "Content-Encoding", value: "gzip")
    let answer = try await redirected(smaller, authorization, watch)
    if answer.isSuccess { state.withLock { $0.compression = .understood } }
    // Peers that ignore the encoding find no JSON.
    guard answer.status == 415 || answer.status == 400 && compression == .unknown else {
      return answer
    }
    await answer.discard()
    let plain = try await redirected(call, authorization, watch)
    if plain.status != 415, plain.status != 400 { state.withLock { $0.compression = .off } }
    return plain
  }

  // MARK: Redirects

  /// Returns the answer after the redirects of a request that only reads.
  private func redirected(
    _ call: HTTPCall, _ authorization: Header?, _ watch: ProgressWatch
  ) async throws -> HTTPAnswer {
    var call = call
    for _ in 0..<Self.maximumRedirects {
      let isOurs = Redirect.origin(call.url) == url.origin
      let answer = try await answerOnce(call, isOurs ? authorization : nil, watch)
      guard [301, 302, 303, 307, 308].contains(answer.status), call.method == .GET,
        let location = answer.headers.first(name: "Location"),
        let target = Redirect.target(location, of: call.url)
      else { return answer }
      await answer.discard()
      call.url = target
    }
    throw PeerError(.refused, "The peer redirects too often")
  }

  // MARK: The exchange

  private func answerOnce(
    _ call: HTTPCall, _ authorization: Header?, _ watch: ProgressWatch
  ) async throws -> HTTPAnswer {
    var request = HTTPClientRequest(url: call.url)
    request.method = call.method
    request.headers = call.headers
    request.headers.add(name: "User-Agent", value: "NanoStore")
    if let authorization {
      request.headers.add(name: authorization.name, value: authorization.value)
    }
    let patience = call.patience == .writing ? limits.writing : limits.silence
    switch call.body {
    case .json(let bytes) where bytes.count <= PiecewiseBytes.length:
      request.body = .bytes(ByteBuffer(bytes: bytes))
    case .json(let bytes):
      request.body = .stream(
        WatchedBody(base: PiecewiseBytes(bytes: bytes), watch: watch, patience: patience),
        length: .known(Int64(bytes.count)))
    case .form(let fields):
      let text = fields.map { "\($0)=\(PeerURL.encoded($1))" }.joined(separator: "&")
      request.body = .bytes(ByteBuffer(string: text))
    case .multipart(let body):
      request.body = .stream(
        WatchedBody(base: body, watch: watch, patience: patience), length: .known(body.length))
    case nil: break
    }
    watch.wait(atMost: patience)
    defer { watch.stop() }
    let response = try await client.execute(request, deadline: .distantFuture)
    return HTTPAnswer(response, watch, silence: limits.silence)
  }
}
