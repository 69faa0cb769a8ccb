// SPDX-License-Identifier: MIT

import NanoModelSyntax
import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// The program that the compiler starts. What it does is in a library, since tests that use a macro's target
/// itself would be built for the machine that compiles, and all others with them.
@main
struct NanoMacros: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [
    ModelMacro.self, PropertyMarker.self, TrackedProperty.self, Relationship.self,
  ]
}

enum ModelMacro: ModelMacroImplementation {}
enum PropertyMarker: PropertyMarkerImplementation {}
enum TrackedProperty: TrackedPropertyImplementation {}
enum Relationship: RelationshipImplementation {}
