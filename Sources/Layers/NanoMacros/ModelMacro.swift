import SwiftSyntax
import SwiftSyntaxMacros

struct ModelMacro: MemberMacro, ExtensionMacro {
  static func expansion(of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax, conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext) throws -> [DeclSyntax] {
    ["var _$unknownFields = NanoStoreModels.UnknownFields()"]
  }
  static func expansion(of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax, providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext) throws -> [ExtensionDeclSyntax] {
    [try ExtensionDeclSyntax("nonisolated extension \(type.trimmed): NanoStoreModels.Model { static var modelName: String { \"x\" } }")]
  }
}
struct FieldMarker: PeerMacro {
  static func expansion(of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext) throws -> [DeclSyntax] { [] }
}
