import { type ReceivedMail, receivedBounds } from '../domain/mail/mailbox.ts'

/** Parses a message (RFC 5322). Never rejects: what cannot be read is missing, and `problem` says why. */
export type ReadMime = (source: Uint8Array, withFiles: boolean) => Promise<ReceivedMail>

/** The question to a worker, and its answer. */
export type MimeQuestion = { source: Uint8Array; withFiles: boolean }
export type MimeAnswer = { ok: true; mail: ReceivedMail } | { ok: false; message: string }

/**
 * Parses messages in threads of their own, one after the other, because a message from a stranger may take any time and
 * memory to parse. A thread that takes too long is ended.
 */
export function mimeReader({ timeoutMs = receivedBounds.parseMsMax }: { timeoutMs?: number } = {}): ReadMime {
  let last: Promise<unknown> = Promise.resolve()
  return (source, withFiles) => {
    const turn = last.then(() => parsed({ source, withFiles }, timeoutMs))
    last = turn
    return turn
  }
}

function parsed(question: MimeQuestion, timeoutMs: number): Promise<ReceivedMail> {
  return new Promise((resolve) => {
    const file = import.meta.url.includes('/$bunfs/') ? './mail/mime-worker.js' : './mime-worker.ts'
    const worker = new Worker(new URL(file, import.meta.url).href, { smol: true })
    const end = (mail: ReceivedMail) => {
      clearTimeout(timer)
      worker.terminate()
      resolve(mail)
    }
    const timer = setTimeout(() => end(unread(`It was not parsed within ${timeoutMs} ms.`)), timeoutMs)
    worker.onmessage = ({ data }: MessageEvent<MimeAnswer>) => end(data.ok ? data.mail : unread(data.message))
    worker.onerror = ({ message }) => end(unread(message))
    worker.postMessage(question)
  })
}

function unread(reason: string): ReceivedMail {
  return {
    ...{ from: undefined, to: [], cc: [], replyTo: [], subject: '', date: undefined, messageId: '', inReplyTo: '' },
    ...{ text: '', html: '', attachments: [], problem: `The message could not be read: ${reason.slice(0, 300)}` },
  }
}
