// SPDX-License-Identifier: MIT

import NanoSync
import Testing

@Suite("Regular expressions of selectors")
struct RegularExpressionTests {
  @Test(
    "A pattern is found where Perl finds it",
    arguments: [
      ("a", "cat", true), ("^a", "cat", false), ("t$", "cat", true), ("t$", "cat\n", true),
      ("t\\z", "cat\n", false),
      ("^$", "", true), ("", "x", true), ("a*b", "aaab", true), ("^a{2,3}$", "aaaa", false),
      ("^a{2,3}$", "aaa", true), ("^a{2,}$", "aaaa", true), ("^a{2}$", "a", false),
      ("a{,2}", "a{,2}", true),
      ("x{a}", "x{a}", true), ("(ab|c)+d", "ababcd", true), ("^(ab|c)+d$", "abd c", false),
      ("[a-c]x", "bx", true),
      ("[^a-c]x", "bx", false), ("[]a]x", "]x", true), ("[^]a]", "]", false),
      ("[\\w-]+@", "a-b@", true),
      ("^[\\d.]+$", "3.14", true), ("^[\\D]+$", "3", false), ("\\bcat\\b", "a cat.", true),
      ("\\bcat\\b", "concat", false), ("\\Bcat", "concat", true), ("^\\s+$", " \t\n", true),
      ("\\.", "a", false),
      ("\\x41", "A", true), ("(?i)ADA", "ada", true), ("(?i)[^a]", "A", false),
      ("(?i:a)B", "AB", true),
      ("(?i:a)B", "Ab", false), ("a.c", "a\nc", false), ("(?s)a.c", "a\nc", true),
      ("(?m)^b$", "a\nb\nc", true),
      ("^b$", "a\nb\nc", false), ("a??b", "b", true), ("a+?b", "aab", true),
      ("(?:a|b)*c", "abac", true),
      ("(?P<n>a)b", "ab", true), ("colou?r", "color", true), ("^(?:a|ab)(?:c|bcd)$", "abcd", true),
      ("(a|b|)c", "c", true), ("ä+", "ää", true), (".", "😀", true), ("^.$", "😀", true),
      ("[α-ω]", "λ", true),
      ("^\\d{4}-\\d{2}$", "2026-11", true), ("(a*)*b", "aaaa", false), ("(a*)+$", "aaaa", true),
      ("^[a\\-z]+$", "a-z", true), ("[a-]", "-", true), ("\\/", "/", true), ("|a", "", true),
      ("((a))", "a", true),
      ("^[\\s\\S]*$", "a\nb", true), ("[\\]]", "]", true),
    ])
  func matches(_ pattern: String, _ text: String, _ expected: Bool) throws {
    #expect(try RegularExpression(pattern).matches(text) == expected)
  }

  @Test(
    "A pattern that does not parse, or needs backtracking, is rejected",
    arguments: [
      "(", ")", "[", "[a", "a**", "*a", "+", "\\", "(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", "(?>a)",
      "(a)\\1", "a++", "a{3,2}", "a{2000}", "[z-a]", "[[:nothing:]]", "\\x{110000000}", "\\q",
      "(?P<n",
      "(?i", "(?P>n)", "\\p{L}",
    ])
  func malformed(_ pattern: String) {
    #expect(throws: RegularExpression.Malformed.self) { try RegularExpression(pattern) }
  }

  @Test("A class of POSIX has its members")
  func namedClasses() throws {
    #expect(try RegularExpression("^[[:alpha:]_]+$").matches("abc_"))
    #expect(try !RegularExpression("^[[:alpha:]]+$").matches("abc1"))
    #expect(try RegularExpression("^[[:^digit:]]$").matches("a"))
    #expect(try !RegularExpression("^[^[:^digit:]]$").matches("a"))
  }

  @Test(
    "A pattern that makes other engines try every combination is matched at once",
    arguments: [
      "^(a+)+$", "(a|aa)+$", "((((((a*)*)*)*)*)*)*b", "^(a|a?)+$", "(.*a){20}b", "(a*a*a*a*a*a*)*b",
      "^(([a-z])+.)+[A-Z]([a-z])+$",
    ])
  func backtracking(_ pattern: String) throws {
    let text = String(repeating: "a", count: 500) + "!"

    #expect(try !RegularExpression(pattern).matches(text))
  }

  @Test("A pattern that repeats repetitions is rejected, however short it is")
  func size() {
    #expect(throws: RegularExpression.Malformed.self) {
      try RegularExpression("(((a{1000}){1000}){1000}){1000}")
    }
    #expect(throws: RegularExpression.Malformed.self) {
      try RegularExpression(String(repeating: "(", count: 100_000))
    }
    #expect(throws: Never.self) { try RegularExpression("((){1000}){1000}") }
  }
}
