// SPDX-License-Identifier: MIT

package import NanoDocument

/// The rows of a table that another program wrote, read by an engine.
package struct RowSource {
  /// The name of the source, for errors.
  let name: String
  let columns: [String]
  /// Whether nulls become null fields; otherwise, the document does not have the field.
  let keepsNulls: Bool
  /// Returns the values of the next row, or why it cannot be imported; nil at the end.
  let next: () throws -> Result<[DocumentValue], StoreError>?

  package init(
    name: String, columns: [String], keepsNulls: Bool,
    next: @escaping () throws -> Result<[DocumentValue], StoreError>?
  ) {
    self.name = name
    self.columns = columns
    self.keepsNulls = keepsNulls
    self.next = next
  }
}

/// Reads the rows of a table as documents.
final class RowBatches: BatchSource {
  private let rows: RowSource
  private let columns: TableColumns
  private var count = 0
  private var writer = JSONWriter(capacity: 1 << 16)

  init(_ rows: RowSource, keyField: FieldPath?) throws(StoreError) {
    self.rows = rows
    columns = try TableColumns(rows.columns, keyField: keyField)
  }

  func next() throws -> Batch {
    var batch = Batch()
    while batch.documents.count < Batch.maximumDocuments, writer.count < Batch.maximumBytes,
      batch.failures.count < Batch.maximumDocuments
    {
      guard let row = try rows.next() else {
        batch.isLast = true
        break
      }
      count += 1
      let place = Place(record: count, line: nil, byte: 0)
      do throws(StoreError) {
        let values = try row.get()
        let header = Document.Header(key: try key(of: values))
        let start = writer.count
        write(values)
        batch.documents.append(
          IncomingDocument(header: header, body: start..<writer.count, place: place))
      } catch {
        batch.failures.append(RecordFailure(place: place, error: error))
      }
    }
    batch.bodies = writer.withBytes { Array($0) }
    writer.removeAll()
    return batch
  }

  private func write(_ values: [DocumentValue]) {
    columns.tree.write(to: &writer) { column, writer in
      guard rows.keepsNulls || !values[column].isNull else { return false }
      writer.value(values[column])
      return true
    }
  }

  private func key(of values: [DocumentValue]) throws(StoreError) -> DocumentKey? {
    guard let position = columns.key else { return nil }
    switch values[position] {
    case .string(let text): return try DocumentKey(text)
    case .int(let number): return try DocumentKey(String(number))
    case .null: throw TableColumns.missingKey
    default:
      throw StoreError(.invalidKey, "The key field is neither a string nor an integer")
    }
  }
}
