// SPDX-License-Identifier: MIT

/// Strings that would do harm as part of a statement, a shell command or terminal output.
public enum HostileStrings {
  public static let all: [String] = [
    // SQL quotes, and what could follow them.
    "'; DROP TABLE victim; --", "' OR '1'='1", "'", "''", "'''", "\"; DROP TABLE victim; --",
    "\"", "\"\"", "`; DROP TABLE victim; --", "]; DROP TABLE victim; --", "[victim]", "]", "[",
    "]]",
    "x') ; DELETE FROM victim; --", "x\") ; DELETE FROM victim; --", "1; DELETE FROM victim",
    "victim; --", "victim/*", "*/ DELETE FROM victim /*", "-- ", "/*", ";", ");", "','",
    // JSON paths and FTS5 syntax.
    "$", "$.\"a\"", "$.a') = 1; DROP TABLE victim; --", "a\".\"b", "a\\\".b", "a[0]", "a[#-1]",
    "f0 : x", "x OR y", "NEAR(a b, 2)", "a*", "\"a", "^a", "{f0} : a", "a AND (b",
    // Escapes and patterns.
    "\\", "\\'", "\\\"; DROP TABLE victim; --", "%", "_", "%' OR 1=1 --", "?", "?1", ":a", "@a",
    "$a", "\u{0}", "a\u{0}b", "'\u{0}'; DROP TABLE victim; --", "\n", "a\nb", "\r\n", "\t", "\u{8}",
    // Unicode: lookalike quotes, normalization forms, and combining marks that hide the character before them.
    "ʼ; DROP TABLE victim; --", "＇; DROP TABLE victim; --", "'\u{301}; DROP TABLE victim; --",
    "\"\u{301}", "]\u{301}", ".\u{301}", "\u{301}", "é", "e\u{301}", "\u{202E}cod.exe", "\u{FEFF}a",
    "\u{FFFF}", "\u{10FFFF}", "\u{E000}", "😀", "İ", "ß",
    // Reserved names.
    "nano_collections", "NANO_paths", "nano_victim", "sqlite_schema", "sqlite_master", "SQLITE_x",
    "sqlite_sequence", "victim", "VICTIM", "rowid", "oid", "_rowid_", "id", "body", "key", "main",
    "temp", "main.victim", "__rowid__", "__key__", "SELECT", "ROWID DESC", "count(*)", "*", "NULL",
    // Shells, terminals, files.
    "$(touch owned)", "`touch owned`", "; touch owned", "| touch owned", "&& touch owned",
    "> owned", "$HOME", "~", "~root", "!ls", "-rf", "--help", "--debug", "@file", "../../owned",
    "file:x?mode=memory", ":memory:", "\u{1B}[2J\u{1B}]0;owned\u{7}", "\u{9B}31m", "%s%n", "{}",
    "", " ", ".", "..", "a.b", "a..b", ".a",
  ]
}
