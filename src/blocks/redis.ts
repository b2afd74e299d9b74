import { type Static, Type as t } from '@sinclair/typebox'
import { parseTemplate } from '../domain/workflow/reference.ts'
import { OnError } from '../domain/workflow/workflow.ts'
import { type BlockContext, type BlockResult, defineBlock, type ParameterFinding } from '../engine/block.ts'
import { databaseErrorOf } from './sql.ts'

const Parameters = t.Object({
  credential: t.String({
    minLength: 1,
    title: 'Credential',
    description: 'The name of a credential of the workspace for the server (kind: Redis).',
  }),
  command: t.String({
    minLength: 1,
    maxLength: 200,
    title: 'Command',
    description: 'Such as GET, HSET or ZRANGE. It cannot contain references: set the arguments below.',
  }),
  args: t.Optional(
    t.Array(t.Unknown(), {
      maxItems: 10_000,
      title: 'Arguments',
      description: 'In order. Objects and lists are sent as JSON.',
    }),
  ),
  timeoutMs: t.Integer({
    default: 10_000,
    minimum: 1,
    maximum: 86_400_000,
    title: 'Timeout',
    description: 'Time limit for the reply, in milliseconds.',
  }),
  onError: { ...OnError, default: 'stop' },
})
type Parameters = Static<typeof Parameters>

/** Sends one command to a Redis server. A command may have effects, so it is not repeated. */
export const redis = defineBlock({
  type: 'redis',
  label: 'Redis',
  description: 'Sends a command to a Redis server, and reads its reply.',
  kind: 'step',
  parameters: Parameters,
  modes: { command: 'literal', credential: 'literal' },
  outputs: ['result', 'error'],
  mayFail: true,
  check: ({ command }) => (typeof command === 'string' ? commandFindings(command) : []),
  run,
})

async function run(params: Parameters, context: BlockContext): Promise<BlockResult> {
  const { credential, command, args = [], timeoutMs } = params
  try {
    return { outputs: { result: await context.redis({ credential, command, args, timeoutMs }), error: null } }
  } catch (thrown) {
    const error = databaseErrorOf(thrown)
    return { outputs: { result: null, error }, error }
  }
}

/** A value must not decide which command is sent. */
function commandFindings(command: string): ParameterFinding[] {
  const pasted = parseTemplate(command).find(({ kind }) => kind !== 'text')
  if (!pasted || pasted.kind === 'text') return []
  const message = `A command cannot contain ${pasted.source}. Put ${pasted.source} in "args".`
  return [{ level: 'error', code: 'REFERENCE_IN_COMMAND', path: 'command', message }]
}
