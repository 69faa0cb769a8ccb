// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync

/// A request to a database by a user who may read it.
struct Access {
  let call: Call
  let user: SyncUser
  let served: ServedDatabase
  let canWrite: Bool
  /// Whether the user administers this database.
  let isAdministrator: Bool
  let rules: SyncRules

  var request: SyncRequest { call.request }

  func requireWriting() throws(ProtocolError) {
    guard canWrite else {
      throw ProtocolError(403, "forbidden", "You are not allowed to write to this db.")
    }
  }

  static let notAdministrator = ProtocolError(
    403, "forbidden", "You are not a db or server admin.")

  func requireAdministrator() throws(ProtocolError) {
    guard isAdministrator else { throw Self.notAdministrator }
  }

  /// Which revisions the user may read; a value, since streams outlive the request.
  var visibility: Visibility {
    Visibility(user: user, database: served.name, isVisible: rules.isVisible)
  }

  /// What checks each write.
  var validation: WriteValidation? {
    let (user, database, validate) = (user, served.name, rules.validate)
    let isAdministrator = isAdministrator
    return { old, new in
      if new.id.hasExactPrefix("_design/"), !isAdministrator { throw Self.notAdministrator }
      guard let validate else { return }
      do {
        try validate(
          user,
          SyncWrite(
            database: database, old: old.map { SyncRevision($0) }, new: SyncRevision(new)))
      } catch let error as SyncRejection {
        throw ProtocolError(reporting: error)
      } catch {
        throw ProtocolError(403, "forbidden", "The document was rejected.")
      }
    }
  }
}

/// Which revisions a user may read.
struct Visibility: Sendable {
  let user: SyncUser
  let database: String
  let isVisible: (@Sendable (SyncUser, String, SyncRevision) -> Bool)?

  var isLimited: Bool { isVisible != nil }

  /// What a write may take from other revisions; nil if all are visible.
  var permission: ReadPermission? {
    guard isLimited else { return nil }
    return { allows($0) }
  }

  func allows(_ document: SyncDocument) -> Bool {
    guard let isVisible else { return true }
    return isVisible(user, database, SyncRevision(document))
  }
}

extension SyncHandler {
  /// Finds the database of a request, and checks that the user may read it.
  func access(_ call: Call) async throws -> Access {
    let name = call.request.path[0]
    // The client learns first whether it has to log in, then whether the database exists.
    let user = try call.user()
    let rules = configuration.rules
    // Before the database is looked for, which sets a collection up.
    guard try await rules.canRead(user, name) else { throw Self.noAccess(user) }
    let served = try await databases.find(name)
    let security = SecurityObject(try await served.run { try $0.security() })
    let isAdministrator = user.isAdministrator || security.hasAdministrator(user)
    guard security.admits(user) else { throw Self.noAccess(user) }
    return Access(
      call: call, user: user, served: served, canWrite: try await rules.canWrite(user, name),
      isAdministrator: isAdministrator, rules: rules)
  }

  private static func noAccess(_ user: SyncUser) -> ProtocolError {
    user.name == nil
      ? ProtocolError(401, "unauthorized", "You are not authorized to access this db.")
      : ProtocolError(403, "forbidden", "You are not allowed to access this db.")
  }
}

/// The members and administrators of a database, as `_security` has them.
struct SecurityObject: Sendable {
  private let members: Group
  private let administrators: Group

  struct Group: Sendable {
    var names: [String]
    var roles: [String]

    init(_ value: DocumentValue?) {
      names = value?.object?["names"]?.array?.compactMap(\.string) ?? []
      roles = value?.object?["roles"]?.array?.compactMap(\.string) ?? []
    }

    func contains(_ user: SyncUser) -> Bool {
      roles.contains { role in user.roles.contains { $0.hasSameBytes(as: role) } }
        || user.name.map { name in names.contains { $0.hasSameBytes(as: name) } } ?? false
    }
  }

  init(_ object: DocumentObject) {
    members = Group(object["members"])
    administrators = Group(object["admins"])
  }

  /// Rejects an object that would be read as one without members, so that the database were open to everyone.
  static func check(_ object: DocumentObject) throws(ProtocolError) {
    for group in ["members", "admins"] {
      guard let value = object[group] else { continue }
      let lists = value.object.map { [$0["names"], $0["roles"]] }
      let isValid = lists?.allSatisfy { list in
        guard let list else { return true }
        return list.array?.allSatisfy { $0.string != nil } ?? false
      }
      guard isValid == true else {
        throw .badRequest(
          "`\(group)` must be an object with `names` and `roles`, arrays of strings.")
      }
    }
  }

  func hasAdministrator(_ user: SyncUser) -> Bool { administrators.contains(user) }

  /// Whether a user may read the database.
  func admits(_ user: SyncUser) -> Bool {
    user.isAdministrator || hasAdministrator(user) || hasMember(user)
  }

  /// Whether a user is a member; if there are none, everyone is.
  private func hasMember(_ user: SyncUser) -> Bool {
    members.names.isEmpty && members.roles.isEmpty || members.contains(user)
  }
}
