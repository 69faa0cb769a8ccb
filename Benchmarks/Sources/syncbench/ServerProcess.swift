// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A server in a process of its own, with a new file.
final class ServerProcess {
  private let process = Process()
  let url: String
  private let memory: MemoryWatch

  init(_ program: String, file: String, port: Int = 5986) async throws {
    url = "http://127.0.0.1:\(port)"
    process.executableURL = URL(filePath: program)
    process.arguments = [file, "--port", "\(port)", "--manage-databases"]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    memory = MemoryWatch("\(process.processIdentifier)")
    for _ in 0..<200 where await !isUp() { try await Task.sleep(for: .milliseconds(50)) }
    guard await isUp() else { throw ValidationError("The server does not answer at \(url).") }
  }

  private func isUp() async -> Bool {
    guard let url = URL(string: url + "/_up") else { return false }
    return (try? await URLSession.shared.data(from: url)) != nil
  }

  /// The most memory that the server has used so far, in kilobytes.
  var peak: Int? { memory.peak }

  func stop() {
    process.terminate()
    process.waitUntilExit()
  }
}
