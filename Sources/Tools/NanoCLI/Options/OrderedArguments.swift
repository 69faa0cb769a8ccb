// SPDX-License-Identifier: MIT

/// Preserves the relative order of options with different names, which ArgumentParser discards.
///
/// The order determines the columns of `aggregate`, and the parameters that `--arg` and `--text-arg` bind.
enum OrderedArguments {
  private static let aggregates = ["count", "count-of", "min", "max", "average", "sum"]

  /// Returns the arguments with `--min year` rewritten as `--column min:year`, and `--text-arg 7` as `--arg '7'`.
  ///
  /// Incomplete options are left unchanged, so that ArgumentParser reports the error.
  static func joined(_ arguments: [String]) -> [String] {
    let isAggregate = arguments.first == "aggregate"
    var result: [String] = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--" { return result + [argument] + rest }
      let (name, attached) = split(argument)
      switch name {
      case "--arg" where attached == nil:
        result.append(argument)
        // The value may look like an option.
        if let value = rest.popFirst() { result.append(value) }
      case "--text-arg":
        guard let value = attached ?? rest.popFirst() else { return result + [argument] }
        result += ["--arg", ArgumentValue.quoted(value)]
      case "--count" where isAggregate && attached == nil: result += ["--column", "count"]
      case let name? where isAggregate && aggregates.contains(String(name.dropFirst(2))):
        guard let value = attached ?? rest.popFirst() else { return result + [argument] }
        result += ["--column", "\(name.dropFirst(2)):\(value)"]
      default: result.append(argument)
      }
    }
    return result
  }

  /// Splits `--name=value` into name and value.
  private static func split(_ argument: String) -> (name: String?, value: String?) {
    guard argument.utf8.starts(with: "--".utf8) else { return (nil, nil) }
    guard let equals = argument.utf8.firstIndex(of: UInt8(ascii: "=")) else {
      return (argument, nil)
    }
    return (String(argument[..<equals]), String(argument[argument.utf8.index(after: equals)...]))
  }
}
