// SPDX-License-Identifier: MIT

import Foundation
import NanoFuzzTargets
import Synchronization

/// The fuzzer.
///
/// `nanofuzz TARGET …` runs libFuzzer with its own arguments on a target. `nanofuzz list` lists the targets.
/// `nanofuzz unpack FILE FOLDER` and `nanofuzz pack FOLDER FILE` convert between a corpus file and libFuzzer's
/// folders.
@main
enum NanoFuzz {
  static func main() throws {
    let arguments = CommandLine.arguments
    // Child processes of libFuzzer get only its arguments.
    if let name = ProcessInfo.processInfo.environment[variable] {
      exit(fuzz(name, Array(arguments.dropFirst())))
    }
    switch (arguments.dropFirst().first, arguments.count) {
    case ("list", _): for target in FuzzTarget.all { print(target.name) }
    case ("unpack", 4): try unpack(arguments[2], into: arguments[3])
    case ("pack", 4): try pack(arguments[2], into: arguments[3])
    case (let name?, _): exit(fuzz(name, Array(arguments.dropFirst(2))))
    default: exit(64)
    }
  }

  private static let variable = "NANOFUZZ_TARGET"

  private static func unpack(_ file: String, into folder: String) throws {
    let file = URL(filePath: file)
    let origin = file.deletingLastPathComponent().lastPathComponent
    for (number, input) in try FuzzCorpus.inputs(in: file).enumerated() {
      try Data(input).write(to: URL(filePath: folder).appending(path: "\(origin)-\(number)"))
    }
  }

  private static func pack(_ folder: String, into file: String) throws {
    let text = try FuzzCorpus.text(FuzzCorpus.pack(URL(filePath: folder)))
    try Data(text.utf8).write(to: URL(filePath: file))
  }

  /// The selected target. libFuzzer calls a function without a context.
  private static let chosen = Mutex<FuzzTarget?>(nil)

  private static func fuzz(_ name: String, _ given: [String]) -> Int32 {
    guard let target = FuzzTarget.named(name) else {
      print("There is no target \(name)")
      return 64
    }
    chosen.withLock { $0 = target }
    setenv(variable, name, 1)
    var arguments: [UnsafeMutablePointer<CChar>?] =
      ([CommandLine.arguments[0]] + given + ["-max_len=\(target.maximumLength)"]).map { strdup($0) }
    var count = Int32(arguments.count)
    arguments.append(nil)
    return arguments.withUnsafeMutableBufferPointer { buffer in
      var start = buffer.baseAddress
      return runDriver(&count, &start, runOne)
    }
  }

  private static let runOne: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32 = {
    start, count in
    guard let target = NanoFuzz.chosen.withLock({ $0 }) else { return 0 }
    do {
      try target.run(UnsafeRawBufferPointer(start: start, count: count))
    } catch {
      fatalError("\(target.name): \(String(describing: error).debugDescription)")
    }
    return 0
  }
}

/// libFuzzer's library interface, declared in `FuzzerInterface.h`.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<Int32>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
  _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32
