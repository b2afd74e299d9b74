import type { Redactor } from '../../../domain/redaction/redactor.ts'
import { redactText } from '../../../domain/redaction/redactor.ts'
import type { RunObserver } from '../../../domain/run/run-observer.ts'
import { notificationText, type RpcId } from './json-rpc.ts'

/** Sends a notification about the progress of a run whenever one of its blocks has ended. */
export function progressOf(token: RpcId, send: (message: string) => void): RunObserver {
  let ended = 0
  let secrets: Redactor | undefined
  return {
    began(run) {
      secrets = run.secrets
    },
    ended({ name, status }, { depth, iterations }) {
      // Blocks of loops and of called workflows may be a million.
      if (status === 'skipped' || depth > 0 || iterations.length > 0) return
      ended += 1
      const message = `${redactText(name, secrets)}: ${status}`
      send(notificationText('notifications/progress', { progressToken: token, progress: ended, message }))
    },
  }
}
