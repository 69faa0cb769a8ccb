// SPDX-License-Identifier: MIT

import NanoSync

/// Divides JSON text, as it arrives, into the elements of one array, without building their values.
///
/// The array is the value of a field of the outermost object, or the outermost value. Elements are passed on as text, so
/// that each can be parsed on its own, and a malformed one does not make the others useless.
struct JSONSplitter {
  /// The text without the elements: `{"results":[],"last_seq":5}`.
  private(set) var shell: [UInt8] = []
  private var element: [UInt8] = []
  private let field: [UInt8]?
  private let maximumElement: Int
  private var state = State.shell

  private enum State {
    case shell
    /// In the array, between elements.
    case gap
    case element
  }

  /// The open objects and arrays of the shell, or of the element.
  private var depth = 0
  private var isInString = false
  private var isEscaped = false
  /// Where the last string of the shell begins.
  private var stringStart = 0
  /// Whether the last string of the outermost object is the name of the field.
  private var isNamed = false
  /// Whether the array has elements, so that a comma has to come before the next one.
  private var needsComma = false
  private var hasComma = false
  private var wasFound = false

  /// The longest text beside the elements. Arbitrary.
  private static let maximumShell = 1 << 20
  /// The longest element: more than the largest document of any engine in Base64.
  static let maximumDocument = 1 << 30

  /// - Parameters:
  ///   - field: The field whose value is the array; nil if the array is the outermost value.
  ///   - maximumElement: The longest element in bytes.
  init(field: String?, maximumElement: Int = maximumDocument) {
    self.field = field.map { Array("\"\($0)\"".utf8) }
    self.maximumElement = maximumElement
  }

  /// Reads the next bytes.
  ///
  /// - Parameter visit: Receives each complete element, and returns whether there may be more.
  /// - Returns: False if the closure did.
  /// - Throws: ``PeerError`` for text that is not divisible.
  mutating func read(
    _ bytes: UnsafeRawBufferPointer, _ visit: ([UInt8]) throws -> Bool
  ) throws -> Bool {
    // The bytes from here on belong to the shell or the element, but are not copied so far.
    var start = 0
    var at = 0
    func rest(_ end: Int) -> UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }
    while at < bytes.count {
      let byte = bytes[at]
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
          if state == .shell, depth == 1 {
            shell += rest(at + 1)
            start = at + 1
            isNamed = field.map { shell[stringStart...].elementsEqual($0) } ?? false
          } else if state == .element, depth == 0 {
            element += rest(at + 1)
            start = at + 1
            guard try finishElement(visit) else { return false }
          }
        }
        at += 1
        continue
      }
      switch state {
      case .shell:
        switch byte {
        case UInt8(ascii: "\""):
          isInString = true
          shell += rest(at)
          start = at
          stringStart = shell.count
        case UInt8(ascii: "["):
          let isArray = field == nil ? depth == 0 : depth == 1 && isNamed
          depth += 1
          if isArray {
            guard !wasFound else { throw Self.malformed }
            wasFound = true
            shell += rest(at + 1)
            start = at + 1
            (state, needsComma, hasComma) = (.gap, false, false)
          }
        case UInt8(ascii: "{"): depth += 1
        case UInt8(ascii: "]"), UInt8(ascii: "}"):
          depth -= 1
          guard depth >= 0 else { throw Self.malformed }
        // The name of the next field follows.
        case UInt8(ascii: ","): isNamed = false
        default: break
        }
        at += 1
      case .gap:
        start = at
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0D: start = at + 1
        case UInt8(ascii: ","):
          guard needsComma, !hasComma else { throw Self.malformed }
          hasComma = true
          start = at + 1
        case UInt8(ascii: "]"):
          guard !hasComma else { throw Self.malformed }
          state = .shell
          isNamed = false
          // The depth of the shell was that of the array.
          depth = field == nil ? 0 : 1
        default:
          guard hasComma == needsComma else { throw Self.malformed }
          state = .element
          depth = 0
          // The byte is looked at again as one of the element.
          continue
        }
        at += 1
      case .element:
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
          if depth == 0 {
            // The end of the array, after a number or a literal.
            guard byte == UInt8(ascii: "]") else { throw Self.malformed }
            element += rest(at)
            start = at
            guard try finishElement(visit) else { return false }
            continue
          }
          depth -= 1
          if depth == 0 {
            element += rest(at + 1)
            start = at + 1
            guard try finishElement(visit) else { return false }
          }
        case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D:
          if depth == 0 {
            element += rest(at)
            start = at
            guard try finishElement(visit) else { return false }
            continue
          }
        default: break
        }
        at += 1
      }
    }
    switch state {
    case .shell: shell += rest(at)
    case .element: element += rest(at)
    case .gap: break
    }
    guard shell.count <= Self.maximumShell, element.count <= maximumElement else {
      throw PeerError(.invalidAnswer, "The peer's answer is too long")
    }
    return true
  }

  private mutating func finishElement(_ visit: ([UInt8]) throws -> Bool) throws -> Bool {
    (state, needsComma, hasComma) = (.gap, true, false)
    let text = element
    element = []
    return try visit(text)
  }

  /// Whether the text is complete and has the array.
  var isComplete: Bool { state == .shell && depth == 0 && !isInString && wasFound }

  private static var malformed: PeerError {
    PeerError(.invalidAnswer, "The peer's answer is not the JSON that was expected")
  }

  /// Checks that the text is complete.
  ///
  /// - Throws: ``PeerError``.
  func finish() throws(PeerError) {
    guard isComplete else { throw Self.malformed }
  }

  /// Divides a whole text.
  static func split(
    _ bytes: [UInt8], field: String?
  ) throws -> (elements: [[UInt8]], shell: [UInt8]) {
    var splitter = JSONSplitter(field: field)
    var elements: [[UInt8]] = []
    _ = try bytes.withUnsafeBytes { bytes in
      try splitter.read(bytes) { element in
        elements.append(element)
        return true
      }
    }
    try splitter.finish()
    return (elements, splitter.shell)
  }
}
