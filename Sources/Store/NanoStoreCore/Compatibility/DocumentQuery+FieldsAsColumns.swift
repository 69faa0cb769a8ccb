// SPDX-License-Identifier: MIT

import NanoQuery

extension DocumentQuery {
  /// Interprets fields like columns of an SQL table, as NTJsonStore does.
  ///
  /// Conditions do not descend into arrays, booleans are 1.0 and 0.0, and NOT of unknown is unknown;
  /// see ``/NanoQuery/Query/withFieldsAsColumns``. It applies to the conditions added so far: call
  /// it last.
  public func fieldsAsColumns() -> DocumentQuery {
    changed { $0 = $0.withFieldsAsColumns }
  }
}
