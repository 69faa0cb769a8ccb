// SPDX-License-Identifier: MIT

import HTTPTypes
import Logging
import NanoDocument
package import NanoStoreCore
import NanoSync

/// Responds to requests of the replication protocol, independent of the server that receives them.
package final class SyncHandler: Sendable {
  let configuration: SyncServerConfiguration
  let databases: ServedDatabases
  let authentication: Authentication
  let crossOrigin: CrossOrigin
  let limiter: RateLimiter?
  let metrics = SyncMetrics()
  /// Identifies the server while it runs.
  let uuid = RandomID.text()

  package init(_ stores: [Store], _ configuration: SyncServerConfiguration) {
    self.configuration = configuration
    databases = ServedDatabases(stores, configuration.databases)
    // A cookie of another site is sent to the server only if it says so, which takes an encrypted connection.
    let isShared = configuration.tls != nil && configuration.allowedOrigins != .none
    authentication = Authentication(
      authenticate: configuration.authenticate,
      sessions: SessionTokens(
        secret: configuration.sessionSecret, lifetime: configuration.sessionLifetime,
        attributes: isShared
          ? "; Secure; SameSite=None"
          : configuration.tls != nil ? "; Secure; SameSite=Lax" : "; SameSite=Lax"))
    crossOrigin = CrossOrigin(origins: configuration.allowedOrigins)
    limiter = configuration.rateLimit.map { RateLimiter($0) }
  }

  /// Ends all feeds, which have no end of their own.
  package func shutDown() { databases.end() }

  /// Allows feeds after ``shutDown()``.
  package func begin() { databases.begin() }

  /// Returns the response to a request, which may be an error. The body of a response to `HEAD` is empty.
  package func respond(to request: SyncRequest) async -> SyncResponse {
    let start = ContinuousClock.now
    var response: SyncResponse
    do {
      response = try await checkedResponse(to: request)
    } catch {
      response = failure(error, request)
    }
    crossOrigin.add(to: &response, for: request)
    if request.method == "HEAD" { response.removeBody() }
    let duration = ContinuousClock.now - start
    metrics.count(request, response, duration)
    configuration.logger.debug(
      "Request",
      metadata: [
        "method": "\(request.method)", "database": "\(Self.loggedDatabase(request))",
        "endpoint": "\(SyncMetrics.endpoint(request))", "status": "\(response.status)",
        "duration": "\(duration)",
      ])
    return response
  }

  private func checkedResponse(to request: SyncRequest) async throws -> SyncResponse {
    if let response = crossOrigin.preflight(request) { return response }
    try requireOwnHost(request)
    // Counted before the login is checked, so that passwords are not tried faster than the limit. Clients of unknown
    // addresses count together.
    let address = request.address.map { "address \($0)" } ?? "address"
    if let response = tooMany(address) { return response }
    let identity = try await authentication.user(of: request)
    if let name = identity.user?.name {
      // Users behind one proxy share its address.
      limiter?.discount(address)
      if let response = tooMany("user \(name)") { return response }
    }
    var response = try await respond(to: Call(request: request, identity: identity))
    if let cookie = identity.cookie, response.headers[.setCookie] == nil {
      response.headers[.setCookie] = cookie
    }
    return response
  }

  /// A page of another site can reach a server of this machine under a name of that site, which it resolves to this
  /// machine's address. Without authentication, nothing else distinguishes it.
  private func requireOwnHost(_ request: SyncRequest) throws(ProtocolError) {
    guard configuration.authenticate == nil, let authority = request.header("Host") else { return }
    var name = authority.lowercased()
    if let bracket = name.lastIndex(of: "]") {
      name = String(name[...bracket])
    } else if let colon = name.lastIndex(of: ":") {
      name = String(name[..<colon])
    }
    let isAddress =
      name.hasPrefix("[") || name.allSatisfy { $0.isNumber || $0 == "." }
    guard
      isAddress || name == "localhost" || name.hasSuffix(".localhost")
        || configuration.hostNames.contains(where: { $0.lowercased() == name })
    else {
      throw ProtocolError(421, "misdirected_request", "The request is for another host.")
    }
  }

  private func tooMany(_ client: String) -> SyncResponse? {
    guard let seconds = limiter?.secondsToWait(client) else { return nil }
    var response = SyncResponse.error(
      ProtocolError(429, "too_many_requests", "Too many requests; try again later."))
    response.headers[.retryAfter] = "\(seconds)"
    return response
  }

  /// The name of the database of a request. What is none could have line ends, and forge entries of the log.
  static func loggedDatabase(_ request: SyncRequest) -> String {
    request.path.first.flatMap { ServedDatabases.isValid($0) ? $0 : nil } ?? ""
  }

  private func failure(_ error: any Error, _ request: SyncRequest) -> SyncResponse {
    let answer = ProtocolError(reporting: error)
    if answer.status >= 500 {
      configuration.logger.error(
        "A request failed",
        metadata: [
          "method": "\(request.method)", "database": "\(Self.loggedDatabase(request))",
          "status": "\(answer.status)", "error": "\(error)",
        ])
    }
    var response = SyncResponse.error(answer)
    if answer.status == 503 { response.headers[.retryAfter] = "1" }
    if let allowed = answer.allowed { response.headers[.allow] = allowed }
    return response
  }
}

/// A request with the user who sent it.
struct Call {
  let request: SyncRequest
  let identity: Authentication.Result

  /// - Throws: ``ProtocolError`` with status 401.
  func user() throws(ProtocolError) -> SyncUser {
    guard let user = identity.user else {
      throw ProtocolError(401, "unauthorized", "You are not authorized to access this db.")
    }
    return user
  }

  func requireAdministrator() throws(ProtocolError) {
    guard identity.user?.isAdministrator == true else {
      throw ProtocolError(401, "unauthorized", "You are not a server admin.")
    }
  }

  /// - Throws: ``ProtocolError`` with status 405 unless the method is one of these.
  func require(_ methods: String...) throws(ProtocolError) {
    guard methods.contains(request.verb) else { throw MethodNotAllowed.error(methods) }
  }
}

enum MethodNotAllowed {
  static func error(_ methods: [String]) -> ProtocolError {
    var list = methods
    // In CouchDB's order.
    if list == ["GET", "POST"] {
      list.append("HEAD")
    } else if let index = list.firstIndex(of: "GET") {
      list.insert("HEAD", at: index + 1)
    }
    let allowed = list.joined(separator: ",")
    return ProtocolError(
      405, "method_not_allowed", "Only \(allowed) allowed", allowed: allowed)
  }
}

extension ProtocolError {
  /// Returns the error that a client receives, without data of others.
  init(reporting error: any Error) {
    switch error {
    case let error as ProtocolError: self = error
    case let error as StoreError: self.init(error)
    case let error as SyncRejection:
      self.init(error.status, error.status == 401 ? "unauthorized" : "forbidden", error.reason)
    case let error as MultipartReader.Malformed:
      self = .badRequest("Malformed multipart message: \(error.reason).")
    case is CancellationError:
      self.init(503, "service_unavailable", "The request was canceled.")
    default: self.init(500, "internal_server_error", "The request failed.")
    }
  }
}

extension SyncResponse {
  /// Makes the response that of `HEAD`.
  fileprivate mutating func removeBody() {
    switch body {
    case .bytes(let bytes): if status != 304 { headers[.contentLength] = "\(bytes.count)" }
    case .stream(let stream): headers[.contentLength] = stream.length.map { "\($0)" }
    }
    body = .bytes([])
  }
}
