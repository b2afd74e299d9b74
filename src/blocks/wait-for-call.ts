import { Type as t } from '@sinclair/typebox'
import type { OpenPause } from '../domain/run/pause.ts'
import { defineBlock } from '../engine/block.ts'

export const waitForCall = defineBlock({
  type: 'wait_for_call',
  label: 'Wait for a call',
  description: 'Pauses the run until another service calls an address.',
  kind: 'step',
  parameters: t.Object({
    expiresAfterMs: t.Optional(t.Number({ title: 'Expires after (ms)', minimum: 1_000, maximum: 34_560_000_000 })),
  }),
  outputs: ['data', 'headers', 'query', 'at', 'timedOut', 'callbackUrl', 'id'],
  ports: { ahead: 'notify', others: ['expired'] },
  mayFail: true,
  mayPause: () => true,
  async run({ expiresAfterMs }, context) {
    const none = { data: null, headers: {}, query: {}, at: null, timedOut: false }
    const until = expiresAfterMs === undefined ? null : context.clock.now() + expiresAfterMs
    const content = { title: '', message: '', fields: [], access: 'link', accounts: [], required: 1 } as const
    const known = ({ id, callbackUrl }: OpenPause) => ({ id, callbackUrl })
    const opened = (pause: OpenPause) => context.lead('notify', { ...none, ...known(pause) })
    const outcome = await context.pause({ kind: 'call', until, content, opened })
    const [answer] = outcome.answers
    const outputs = {
      ...known(outcome.pause),
      ...{ data: answer?.data ?? null, headers: answer?.headers ?? {}, query: answer?.query ?? {} },
      ...{ at: new Date(answer?.at ?? outcome.endedAt).toISOString(), timedOut: outcome.isExpired },
    }
    return outcome.isExpired ? { outputs, port: 'expired' } : { outputs }
  },
})
