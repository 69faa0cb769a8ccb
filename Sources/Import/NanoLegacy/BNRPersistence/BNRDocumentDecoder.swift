// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// Decodes records to documents in the form in which object graphs store their relationships, and
/// counts conversions.
struct BNRDocumentDecoder {
  private let fields: [BNRSchema.Field]
  private let collectionsByID: [UInt8: String]

  init(_ fields: [BNRSchema.Field], _ collectionsByID: [UInt8: String]) {
    self.fields = fields
    self.collectionsByID = collectionsByID
  }

  func decode(
    _ content: [UInt8], hasVersion: Bool
  ) throws(StoreError) -> (record: BNRDecodedRecord, notes: ConversionNotes) {
    let counter = Counter()
    let decoder = BNRRecordDecoder(fields, classNames: collectionsByID) { data in
      counter.value(of: data)
    }
    var record = try decoder.decode(content, hasVersion: hasVersion)
    counter.notes.add(.emptyReference, record.emptyReferences)
    counter.notes.add(.dateOutOfRange, record.datesOutOfRange)
    counter.notes.add(.danglingReference, record.unknownClasses)
    for field in fields where field.type.isToOne && record.object[field.name]?.isNull == true {
      // A relationship to no object has no field.
      record.object[field.name] = nil
    }
    return (record, counter.notes)
  }

  /// Collects conversions of archived objects while a record is decoded.
  private final class Counter {
    var notes = ConversionNotes()

    /// Returns the archived object, or the archive itself if the object has no stored form.
    func value(of archive: Data) -> DocumentValue {
      do throws(PropertyListError) {
        let (value, found) = try KeyedArchive.value(Array(archive))
        notes.merge(found)
        return value
      } catch {
        notes.add(.archiveAsData)
        return .data(archive)
      }
    }
  }
}

extension BNRSchema.FieldType {
  var isToOne: Bool {
    switch self {
    case .reference, .anyReference: true
    default: false
    }
  }
}

/// The named buffers of a store as metadata.
struct BNRNamedValues {
  private(set) var values: [(name: String, value: DocumentValue)] = []
  /// Buffers that cannot be stored, and conversions, for the report.
  private(set) var records: [LegacyRecord] = []
  private(set) var count = 0
  /// The number of buffers that only a scan of a damaged file found.
  private(set) var unindexedCount = 0

  init(_ buffers: BNRNamedBuffers, _ names: BNRClassNames, _ schema: BNRSchema?) throws(StoreError)
  {
    var seen: Set<ExactName> = []
    var next = self
    let report = try buffers.forEach { name, content, offset in
      next.count += 1
      var notes = ConversionNotes()
      do throws(LegacyFailure) {
        guard let name else { throw LegacyFailure("the name is not valid UTF-8") }
        let value = try Self.value(name, content, names, schema, &notes)
        try LegacyFailure.checkMetadata(name, value)
        guard seen.insert(ExactName(name)).inserted else {
          throw LegacyFailure("another value has the same name", key: name)
        }
        next.values.append((name, value))
      } catch {
        next.records.append(Self.record(offset, .failure(error)))
        return
      }
      if !notes.isEmpty {
        next.records.append(Self.record(offset, .success(LegacyContent(notes: notes))))
      }
    }
    next.unindexedCount = report.unindexedCount
    for damage in report.damages {
      next.records.append(
        Self.record(damage.offset, .failure(LegacyFailure(damage.reason.rawValue))))
    }
    self = next
    values.sort { $0.name.isBefore($1.name) }
  }

  private static func record(
    _ offset: Int64, _ result: Result<LegacyContent, LegacyFailure>
  ) -> LegacyRecord {
    LegacyRecord(
      className: BNRNamedBuffers.fileName, collection: nil, position: "byte \(offset)"
    ) { () throws(LegacyFailure) in try result.get() }
  }

  /// Returns a reference in the form in which object graphs store a named object; several fields,
  /// or a field of another type, as an object; and the data of a buffer without a description.
  private static func value(
    _ name: String, _ content: [UInt8], _ names: BNRClassNames, _ schema: BNRSchema?,
    _ notes: inout ConversionNotes
  ) throws(LegacyFailure) -> DocumentValue {
    guard let description = schema?.bufferDescription(name) else {
      notes.add(.rawData)
      return .data(Data(content))
    }
    let decoded: (record: BNRDecodedRecord, notes: ConversionNotes)
    do throws(StoreError) {
      decoded = try BNRDocumentDecoder(description.fields, names.byID).decode(
        content, hasVersion: false)
    } catch {
      throw LegacyFailure(error.reason, key: name)
    }
    notes.merge(decoded.notes)
    guard description.fields.count == 1, description.fields[0].type.isToOne else {
      return .object(decoded.record.object)
    }
    let value = decoded.record.object[description.fields[0].name]
    guard case .reference(let className) = description.fields[0].type, let value else {
      return value ?? .null
    }
    return ["collection": .string(names.collection(of: className)), "id": value]
  }
}
