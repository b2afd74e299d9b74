import { jobContext } from '../../accounts/job-seal.ts'
import type { SecretBox } from '../../accounts/secret-box.ts'
import { registry } from '../../blocks/registry.ts'
import { variableContext } from '../../domain/account/environment.ts'
import { credentialContext, credentialTokenContext } from '../../domain/credential/credential.ts'
import { secretContext } from '../../domain/webhook/subscription.ts'
import { documentContext, replaceSealed } from '../../engine/document-secrets.ts'
import { pinContext } from '../../engine/manual/pins.ts'
import { type SealedChange, type SealedKind, type SealedPlace, sealedKinds } from '../../store/account-store.ts'
import type { Store } from '../../store/store.ts'
import type { StoredDocument } from '../../store/workflow-store.ts'
import { conversationContext } from '../../triggers/conversations.ts'

/** How many values of each kind were encrypted again. `unreadable`: no key decrypts them; they stay as they are. */
export type EncryptedAgain = { documents: number; unreadable: number } & Record<SealedKind, number>

export type EncryptAgainOptions = {
  store: Store
  box: SecretBox
  /** Called before anything changes, if something has to. */
  onFirst(): void | Promise<void>
  /** Called after each portion, with the number of values so far. */
  onProgress(count: number): void
}

/**
 * Encrypts everything with the current key that an older key encrypted. It works in portions, so that a service on the
 * same database goes on, and can be interrupted at any point and repeated.
 *
 * A pass goes from the newest to the oldest value of each kind, and leaves variables for the end: a start looks at the
 * oldest values and at all variables, so it refuses to go without an older key for as long as that key is needed. The
 * service may meanwhile write values with an older key that it read before, so passes are repeated until one finds
 * nothing.
 */
export async function encryptAgain(options: EncryptAgainOptions): Promise<EncryptedAgain> {
  const counts: Record<string, number> = {
    ...{ documents: 0, unreadable: 0 },
    ...Object.fromEntries(sealedKinds.map((kind) => [kind, 0])),
  }
  const pass = new Pass(options)
  for (let count = 0; count < passesMax; count += 1) {
    const { changed, unreadable } = await pass.run(counts)
    counts['unreadable'] = unreadable
    if (changed === 0) break
  }
  return counts as EncryptedAgain
}

/** Far more than a service needs that writes now and then. */
const passesMax = 20
const placesMax = 200
/** Limits the memory, and how long a write of the service waits. */
const portionBytesMax = 1_048_576

class Pass {
  readonly #options: EncryptAgainOptions
  #total = 0

  constructor(options: EncryptAgainOptions) {
    this.#options = options
  }

  async run(counts: Record<string, number>): Promise<{ changed: number; unreadable: number }> {
    const before = this.#total
    let unreadable = await this.#documents(counts)
    for (const kind of sealedKinds) unreadable += await this.#values(kind, counts)
    return { changed: this.#total - before, unreadable }
  }

  async #values(kind: SealedKind, counts: Record<string, number>): Promise<number> {
    const { store, box } = this.#options
    const head = box.currentHead
    if (!head) return 0
    let unreadable = 0
    let after: SealedPlace | undefined
    for (;;) {
      const places = await store.listSealed(kind, head, placesMax, after)
      after = places.at(-1)
      if (!after) return unreadable
      let portion: SealedChange[] = []
      let bytes = 0
      for (const place of places) {
        const before = await store.readSealed(place)
        if (!before || box.isCurrent(before)) continue
        const plain = tryOpen(box, before, contexts[kind](place.owner))
        if (!plain) {
          unreadable += 1
          continue
        }
        portion.push({ place, before, after: box.seal(plain, contexts[kind](place.owner)) })
        bytes += before.length
        if (bytes < portionBytesMax) continue
        await this.#write(kind, counts, () => store.replaceSealed(portion))
        portion = []
        bytes = 0
      }
      if (portion.length > 0) await this.#write(kind, counts, () => store.replaceSealed(portion))
    }
  }

  async #documents(counts: Record<string, number>): Promise<number> {
    let unreadable = 0
    for (const place of (await this.#options.store.listSealedDocuments()).toReversed()) {
      unreadable += await this.#document(place, counts)
    }
    return unreadable
  }

  /** Returns how many of its secrets no key decrypts. */
  async #document(place: StoredDocument, counts: Record<string, number>): Promise<number> {
    const { store, box } = this.#options
    const context = documentContext(place.workspaceId)
    for (;;) {
      const before = await store.readDocument(place)
      if (before === undefined) return 0
      let unreadable = 0
      const after = replaceSealed(before, registry, (sealed) => {
        if (box.isCurrent(sealed)) return sealed
        const plain = tryOpen(box, sealed, context)
        if (!plain) unreadable += 1
        return plain ? box.sealAlike(new TextDecoder().decode(plain), context) : sealed
      })
      if (after === before) return unreadable
      const replace = async () => ((await store.replaceDocument(place, before, after, false)) ? 1 : 0)
      // Somebody saved it in the meantime: read it again.
      if ((await this.#write('documents', counts, replace)) === 1) return unreadable
    }
  }

  /** Afterwards, leaves as much time to the writes of a service as this one took. */
  async #write(name: string, counts: Record<string, number>, write: () => Promise<number>): Promise<number> {
    const { onFirst, onProgress } = this.#options
    if (this.#total === 0) await onFirst()
    const startedAt = performance.now()
    const changed = await write()
    this.#total += changed
    counts[name] = (counts[name] ?? 0) + changed
    onProgress(this.#total)
    await Bun.sleep(performance.now() - startedAt)
    return changed
  }
}

const contexts: Readonly<Record<SealedKind, (owner: readonly string[]) => string>> = {
  variable: ([workspaceId = '', name = '']) => variableContext(workspaceId, name),
  credential: ([workspaceId = '', id = '']) => credentialContext(workspaceId, id),
  credentialToken: ([workspaceId = '', id = '']) => credentialTokenContext(workspaceId, id),
  webhookSecret: ([workspaceId = '', id = '']) => secretContext(workspaceId, id),
  previousWebhookSecret: ([workspaceId = '', id = '']) => secretContext(workspaceId, id),
  alertSecret: ([workspaceId = '', id = '']) => secretContext(workspaceId, id),
  jobInput: ([executionId = '']) => jobContext(executionId),
  jobStep: ([executionId = '']) => jobContext(executionId),
  jobOutput: ([executionId = '']) => jobContext(executionId),
  pauseContent: ([executionId = '']) => jobContext(executionId),
  pauseAnswer: ([executionId = '']) => jobContext(executionId),
  heldResponse: ([executionId = '']) => jobContext(executionId),
  chatTurn: ([workflowId = '', conversationId = '']) => conversationContext(workflowId, conversationId),
  pin: ([workspaceId = '', blockId = '']) => pinContext(workspaceId, blockId),
}

function tryOpen(box: SecretBox, sealed: Uint8Array, context: string): Uint8Array | undefined {
  try {
    return box.open(sealed, context)
  } catch {
    return undefined
  }
}
