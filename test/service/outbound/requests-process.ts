import type { OutboundOutcome, OutboundRequest } from '../../../src/domain/outbound-request.ts'
import type { Concurrency } from '../../../src/outbound/bulkhead.ts'
import { WebhookClient } from '../../../src/outbound/webhook-client.ts'
import { allowList, eachOf, outboundOf, requestTo } from '../../support/outbound/peers.ts'

/** A job of `environment.test.ts` for a separate process, because Bun reads the environment only at its start. */
export type Job = {
  /** Requests of workflows, those to models, or webhooks. */
  sender?: 'outbound' | 'stream' | 'webhook'
  allow: string[]
  urls: string[]
  /** The addresses of names; those of others are looked up. */
  names?: Record<string, string[]>
  timeoutMs?: number
  concurrency?: Partial<Concurrency>
  /** Requests that are started first and left hanging. */
  hanging?: string[]
}

/** An outcome as text: the body of a response, or the code and message of a failure. */
export type Told = { status: number; body: string } | { code: string; message: string }

if (import.meta.main) {
  const job = JSON.parse(process.argv[2]!) as Job
  const lookup = async (name: string) => job.names?.[name] ?? []
  const { concurrency } = job
  using outbound = outboundOf(job.allow, { lookup, ...(concurrency ? { concurrency } : {}) })
  const webhooks = new WebhookClient({ allow: allowList(job.allow), version: '1.2.3', lookup })
  const leaving = new AbortController()
  const { signal } = leaving
  const post = (request: OutboundRequest) => webhooks.post({ ...request, body: '{}', responseBytesMax: 2_048 })
  const hung = (job.hanging ?? []).map((url): Promise<unknown> => {
    const request = requestTo(url, { signal })
    return job.sender === 'webhook' ? post(request) : outbound.fetch(request)
  })
  const streamed = async (request: OutboundRequest): Promise<OutboundOutcome> => {
    const outcome = await outbound.open(request)
    if (!outcome.ok) return outcome
    const { status, headers, url, body } = outcome.response
    const parts: Uint8Array[] = []
    await eachOf(body, (part) => parts.push(part))
    return { ok: true, response: { status, headers, url, body: Buffer.concat(parts) } }
  }
  const told: Told[] = []
  for (const url of job.urls) {
    const request = requestTo(url, { timeoutMs: job.timeoutMs ?? 20_000 })
    if (job.sender === 'webhook') {
      const outcome = await post(request)
      told.push(
        outcome.ok ? { status: outcome.status, body: new TextDecoder().decode(outcome.responseStart) } : outcome,
      )
      continue
    }
    const outcome = job.sender === 'stream' ? await streamed(request) : await outbound.fetch(request)
    if (!outcome.ok) told.push({ code: outcome.code, message: outcome.message })
    else told.push({ status: outcome.response.status, body: new TextDecoder().decode(outcome.response.body) })
  }
  webhooks.stop()
  leaving.abort()
  await Promise.all(hung)
  console.log(JSON.stringify(told))
}
