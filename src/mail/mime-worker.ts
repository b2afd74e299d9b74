import { messageOf } from '../domain/errors.ts'
import type { MimeAnswer, MimeQuestion } from './mime.ts'
import { parseMime } from './parse-mime.ts'

declare const self: Worker

self.onmessage = async ({ data }: MessageEvent<MimeQuestion>) => {
  try {
    self.postMessage({ ok: true, mail: await parseMime(data) } satisfies MimeAnswer)
  } catch (error) {
    self.postMessage({ ok: false, message: messageOf(error) } satisfies MimeAnswer)
  }
}
