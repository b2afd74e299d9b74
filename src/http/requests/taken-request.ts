import type { FileOwner, RunFile } from '../../domain/run/file.ts'
import type { TriggerInput } from '../../domain/run/input.ts'
import { bodyOf, type WebhookContent } from '../../triggers/webhook-body.ts'
import { type Hook, inputOf } from '../../triggers/webhook-hook.ts'

type Head = Pick<Request, 'url' | 'method' | 'headers'>

/** A test request that a listener took: verified and parsed. Its files are in memory until a run starts with it. */
export type TakenRequest = {
  /** The memory that it takes. */
  bytes: number
  /** Epoch milliseconds. */
  at: number
  /** The outputs that the trigger will have. Files are without an address. */
  shown: Readonly<Record<string, unknown>>
  /** The input of a run with this request. Stores its files for the run. */
  inputFor(owner: FileOwner): Promise<TriggerInput>
}

type StoreFile = (owner: FileOwner, bytes: Uint8Array, facts: { name: string; type: string }) => Promise<RunFile>

export async function takenRequest(
  head: Head,
  hook: Hook,
  { content, bytes, at }: { content: WebhookContent; bytes: number; at: number },
  store: StoreFile,
): Promise<TakenRequest> {
  // The request itself does not outlive its response.
  const kept = { url: head.url, method: head.method, headers: new Headers(head.headers) }
  const { body } = await bodyOf(content, async (file, facts) => {
    return { key: null, file: { url: '', size: file.byteLength, ...facts } }
  })
  return {
    bytes,
    at,
    shown: inputOf(kept, hook, body, []).fields,
    async inputFor(owner) {
      const stored = await bodyOf(content, (file, facts) => store(owner, file, facts))
      return inputOf(kept, hook, stored.body, stored.files)
    },
  }
}
