// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// The tables and functions of a store on the server, described in docs/POSTGRES.md.
struct PostgresSchema: Sendable {
  let names: PostgresNames

  /// The format of new stores.
  static let firstFormat: Int64 = 2
  /// The format of a store that has had decimals, attachments, expirations or kept bodies, and the newest that this
  /// version reads.
  static let newestFormat: Int64 = 3
  /// The number of Unicode scalars of a string that an index stores. The server rejects index entries of more
  /// than 2,704 bytes, over all the fields of the index.
  static let indexedText = 300

  /// The statements that create the schema. All are idempotent, since two programs may create a store
  /// concurrently.
  var definitions: [PostgresStatement] {
    let schema = SQLName.quoted(names.schema)
    return [
      .once("CREATE SCHEMA IF NOT EXISTS \(schema)"),
      .once(
        """
        CREATE TABLE IF NOT EXISTS \(table("nano_format")) (version bigint NOT NULL, created timestamptz \
        NOT NULL DEFAULT now())
        """),
      .once(
        """
        CREATE TABLE IF NOT EXISTS \(table("nano_collections")) (folded text COLLATE "C" PRIMARY KEY, \
        name text NOT NULL, table_name text NOT NULL, identity text NOT NULL, incarnation bigint NOT NULL, \
        generation bigint NOT NULL, settings text, indexing text NOT NULL, keeps_source boolean NOT NULL, \
        layout text NOT NULL, feed text) WITH (fillfactor = 50)
        """),
      .once(
        """
        CREATE TABLE IF NOT EXISTS \(table("nano_indexes")) (collection text COLLATE "C" NOT NULL, \
        name text COLLATE "C" NOT NULL, sql_name text NOT NULL, kind text NOT NULL, definition text NOT NULL, \
        PRIMARY KEY (collection, name))
        """),
      .once(
        """
        CREATE TABLE IF NOT EXISTS \(table("nano_paths")) (collection text COLLATE "C" NOT NULL, \
        path text COLLATE "C" NOT NULL, types bigint NOT NULL)
        """),
      // A path has any length, and an index entry does not.
      .once(
        """
        CREATE UNIQUE INDEX IF NOT EXISTS nano_paths_key ON \(table("nano_paths")) \
        (collection, md5(path))
        """),
      .once(
        """
        CREATE TABLE IF NOT EXISTS \(table("nano_index_ledger")) (collection text COLLATE "C" NOT NULL, \
        subject text COLLATE "C" NOT NULL, state text NOT NULL, PRIMARY KEY (collection, subject))
        """),
      .once(
        """
        CREATE TABLE IF NOT EXISTS \(table("nano_metadata")) (name text COLLATE "C" PRIMARY KEY, \
        value text NOT NULL)
        """),
      .once("CREATE SEQUENCE IF NOT EXISTS \(table("nano_stamps"))"),
      .once(
        """
        CREATE TABLE IF NOT EXISTS \(table("nano_transactions")) (id uuid PRIMARY KEY, \
        applied timestamptz NOT NULL DEFAULT now(), xid xid8 NOT NULL DEFAULT pg_current_xact_id(), \
        stamp bigint NOT NULL DEFAULT nextval(\(SQLName.literal(table("nano_stamps"), .postgres))), \
        writer bigint, changed text[])
        """),
      .once(
        """
        CREATE INDEX IF NOT EXISTS nano_transactions_xid ON \(table("nano_transactions")) (xid)
        """),
      .once(numberFunction), .once(textFunction), .once(tailFunction),
      .once(uniqueFunction),
      .once(
        """
        INSERT INTO \(table("nano_format")) (version) SELECT \(Self.firstFormat) \
        WHERE NOT EXISTS (SELECT 1 FROM \(table("nano_format")))
        """),
    ]
  }

  /// The functions as they are for decimals; for other values they return what they returned before.
  var decimalFunctions: [PostgresStatement] {
    [.once(numberFunction), .once(textFunction), .once(uniqueFunction)]
  }

  /// Marks the store, so that versions of the library that do not know decimals, attachments, expirations and kept bodies
  /// do not open it.
  var raisingFormat: PostgresStatement {
    PostgresStatement(
      "UPDATE \(names.qualified("nano_format")) SET version = \(Self.newestFormat) "
        + "WHERE version < \(Self.newestFormat)")
  }

  /// Whether the functions are those, and not of an earlier version of the library.
  var hasDecimalFunctions: PostgresStatement {
    .once("SELECT \(table("nano_number"))('{\"$numberDecimal\":\"1\"}'::jsonb) = 1")
  }

  /// Factors for the number of a decimal below the nearest number, so that it sorts between that one and the number
  /// before: integers and doubles are further apart than the 20th digit.
  static let below = "0.99999999999999999999"
  static let above = "1.00000000000000000001"

  func table(_ name: String) -> String { names.qualified(name) }

  /// Two expressions represent a value in indexes, comparisons and sort orders: a number and a text, which
  /// together sort in the order of ``ValueOrder``. Numbers have their own value and an empty text. Values that
  /// sort before numbers have minus infinity, those that sort after them infinity, and a text that begins with
  /// a letter for the type: none for null, `b` for booleans, `n` for NaN, `o` for minus infinity; none for
  /// infinity itself, `d` for dates, `t` for strings, `x` for data, `y` for arrays, `z` for objects.
  private var numberFunction: String {
    """
    CREATE OR REPLACE FUNCTION \(table("nano_number"))(x jsonb) RETURNS numeric \
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $nano$ SELECT CASE jsonb_typeof(x) \
    WHEN 'string' THEN 'Infinity'::numeric WHEN 'number' THEN x::numeric \
    WHEN 'object' THEN CASE WHEN jsonb_exists(x, '$date') THEN 'Infinity'::numeric \
    WHEN jsonb_exists(x, '$numberDecimal') THEN \
    coalesce((x ->> '$near')::numeric, (x ->> '$numberDecimal')::numeric) * CASE left(x ->> '$side', 1) \
    WHEN '<' THEN CASE left(x ->> '$numberDecimal', 1) WHEN '-' THEN \(Self.above) ELSE \(Self.below) END \
    ELSE 1 END WHEN jsonb_exists(x, '$numberDouble') AND x ->> '$numberDouble' <> 'Infinity' \
    THEN '-Infinity'::numeric ELSE 'Infinity'::numeric END \
    WHEN 'array' THEN 'Infinity'::numeric ELSE '-Infinity'::numeric END $nano$
    """
  }

  private var textFunction: String {
    let length = Self.indexedText
    return """
      CREATE OR REPLACE FUNCTION \(table("nano_text"))(x jsonb) RETURNS text \
      LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $nano$ SELECT CASE jsonb_typeof(x) \
      WHEN 'string' THEN 't' || left(x #>> '{}', \(length)) WHEN 'number' THEN '' \
      WHEN 'boolean' THEN CASE WHEN x = 'true'::jsonb THEN 'b1' ELSE 'b0' END \
      WHEN 'object' THEN CASE WHEN jsonb_exists(x, '$date') THEN 'd' || left(x ->> '$date', \(length)) \
      WHEN jsonb_exists(x, '$binary') THEN 'x' || left(encode(decode(x #>> '{$binary,base64}', 'base64'), \
      'hex'), \(length)) WHEN jsonb_exists(x, '$numberDecimal') THEN coalesce(x ->> '$side', '') \
      WHEN jsonb_exists(x, '$url') THEN 't' || left(x ->> '$url', \(length)) \
      WHEN jsonb_exists(x, '$numberDouble') THEN CASE x ->> '$numberDouble' WHEN 'NaN' THEN 'n' \
      WHEN '-Infinity' THEN 'o' ELSE '' END ELSE 'z' END WHEN 'array' THEN 'y' ELSE '' END $nano$
      """
  }

  /// The entire string where an index stores only a prefix of it; empty for other values.
  private var tailFunction: String {
    """
    CREATE OR REPLACE FUNCTION \(table("nano_tail"))(x jsonb) RETURNS text \
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $nano$ SELECT CASE WHEN jsonb_typeof(x) = 'string' AND \
    length(x #>> '{}') > \(Self.indexedText) THEN x #>> '{}' ELSE '' END $nano$
    """
  }

  /// A digest that distinguishes values with equal number and text: long strings, arrays and objects.
  private var uniqueFunction: String {
    """
    CREATE OR REPLACE FUNCTION \(table("nano_unique"))(x jsonb) RETURNS text \
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $nano$ SELECT CASE WHEN jsonb_typeof(x) = 'array' \
    OR jsonb_typeof(x) = 'object' AND NOT jsonb_exists(x, '$numberDecimal') OR jsonb_typeof(x) = 'string' AND length(x #>> '{}') > \(Self.indexedText) THEN md5(x::text) \
    ELSE '' END $nano$
    """
  }
}
