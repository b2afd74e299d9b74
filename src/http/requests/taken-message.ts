import type { ChatMessage } from '../../domain/run/input.ts'
import type { ReceiveFiles, Upload } from '../../files/upload.ts'
import type { UploadLimits } from '../../files/upload-options.ts'
import { type ChatBody, chatInput } from './chat-body.ts'
import type { TakenRequest } from './taken-request.ts'

/** A message that a test address received. `bytes`: its body. */
type Received = { bytes: Uint8Array; body: ChatBody; upload: Upload; history: readonly ChatMessage[]; at: number }

/**
 * A test message that a listener took. Its body stays in memory, and each run that starts with it stores its files
 * anew.
 */
export function takenMessage(
  { bytes, body, upload, history, at }: Received,
  { receiveFiles, limits }: { receiveFiles: ReceiveFiles; limits: UploadLimits },
): TakenRequest {
  const { text, conversationId } = body
  upload.check(chatInput(body, []))
  const { files } = upload.preview(chatInput(body, [])).fields
  return {
    bytes: bytes.byteLength,
    at,
    shown: { input: text, conversationId, files, history },
    async inputFor(owner) {
      const again = await receiveFiles(copyOf(bytes), ['files'], limits)
      try {
        const { files: items } = JSON.parse(again.text || '{}') as { files?: unknown }
        const given = chatInput({ ...body, files: [items ?? []].flat() }, history)
        again.check(given)
        return { ...(await again.store(given, owner)), history }
      } finally {
        await again.discard()
      }
    },
  }
}

/** Readers free the bytes that they have read. */
export async function* copyOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes.slice()
}
