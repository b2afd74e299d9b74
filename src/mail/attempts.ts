import type { Clock } from '../domain/clock.ts'
import { MailError } from '../domain/mail/mail.ts'
import { OutboundError } from '../domain/outbound-request.ts'

/** Conversations with mail servers. Each has a deadline, and all end when the service stops. */
export class MailAttempts {
  readonly #clock: Pick<Clock, 'setTimer'>
  readonly #underWay = new Set<AbortController>()
  #isStopped = false

  constructor(clock: Pick<Clock, 'setTimer'>) {
    this.#clock = clock
  }

  /**
   * Does work with a signal that aborts at its deadline, when it is cancelled, and when the service stops. Rejects with
   * `MailError`.
   */
  async run<Result>(
    timeoutMs: number,
    signal: AbortSignal | undefined,
    work: (ending: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const controller = new AbortController()
    const cancel = () =>
      controller.abort(new OutboundError('CANCELLED', 'The request to the mail server was cancelled.'))
    const timer = this.#clock.setTimer(timeoutMs, () => {
      controller.abort(new OutboundError('TIMEOUT', `The mail server did not finish within ${timeoutMs} ms.`))
    })
    this.#underWay.add(controller)
    signal?.addEventListener('abort', cancel, { once: true })
    if (signal?.aborted) cancel()
    if (this.#isStopped) controller.abort(stopped())
    try {
      controller.signal.throwIfAborted()
      return await work(controller.signal)
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error
      const mayRepeat = error.code === 'TIMEOUT' || error.code === 'CONNECTION_FAILED'
      throw new MailError(error.code, error.message, { mayRepeat, cause: error })
    } finally {
      timer.cancel()
      this.#underWay.delete(controller)
      signal?.removeEventListener('abort', cancel)
    }
  }

  /** Refuses further work, and ends what is under way. */
  stop(): void {
    this.#isStopped = true
    for (const controller of [...this.#underWay]) controller.abort(stopped())
  }
}

function stopped(): OutboundError {
  return new OutboundError('CANCELLED', 'The service stops.')
}
