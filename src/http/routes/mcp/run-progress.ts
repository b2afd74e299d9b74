import type { Redactor } from '../../../domain/redaction/redactor.ts'
import { redactText } from '../../../domain/redaction/redactor.ts'
import type { RunObserver } from '../../../domain/run/run-observer.ts'
import { notificationText, type RpcId } from './json-rpc.ts'

/** Sends notifications about the progress of a run whenever one of its blocks has ended, and by `note`. */
export type RunProgress = { observer: RunObserver; note(message: string): void }

export function progressOf(token: RpcId, send: (message: string) => void): RunProgress {
  let sent = 0
  let secrets: Redactor | undefined
  const note = (message: string) => {
    sent += 1
    send(notificationText('notifications/progress', { progressToken: token, progress: sent, message }))
  }
  return {
    note,
    observer: {
      began(run) {
        secrets = run.secrets
      },
      ended({ name, status }, { depth, iterations }) {
        // Blocks of loops and of called workflows may be a million.
        if (depth > 0 || iterations.length > 0) return
        // A block that waits counts as cancelled while the run pauses.
        if (status === 'success' || status === 'error') note(`${redactText(name, secrets)}: ${status}`)
      },
    },
  }
}
