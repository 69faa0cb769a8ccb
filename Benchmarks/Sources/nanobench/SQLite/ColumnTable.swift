// SPDX-License-Identifier: MIT

import BenchmarkKit

/// The same people in raw SQLite with a real column for each field: the schema that a document store saves its users.
struct ColumnTable {
  let connection: RawConnection

  private init(connection: RawConnection) { self.connection = connection }

  /// Creates an empty table in a new file.
  init(_ file: String) throws {
    connection = try RawConnection(file)
    try connection.execute(
      """
      CREATE TABLE p(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE,
        firstName TEXT NOT NULL, lastName TEXT NOT NULL, age INTEGER NOT NULL, city TEXT NOT NULL,
        salary REAL NOT NULL, emails TEXT NOT NULL, street TEXT NOT NULL, zip TEXT NOT NULL,
        country TEXT NOT NULL, joined REAL NOT NULL)
      """)
  }

  static let all =
    "id,key,firstName,lastName,age,city,salary,emails,street,zip,country,joined"
  private static let textColumns: [Int32] = [2, 3, 5, 7, 8, 9, 10]

  func insertAll(_ keys: StoredDocuments, _ columns: StoredColumns) throws {
    let marks = (1...11).map { "?\($0)" }.joined(separator: ",")
    let names = Self.all.split(separator: ",").dropFirst().joined(separator: ",")
    let insert = try connection.prepare("INSERT INTO p(\(names)) VALUES(\(marks))")
    try connection.execute("BEGIN IMMEDIATE")
    for number in 0..<keys.count {
      insert.bind(blob: keys.key(number), at: 1)
      // The parameters have the numbers of the columns that are read.
      for (text, column) in Self.textColumns.enumerated() {
        insert.bind(text: columns.text(text, of: number), at: column)
      }
      let numbers = columns.numbers[number]
      insert.bind(numbers.age, at: 4)
      insert.bind(numbers.salary, at: 6)
      insert.bind(numbers.joined, at: 11)
      try insert.run()
    }
    try connection.execute("COMMIT")
  }

  func createIndexes(_ columns: [String]) throws {
    for column in columns { try connection.execute("CREATE INDEX p_\(column) ON p(\(column))") }
  }

  func count() throws -> Int {
    let select = try connection.prepare("SELECT count(*) FROM p")
    return try select.step() ? select.integer(0) : 0
  }

  func checkpoint() throws { try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
}

extension ColumnTable {
  /// Returns a table with all people, checkpointed and reopened.
  static func filled(_ folder: Folder, _ workload: Workload) throws -> ColumnTable {
    let file = try folder.freshFile("columns.db")
    do {
      let table = try ColumnTable(file)
      try table.insertAll(workload.stored, workload.columns)
      try table.checkpoint()
    }
    return ColumnTable(connection: try RawConnection(file))
  }

  /// Steps through rows, reads every column in place and returns the number of rows.
  static func countRows(_ statement: RawStatement) throws -> Int {
    var rows = 0
    while try statement.step() {
      _ = statement.integer(0)
      _ = statement.blob(1)
      for column in textColumns { _ = statement.text(column) }
      _ = (statement.integer(4), statement.double(6), statement.double(11))
      rows += 1
    }
    statement.reset()
    return rows
  }

  // Never inlined, because the compiler may omit an allocation whose release it sees.
  /// Copies the texts of a row into one buffer.
  @inline(never)
  static func copyTexts(_ statement: RawStatement) -> UnsafeMutableRawBufferPointer {
    _ = (statement.integer(0), statement.blob(1))
    _ = (statement.integer(4), statement.double(6), statement.double(11))
    var size = 0
    for column in textColumns { size += statement.text(column).count }
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
    var end = 0
    for column in textColumns {
      let text = statement.text(column)
      UnsafeMutableRawBufferPointer(rebasing: copy[end...]).copyMemory(from: text)
      end += text.count
    }
    return copy
  }
}
