// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
public import NanoQuery
public import NanoStoreCore

extension ModelQuery: RelatedSource {
  /// The equivalent query over documents, without related documents. Whether an index has its order, in which documents
  /// without a field count with its default, is determined now.
  public var includingQuery: IncludingQuery { liveQuery.includingQuery }
}

extension ModelCollection: RelatedSource {
  /// A query for all documents of the collection.
  public var includingQuery: IncludingQuery { find().includingQuery }
}

extension ModelQuery {
  /// Returns a query whose results include related documents, to which a property refers.
  ///
  /// ```swift
  /// let films = store[Movie.self].find(\.year > 1970)
  ///   .including(\.directorID, from: store[Director.self], as: "director")
  ///   .including(.key, from: store[Review.self], by: \.filmID, as: "reviews")
  /// for film in try films.fetch() { print(film["title"], film.one("director")?["name"]) }
  /// ```
  ///
  /// The results are documents; `decoded(as:)` returns values of a type with properties for the related documents.
  /// See ``RelatedSource/including(_:from:by:as:)``.
  ///
  /// - Parameters:
  ///   - property: The property with the reference, or with an array of references.
  ///   - source: The related documents.
  ///   - remote: What it is compared with in the related documents.
  ///   - name: The name of the related documents in results; by default, the path of the property's field.
  public func including<Value>(
    _ property: any KeyPath<M, Value> & Sendable, from source: some RelatedSource,
    by remote: RelationKey = .key, as name: String? = nil
  ) -> IncludingQuery {
    do throws(StoreError) {
      let location = try M.location(of: property)
      let target = (type(of: source) as? any ModelSource.Type)?.model
      return includingQuery.including(
        location.relationKey, from: source, by: remote, as: name,
        remoteForms: location.keyTexts(remote, target),
        check: location.referenceCheck(in: collection.name))
    } catch {
      return collection.documents.failing(with: error).includingQuery
    }
  }
}

extension RelatedSource {
  /// Returns a query whose results include related values of a model, of which a property refers to the results.
  ///
  /// ```swift
  /// store["films"].find().including(.key, from: store[Review.self].find(\.stars > 3), by: \.filmID, as: "reviews")
  /// ```
  public func including<Target: Model, Value>(
    _ local: RelationKey, from source: ModelQuery<Target>,
    by property: any KeyPath<Target, Value> & Sendable, as name: String? = nil
  ) -> IncludingQuery {
    do throws(StoreError) {
      let location = try Target.location(of: property)
      let model = (Self.self as? any ModelSource.Type)?.model
      return including(
        local, from: source, by: location.relationKey, as: name,
        remoteForms: location.fieldValues(local, model),
        check: location.referenceCheck(in: source.collection.name))
    } catch {
      return includingQuery.query.collection.failing(with: error).includingQuery
    }
  }

  /// Returns a query whose results include related values of a model, of which a property refers to the results.
  public func including<Target: Model, Value>(
    _ local: RelationKey, from source: ModelCollection<Target>,
    by property: any KeyPath<Target, Value> & Sendable, as name: String? = nil
  ) -> IncludingQuery { including(local, from: source.find(), by: property, as: name) }
}

extension PropertyLocation {
  fileprivate var relationKey: RelationKey { isKey ? .key : .field(path) }

  /// Returns how the property's values are converted to the keys that they refer to.
  fileprivate func keyTexts(
    _ remote: RelationKey, _ target: (any Model.Type)?
  ) -> (@Sendable (DocumentValue) -> [DocumentValue])? {
    guard remote == .key, !isKey, let keyForm, keyForm.matchesKeys(of: target) else { return nil }
    let isKnown = target != nil
    return { Self.forms(of: $0, keyForm.keyText(ofField: $0), isKnown) }
  }

  /// Returns how keys are converted to the property's values that refer to them.
  fileprivate func fieldValues(
    _ local: RelationKey, _ model: (any Model.Type)?
  ) -> (@Sendable (DocumentValue) -> [DocumentValue])? {
    guard local == .key, !isKey, let keyForm, keyForm.matchesKeys(of: model) else { return nil }
    let isKnown = model != nil
    return { Self.forms(of: $0, keyForm.fieldValue(ofKey: $0), isKnown) }
  }

  /// Returns the forms of a value: both if the model is not known, since its keys can be any text.
  private static func forms(
    of value: DocumentValue, _ converted: DocumentValue, _ isKnown: Bool
  ) -> [DocumentValue] { isKnown || converted == value ? [converted] : [converted, value] }

  /// Returns a check that no document of a collection has references under a former name, where including related
  /// documents does not find them; nil for a property without former names.
  ///
  /// The check throws ``StoreError/Code/unsupported``, and the errors of reading.
  fileprivate func referenceCheck(
    in collection: String
  ) -> (@Sendable (any EngineReader) throws -> Void)? {
    let former = formerPaths
    guard !former.isEmpty else { return nil }
    let failure = StoreError(
      .unsupported, "Documents have references under a former name",
      [.collection: collection, .field: path.description, .hint: "call upgrade() first"])
    return { reader in
      let catalog = PathCatalog(try reader.observedPaths(in: collection))
      let paths = former.filter { catalog.mayContain($0) }
      guard !paths.isEmpty else { return }
      let found = Query(.any(paths.map { .exists($0) }), limit: 1)
      guard try reader.count(found, in: collection) == 0 else { throw failure }
    }
  }
}
