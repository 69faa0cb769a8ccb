// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import NanoServerCommand

@Suite("The file with the users of the server")
struct UserFileTests {
  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "nanostore-users-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func write(_ text: String, mode: Int = 0o600) throws -> String {
    let path = folder.appending(path: "users").path
    try Data(text.utf8).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    return path
  }

  @Test(
    "Lines end with LF or CR LF, and names and passwords are compared by bytes",
    arguments: ["\n", "\r\n"])
  func lines(ending: String) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let lines = ["\u{FEFF}# users", "", "ada:secret:_admin,staff", "bob:\u{301}b", "*:"]
    let users = try UserFile(path: write(lines.joined(separator: ending) + ending))

    let ada = users.user(.password(name: "ada", password: "secret"))
    #expect(ada?.name == "ada" && ada?.roles == ["_admin", "staff"])
    #expect(users.user(.password(name: "bob", password: "\u{301}b")) != nil)
    #expect(users.user(.password(name: "ada", password: "secret\r")) == nil)
    #expect(users.user(.none) != nil)
  }

  @Test(
    "A password for *, which would be ignored, is refused", arguments: ["*:secret", "*:s:_admin"])
  func passwordOfAll(line: String) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = try write("ada:secret\n\(line)\n")
    #expect(throws: UserFile.Problem.self) { try UserFile(path: path) }
    let open = try UserFile(path: write("*::staff\n"))
    #expect(open.user(.none)?.roles == ["staff"])
  }

  @Test(
    "A user without a password, and a name that has two lines, are refused",
    arguments: ["bob:", "bob::staff", "ada:other"])
  func ambiguousUsers(line: String) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = try write("ada:secret\n\(line)\n")
    #expect(throws: UserFile.Problem.self) { try UserFile(path: path) }
  }

  @Test("A file that others can read is refused, also behind a symbolic link")
  func permissions() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let link = folder.appending(path: "link").path
    let path = try write("ada:secret")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    #expect(throws: Never.self) { try UserFile(path: link) }
    _ = try write("ada:secret", mode: 0o644)
    #expect(throws: UserFile.Problem.self) { try UserFile(path: link) }
    #expect(throws: UserFile.Problem.self) { try UserFile(path: folder.path) }
  }
}
