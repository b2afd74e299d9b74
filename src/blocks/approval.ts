import { Type as t } from '@sinclair/typebox'
import { oneOf } from '../domain/one-of.ts'
import { type OpenPause, type PauseAnswer, type PauseContent, pauseAccesses } from '../domain/run/pause.ts'
import { FormFields } from '../domain/workflow/form.ts'
import { defineBlock, type Outputs, type ParameterFinding } from '../engine/block.ts'
import { waitMsMax } from '../language/wait-time.ts'
import { checkFields } from './form-fields.ts'
import { restoreFiles } from './restore-files.ts'

const remindMsMin = 60_000

export const approval = defineBlock({
  type: 'approval',
  label: 'Approval',
  description: 'Pauses the run until people approve or reject.',
  kind: 'step',
  parameters: t.Object({
    title: t.String({ title: 'Title', minLength: 1, maxLength: 200 }),
    message: t.Optional(t.String({ title: 'Message', description: 'Shown on the page, as text.' })),
    fields: t.Optional(FormFields),
    access: oneOf(pauseAccesses, {
      title: 'Who may answer',
      default: 'link',
      labels: { link: 'Anyone with the link', members: 'Members who may run workflows', accounts: 'Named accounts' },
    }),
    accounts: t.Optional(t.Array(t.String(), { title: 'Accounts', description: 'Their e-mail addresses.' })),
    required: t.Integer({ title: 'Approvals needed', default: 1, minimum: 1, maximum: 100 }),
    remindEveryMs: t.Optional(
      t.Number({
        title: 'Remind every (ms)',
        description: 'How often the blocks behind notify run again until the pause ends. Empty: never.',
        minimum: remindMsMin,
        maximum: waitMsMax,
      }),
    ),
    expiresAfterMs: t.Optional(t.Number({ title: 'Expires after (ms)', minimum: 1_000, maximum: waitMsMax })),
  }),
  outputs: ['approved', 'by', 'at', 'fields', 'answers', 'timedOut', 'url', 'callbackUrl', 'id'],
  ports: { ahead: 'notify', others: ['expired'] },
  mayFail: true,
  mayPause: () => true,
  check: (params) => [...problemsOf(params), ...checkFields(params['fields'])],
  restore: ({ answers }, context) => restoreFiles(answers, context),
  async run(params, context) {
    const { title, message = '', fields = [], access, accounts = [], required, expiresAfterMs } = params
    const remindEveryMs = params.remindEveryMs && Math.min(waitMsMax, Math.max(remindMsMin, params.remindEveryMs))
    const content: PauseContent = {
      ...{ title, message, access, required, accounts: accounts.map((each) => each.trim().toLowerCase()) },
      fields,
    }
    const until = expiresAfterMs === undefined ? null : context.clock.now() + expiresAfterMs
    const opened = (pause: OpenPause) => context.lead('notify', { ...unanswered, ...pause })
    const reminded = (number: number, isOver: boolean) => context.repeat('notify', number, isOver)
    const outcome = await context.pause({ kind: 'approval', until, content, remindEveryMs, opened, reminded })
    restoreFiles(outcome.answers, context)
    const outputs = { ...outcome.pause, ...outputsOf(outcome.answers, outcome.isExpired, outcome.endedAt) }
    return outcome.isExpired ? { outputs, port: 'expired' } : { outputs }
  },
})

const unanswered: Outputs = { approved: null, by: null, at: null, fields: {}, answers: [], timedOut: false }

function outputsOf(answers: readonly PauseAnswer[], isExpired: boolean, endedAt: number): Outputs {
  const last = answers.at(-1)
  return {
    approved: !isExpired && answers.every(({ approved }) => approved),
    ...{ by: last?.by ?? null, at: new Date(last?.at ?? endedAt).toISOString(), fields: last?.fields ?? {} },
    answers: answers.map(({ approved, by, at, fields }) => ({ approved, by, at: new Date(at).toISOString(), fields })),
    timedOut: isExpired,
  }
}

function problemsOf(params: Readonly<Record<string, unknown>>): ParameterFinding[] {
  const { access = 'link', accounts, required = 1 } = params
  const problem = (path: string, message: string): ParameterFinding[] => [
    { level: 'error', code: 'INVALID_APPROVAL', path, message },
  ]
  if (typeof required === 'number' && required > 1 && access === 'link') {
    return problem('required', 'With a link, one answer is enough: nobody can tell two people apart.')
  }
  if (access === 'accounts' && Array.isArray(accounts) && accounts.length === 0) {
    return problem('accounts', 'Name at least one account.')
  }
  if (access === 'accounts' && Array.isArray(accounts) && typeof required === 'number' && required > accounts.length) {
    return problem('required', `Only ${accounts.length} accounts may answer, but ${required} must approve.`)
  }
  return []
}
