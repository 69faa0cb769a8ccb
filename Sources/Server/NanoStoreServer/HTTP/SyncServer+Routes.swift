// SPDX-License-Identifier: MIT

import HTTPTypes
public import Hummingbird
import HummingbirdCore

extension SyncServer {
  private static let methods = ["GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS", "COPY"]
    .compactMap { HTTPRequest.Method(rawValue: $0) }

  /// Adds the server to a router of Hummingbird, such as that of an application with other routes.
  ///
  /// ```swift
  /// let router = Router()
  /// server.addRoutes(to: router.group("sync"))   // http://127.0.0.1:8080/sync/notes
  /// ```
  ///
  /// ``SyncServerConfiguration/rateLimit`` distinguishes addresses of clients if the router's context conforms to
  /// Hummingbird's `RemoteAddressRequestContext`; otherwise, all requests without a user count together, and
  /// once they reach the limit, requests of users are refused, too.
  ///
  /// Address, port, encryption and the number of connections are the application's. Call ``shutDown()`` when the
  /// application stops, so that feeds end.
  public func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
    let responder = SyncResponder(handler: handler)
    let respond: @Sendable (Request, Context) async throws -> Response = { request, context in
      await responder.response(
        to: request,
        address: (context as? any RemoteAddressRequestContext)?.remoteAddress?.ipAddress,
        mounted: context.parameters.getCatchAll().count)
    }
    for method in Self.methods {
      router.on("", method: method, use: respond)
      router.on("**", method: method, use: respond)
    }
  }
}
