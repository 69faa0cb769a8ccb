// SPDX-License-Identifier: MIT

import SwiftCompilerPlugin
import SwiftSyntaxMacros

@main
struct NanoMacros: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [ModelMacro.self, PropertyMarker.self]
}
