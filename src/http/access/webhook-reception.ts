import { AppError } from '../../domain/errors.ts'
import { assertQueryFits, mayHoldFiles, type WebhookContent } from '../../triggers/webhook-body.ts'
import type { Hook } from '../../triggers/webhook-hook.ts'
import { readBytes } from '../requests/body.ts'
import type { BodyLimits } from '../requests/body-limits.ts'
import { readContent } from '../requests/webhook-content.ts'
import type { WebhookServices } from '../run-services.ts'
import { addressOf, type ServerPort, visitorOf } from './connection.ts'
import { assertAllowed } from './rate-headers.ts'
import { assertSender } from './sender.ts'

export type ReceptionServices = Pick<WebhookServices, 'clock' | 'limits' | 'environmentOf' | 'logger' | 'settings'>

/** A request to a webhook trigger. `headers`: those of its response. */
export type WebhookCall = { request: Request; server: ServerPort | null; headers: Record<string, string> }

/** A request whose sender is verified. */
export type Received = {
  content: WebhookContent
  /** The bytes of its body. */
  bytes: number
  /** The network of a visitor; undefined for a verified sender. */
  visitor: string | undefined
  /** The reply to the sender's challenge; then nothing else happens. */
  challenge: string | undefined
}

/** Receives requests for webhook triggers: checks the method, the limits and the sender, and parses the body. */
export class WebhookReception {
  readonly #services: ReceptionServices

  constructor(services: ReceptionServices) {
    this.#services = services
  }

  async receive(
    call: WebhookCall,
    trigger: { workflowId: string; workspaceId: string },
    hook: Hook,
  ): Promise<Received> {
    const { request, server, headers } = call
    if (!hook.methods.has(request.method)) {
      const methods = [...hook.methods].join(', ')
      headers['allow'] = methods
      throw new AppError('METHOD_NOT_ALLOWED', `This webhook accepts ${methods}, but not ${request.method}.`)
    }
    const hookLimits = this.#limitsFor(hook, request)
    assertQueryFits(request.url, hookLimits.fields)
    const visitor = hook.isOpen ? visitorOf({ request, server }) : undefined
    if (visitor !== undefined) {
      const window = this.#services.limits.takeWebhookVisitor(trigger.workflowId, visitor)
      assertAllowed(window, this.#services.clock.now(), 'requests from your address')
    }
    const limits = visitor === undefined ? hookLimits : { ...hookLimits, visitor }
    const bytes = await readBytes(request, limits)
    await assertSender(call.request, bytes, hook.sender, {
      ...this.#services,
      ...trigger,
      refused: () => this.countRefused(call),
    })
    const { byteLength } = bytes
    const content = await readContent(request, bytes, limits)
    return { content, bytes: byteLength, visitor, challenge: hook.challengeOf(content) }
  }

  /** Limits attempts to guess addresses and secrets. Verified requests never count. */
  countRefused({ request, server }: WebhookCall): void {
    const { limits, clock } = this.#services
    assertAllowed(limits.takeRefused(addressOf(request, server)), clock.now())
  }

  /** Visitors have lower limits than verified senders. */
  #limitsFor({ isOpen }: Hook, { headers }: Request): BodyLimits {
    const { body, anonymousBody, anonymousBodyWithFiles } = this.#services.settings
    if (!isOpen) return body
    return mayHoldFiles(headers) ? anonymousBodyWithFiles : anonymousBody
  }
}
