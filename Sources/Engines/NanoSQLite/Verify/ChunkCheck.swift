// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoSQL

/// Compares the chunks of attachments with the rows of the attachments that they belong to. Their contents are verified
/// by reading them.
struct ChunkCheck {
  private let connection: SQLiteConnection

  init(_ connection: SQLiteConnection) { self.connection = connection }

  func problems() throws -> [VerificationProblem] {
    guard try connection.hasTable(BlobSchema.chunks), try connection.hasTable(BlobSchema.table)
    else { return [] }
    var problems = try connection.all(
      SQLFragment(
        """
        SELECT id >> 20, count(*) FROM nano_chunks WHERE NOT EXISTS \
        (SELECT 1 FROM nano_blobs WHERE nano_blobs.id = nano_chunks.id >> 20) GROUP BY 1 LIMIT 100
        """)
    ) { row in
      VerificationProblem(
        subject: BlobSchema.chunks,
        message: "\(row.int(1)) chunks belong to the attachment \(row.int(0)), which does not exist"
      )
    }
    problems += try connection.all(
      SQLFragment(
        """
        SELECT id FROM nano_blobs WHERE digest IS NOT NULL AND chunk_length = 0 AND bytes IS NULL \
        LIMIT 100
        """)
    ) { row in
      VerificationProblem(
        subject: BlobSchema.table, message: "the attachment \(row.int(0)) has no bytes")
    }
    return problems
  }
}
