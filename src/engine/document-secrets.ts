import { finish, type Slices } from '../domain/slices.ts'
import type { Finding, WorkflowDocument } from '../domain/workflow/workflow.ts'
import type { CompileQueue } from './compile/compile-queue.ts'
import type { Registry } from './compile/graph.ts'
import {
  hiddenSecret,
  isSealed,
  isWritten,
  mapSecrets,
  type SealedValue,
  type SecretPlace,
} from './compile/secret-parameters.ts'

export type DocumentSecretsOptions = {
  registry: Registry
  /** Encrypts a text; equal texts give equal results in the same context. */
  seal(text: string, context: string): Uint8Array
  /** Throws when the text cannot be decrypted. */
  open(sealed: Uint8Array, context: string): string
  /** Whether the current key encrypted it; an older key may be removed later. */
  isCurrent(sealed: Uint8Array): boolean
  work: CompileQueue
}

/**
 * The passwords, tokens and keys that authors write in documents. Stored documents hold them encrypted (`sealed`), also
 * drafts and versions; runs and checks need them in clear (`opened`). Only people who may edit the workflow see them.
 *
 * Documents of earlier versions hold them in clear until they are saved or deployed again. They are read and hidden in
 * the same way.
 */
export class DocumentSecrets {
  readonly #options: DocumentSecretsOptions

  constructor(options: DocumentSecretsOptions) {
    this.#options = options
  }

  /**
   * A document as a client sent it, with the stored secrets in the places of `***`. `before`: the stored document. A
   * place without a stored secret becomes empty, with a warning: nobody means `***` as a password.
   */
  restored(document: WorkflowDocument, before: WorkflowDocument | undefined, workspaceId: string): Promise<Restored> {
    return this.#options.work.run(workspaceId, this.#restore(document, before))
  }

  *#restore(document: WorkflowDocument, before: WorkflowDocument | undefined): Slices<Restored> {
    const stored = new Map<string, unknown>()
    if (before) {
      yield* this.#map(before, (value, place) => {
        stored.set(keyOf(place), value)
        return value
      })
    }
    const warnings: Finding[] = []
    const restored = yield* this.#map(document, (value, place) => {
      // Only the service makes sealed values.
      if (value !== hiddenSecret) return isSealed(value) ? null : value
      const known = stored.get(keyOf(place))
      if (known !== undefined && known !== null) return known
      warnings.push(notStored(place))
      return null
    })
    return { document: restored, warnings }
  }

  /** A document to be stored. Secrets that an older key encrypted are encrypted again. */
  sealed(document: WorkflowDocument, workspaceId: string): Promise<WorkflowDocument> {
    const context = documentContext(workspaceId)
    const slices = this.#map(document, (value, place) => {
      if (isSealed(value)) return this.#renewed(value, context)
      if (!isWritten(value, place)) return value
      return { $sealed: this.#options.seal(JSON.stringify(value), context).toBase64() }
    })
    return this.#options.work.run(workspaceId, slices)
  }

  #renewed(value: SealedValue, context: string): SealedValue {
    const { seal, open, isCurrent } = this.#options
    const sealed = bytesOf(value)
    if (!sealed || isCurrent(sealed)) return value
    try {
      return { $sealed: seal(open(sealed, context), context).toBase64() }
    } catch {
      return value
    }
  }

  /** A stored document for a run or a check. A secret that cannot be decrypted stays sealed, which is a finding. */
  opened(document: WorkflowDocument, workspaceId: string): Promise<WorkflowDocument> {
    return this.#options.work.run(workspaceId, this.#open(document, workspaceId))
  }

  #open(document: WorkflowDocument, workspaceId: string): Slices<WorkflowDocument> {
    const context = documentContext(workspaceId)
    return this.#map(document, (value) => {
      if (!isSealed(value)) return value
      try {
        return JSON.parse(this.#options.open(Uint8Array.fromBase64(value.$sealed), context)) as unknown
      } catch {
        return value
      }
    })
  }

  /** A stored document for people: with the secrets for those who may edit it, with `***` for others. */
  shown(document: WorkflowDocument, workspaceId: string, mayEdit: boolean): Promise<WorkflowDocument> {
    return this.#options.work.run(workspaceId, this.#show(document, workspaceId, mayEdit))
  }

  *#show(document: WorkflowDocument, workspaceId: string, mayEdit: boolean): Slices<WorkflowDocument> {
    const seen = mayEdit ? yield* this.#open(document, workspaceId) : document
    return yield* this.#map(seen, (value, place) => {
      return isSealed(value) || (!mayEdit && isWritten(value, place)) ? hiddenSecret : value
    })
  }

  #map(document: WorkflowDocument, map: (value: unknown, place: SecretPlace) => unknown): Slices<WorkflowDocument> {
    return mapSecrets(document, this.#options.registry, map)
  }
}

export type Restored = { document: WorkflowDocument; warnings: Finding[] }

/**
 * The distinct beginnings (`length` bytes) of the sealed secrets in stored documents, which are JSON. Members of the
 * same shape in other places are a user's own data.
 */
export function sealHeadsInDocuments(texts: readonly string[], registry: Registry, length: number): Uint8Array[] {
  const heads = new Map<string, Uint8Array>()
  for (const text of texts) {
    replaceSealed(text, registry, (sealed) => {
      const head = sealed.subarray(0, length)
      heads.set(head.toHex(), head)
      return sealed
    })
  }
  return [...heads.values()]
}

/** A stored document, as JSON, with other sealed secrets; null empties one. The same text if nothing changes. */
export function replaceSealed(
  text: string,
  registry: Registry,
  replace: (sealed: Uint8Array) => Uint8Array | null,
): string {
  const document = JSON.parse(text) as WorkflowDocument
  const slices = mapSecrets(document, registry, (value) => {
    const sealed = isSealed(value) ? bytesOf(value) : undefined
    if (!sealed) return value
    const replaced = replace(sealed)
    return replaced === sealed ? value : replaced && { $sealed: replaced.toBase64() }
  })
  const changed = finish(slices)
  return changed === document ? text : JSON.stringify(changed)
}

/** Undefined for a value that the service did not make: documents of earlier versions may hold any. */
function bytesOf({ $sealed }: SealedValue): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64($sealed)
  } catch {
    return undefined
  }
}

/** Ties sealed secrets to the documents of a workspace. */
export function documentContext(workspaceId: string): string {
  return `document/${workspaceId}`
}

function keyOf({ block, key }: SecretPlace): string {
  return JSON.stringify([block.id, block.type, key])
}

function notStored({ block, path, label }: SecretPlace): Finding {
  return {
    level: 'warning',
    code: 'SECRET_NOT_STORED',
    path: `blocks.${block.id}.params.${path}`,
    blockId: block.id,
    blockName: block.name,
    message:
      `The ${label} of "${block.name}" is ${hiddenSecret}, which stands for a hidden value, and none is stored here. ` +
      'It was left empty: write the value again, or refer to an environment variable.',
  }
}
