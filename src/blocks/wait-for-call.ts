import { Type as t } from '@sinclair/typebox'
import { nothingAsked, type OpenPause, type PauseContent } from '../domain/run/pause.ts'
import { authenticationMembers, WebhookAuthentication } from '../domain/webhook/webhook-trigger.ts'
import { defineBlock } from '../engine/block.ts'
import { waitMsMax } from '../language/wait-time.ts'
import { checkAuthentication } from './webhook-authentication.ts'

export const waitForCall = defineBlock({
  type: 'wait_for_call',
  label: 'Wait for a call',
  description: 'Pauses the run until another service calls an address.',
  kind: 'step',
  parameters: t.Object({
    expiresAfterMs: t.Optional(t.Number({ title: 'Expires after (ms)', minimum: 1_000, maximum: waitMsMax })),
    authentication: t.Composite([WebhookAuthentication], {
      title: 'Authentication',
      description: 'How the caller proves its identity, besides knowing the address.',
      default: { type: 'none' },
      membersByType: authenticationMembers,
    }),
  }),
  // Variables in the secrets have the values that they have when the call comes.
  modes: { authentication: 'literal' },
  outputs: ['data', 'headers', 'query', 'at', 'timedOut', 'callbackUrl', 'id'],
  ports: { ahead: 'notify', others: ['expired'] },
  mayFail: true,
  mayPause: () => true,
  check: ({ authentication }) => checkAuthentication((authentication ?? { type: 'none' }) as WebhookAuthentication),
  // The authentication has secrets.
  showInput: ({ expiresAfterMs }) => (expiresAfterMs === undefined ? {} : { expiresAfterMs }),
  async run({ expiresAfterMs, authentication }, context) {
    const none = { data: null, headers: {}, query: {}, at: null, timedOut: false }
    const until = expiresAfterMs === undefined ? null : context.clock.now() + expiresAfterMs
    const content: PauseContent = authentication.type === 'none' ? nothingAsked : { ...nothingAsked, authentication }
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
