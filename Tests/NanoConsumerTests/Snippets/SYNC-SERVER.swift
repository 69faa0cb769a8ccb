import NanoStore
import NanoStoreServer

struct Accounts: Sendable {
  func verify(_ name: String, _ password: String) async throws -> Bool { true }
  func roles(of name: String) async throws -> [String] { [] }
  func user(withToken token: String) async throws -> SyncUser? { nil }
}

let accounts = Accounts()
