// SPDX-License-Identifier: MIT

import NanoModelSyntax
import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// The compiler plug-in.
///
/// The implementation is a library, because tests that depend on a macro target are built for the host platform,
/// along with all other tests.
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
