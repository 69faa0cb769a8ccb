// SPDX-License-Identifier: MIT

public import NanoGraph
import NanoModel
public import NanoStore

/// Makes a struct or a final class a ``Model``: generates its field definitions, encoder and
/// decoder.
///
/// ```swift
/// @Model(collection: "people", version: 2)
/// struct Person {
///   @Key var id: UUID = UUID()
///   @Field("FirstName") var firstName: String
///   @Indexed var lastName: String
///   @Field(renamedFrom: "mail") var email: String?
///   @Transient var isSelected = false
/// }
/// ```
///
/// Properties with a default value and optional properties may be missing from a document; all
/// others are required. Fields of a document that are not declared are preserved when it is saved.
///
/// - Parameters:
///   - collection: The name of the collection. The default is the name of the type. Two types may
///     share a collection only if both name it here; otherwise operations on the type that a store
///     encounters second throw ``StoreError/Code/invalidArgument``.
///   - version: The version of the model. Increase it, together with a ``ModelUpgrade``, when
///     defaults and former names are not sufficient to read older documents.
///   - expires: When stored values expire: `.after(.seconds(3_600))` after their last write, or at the date in a stored
///     field, `.field("validUntil")`. The first write applies the rule to the collection.
@attached(
  member,
  names: named(_$unknownFields), named(init(reading:)), named(init(reading:key:)), named(init()),
  named(_$read), named(_$readByName), named(_$object), named(init(_$fault:)), named(_$fill),
  named(_$fillWithFirstValues), named(_$check), named(_$load), named(_$willChange),
  named(_$replace), named(_$willReplace), named(_$willRead), named(_$willReadUnstored),
  named(_$notify), named(modelFields), named(expirationRule)
)
@attached(memberAttribute)
@attached(
  extension, conformances: Model, KeyedModel, GraphObject, CustomReflectable,
  names: named(collectionName), named(modelVersion), named(init(reading:)),
  named(init(reading:key:)), named(write(to:)), named(writeDocument(to:)), named(documentKey),
  named(_$write), named(_$writeSnapshot), named(_$relationships), named(_$inverses),
  named(_$namesCollection), named(customMirror)
)
public macro Model(
  collection: String? = nil, version: Int = 1, expires: ExpirationRule? = nil
) =
  #externalMacro(module: "NanoMacros", type: "ModelMacro")

/// Sets the field name of a property in documents, and its former names.
///
/// ```swift
/// @Field("LastName", renamedFrom: "Surname") var lastName: String
/// ```
///
/// Documents with a former name can be read and queried as before, and are updated to the new name
/// when they are saved.
///
/// - Parameters:
///   - name: The field name in documents. The default is the name of the property.
///   - renamedFrom: Former field names, the latest first. A name that a property currently has does
///     not compile. Whether any document has a name is not checked: a misspelled one is never read,
///     and the property has its default value.
@attached(peer)
public macro Field(_ name: String? = nil, renamedFrom: String...) =
  #externalMacro(module: "NanoMacros", type: "PropertyMarker")

/// Marks a property that is not stored. It needs a default value, which it has again after reading.
@attached(peer)
public macro Transient() = #externalMacro(module: "NanoMacros", type: "PropertyMarker")

/// Marks a property for indexing, so that queries can filter and sort by it quickly.
@attached(peer)
public macro Indexed() = #externalMacro(module: "NanoMacros", type: "PropertyMarker")

/// Marks a property whose values must be unique among documents. Documents without a value never
/// collide.
@attached(peer)
public macro Unique() = #externalMacro(module: "NanoMacros", type: "PropertyMarker")

/// Marks a property for full-text search; see ``ModelCollection/search(_:)-(String)``. All marked
/// properties share one full-text index, of words.
///
/// Searches ignore case and the accents of Latin letters: `creme` finds "Crème". The property is a
/// string, an array of strings, or a value of another ``TextIndexable`` type; other types do not
/// compile.
@attached(peer)
public macro TextIndexed() = #externalMacro(module: "NanoMacros", type: "PropertyMarker")

/// Marks the property that is the key of the document: a `String`, a `UUID`, an integer or another
/// ``ModelKey``.
///
/// It is stored beside the document's fields. An optional key that is nil is generated on
/// insertion, as a UUID: for a type that cannot hold one, such as `Int?`, the insertion fails
/// unless it is given a key.
@attached(peer)
public macro Key() = #externalMacro(module: "NanoMacros", type: "PropertyMarker")

/// Marks a relationship to other objects: `[Song]`, ordered and with duplicates, or `Song?`. Both
/// may refer to any class: `[any GraphObject]`.
///
/// It is stored as row IDs in the document of the object that has it. The objects are loaded on
/// access. The property of the other class that refers back is named here and marked with
/// ``Inverse(delete:)`` there; both ends change together.
///
/// - Parameters:
///   - inverse: The property that refers back, as in `\Song.playlists`. An index makes reading it
///     fast. A property that does not refer back to this class does not compile.
///   - delete: The delete rule for the objects at the other end when this one is deleted.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_$f_))
public macro Relationship(inverse: AnyKeyPath? = nil, delete: DeleteRule = .nullify) =
  #externalMacro(module: "NanoMacros", type: "Relationship")

/// Marks a property that contains the objects that refer to this one.
///
/// They do so by a ``Relationship(inverse:delete:)``. The type is `[Playlist]`, in the order of row
/// ids, or `Album?` if there can be only one.
///
/// It is not stored in the document. A class with an inverse that no relationship names is
/// rejected: the context throws ``StoreError/Code/invalidArgument``, with both classes, when it
/// first uses the class.
///
/// - Parameter delete: The delete rule for those objects when this one is deleted.
@attached(accessor, names: named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_$f_))
public macro Inverse(delete: DeleteRule = .nullify) =
  #externalMacro(module: "NanoMacros", type: "Relationship")

/// Generated by ``Model(collection:version:expires:)`` before the properties of a class.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_$f_))
public macro _TrackedProperty() =
  #externalMacro(module: "NanoMacros", type: "TrackedProperty")
