import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type Clock, sleep } from '../../domain/clock.ts'
import type { OtlpTarget } from './settings.ts'

/** The outcome of a request. `rejected`: items that the collector rejected although it accepted the request. */
export type Sent = { ok: true; rejected: number; reason?: string } | { ok: false; reason: string }

export type OtlpClientOptions = { target: OtlpTarget; clock: Clock; random(): number; version: string }

/** Sends messages to a collector by OTLP/HTTP in JSON. Temporary failures are tried again, with growing pauses. */
export class OtlpClient {
  readonly #options: OtlpClientOptions

  constructor(options: OtlpClientOptions) {
    this.#options = options
  }

  /** Never rejects. `signal` ends everything, also the pauses. */
  async send(json: string, signal: AbortSignal): Promise<Sent> {
    const { target, clock, random } = this.#options
    const body = target.compression === 'gzip' ? await compress(json) : json
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#post(body, signal)
      if ('sent' in outcome) return outcome.sent
      if (attempt >= attemptsMax || signal.aborted) return { ok: false, reason: outcome.failure }
      const pauseMs = outcome.retryAfterMs ?? firstPauseMs * 2 ** (attempt - 1) * (0.5 + random())
      try {
        await sleep(clock, pauseMs, signal)
      } catch {
        return { ok: false, reason: outcome.failure }
      }
    }
  }

  async #post(body: string | Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<Outcome> {
    const { target, clock, version } = this.#options
    const late = new AbortController()
    const timer = clock.setTimer(target.timeoutMs, () => late.abort(new Error(`no response in ${target.timeoutMs} ms`)))
    try {
      const response = await fetch(target.url, {
        method: 'POST',
        headers: {
          ...{ 'user-agent': `millrace/${version}`, ...target.headers, 'content-type': 'application/json' },
          ...(target.compression === 'gzip' ? { 'content-encoding': 'gzip' } : {}),
        },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([signal, late.signal]),
      })
      const text = await startOf(response)
      if (response.ok) return { sent: { ok: true, ...rejectedIn(text) } }
      const failure = `the collector answered with status ${response.status}`
      if (!temporary.has(response.status)) return { sent: { ok: false, reason: failure } }
      return { failure, retryAfterMs: retryAfterOf(response.headers.get('retry-after'), clock.now()) }
    } catch (error) {
      return { failure: error instanceof Error ? error.message : String(error), retryAfterMs: undefined }
    } finally {
      timer.cancel()
    }
  }
}

type Outcome = { sent: Sent } | { failure: string; retryAfterMs: number | undefined }

const compress = promisify(gzip) as (text: string) => Promise<Uint8Array<ArrayBuffer>>

/** The failures that the standard says to try again. */
const temporary = new Set([429, 502, 503, 504])
const attemptsMax = 5
const firstPauseMs = 1_000
const retryAfterMsMax = 60_000
const responseCharsMax = 65_536

/** Seconds or a date. */
function retryAfterOf(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now
  return Number.isNaN(ms) ? undefined : Math.min(retryAfterMsMax, Math.max(0, ms))
}

/** The beginning of the body. The connection of a longer one is closed. */
async function startOf(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    if (text.length > responseCharsMax) break
  }
  return text
}

/** The response of a collector that accepted only a part of a message. */
function rejectedIn(text: string): { rejected: number; reason?: string } {
  try {
    const { partialSuccess } = JSON.parse(text) as { partialSuccess?: Record<string, unknown> }
    const rejected = Number(partialSuccess?.['rejectedSpans'] ?? partialSuccess?.['rejectedDataPoints'] ?? 0)
    const reason = partialSuccess?.['errorMessage']
    const isCount = Number.isSafeInteger(rejected) && rejected > 0
    return { rejected: isCount ? rejected : 0, ...(typeof reason === 'string' && reason !== '' ? { reason } : {}) }
  } catch {
    return { rejected: 0 }
  }
}
