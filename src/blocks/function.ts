import { Type as t } from '@sinclair/typebox'
import { setMember } from '../domain/run/input.ts'
import { OnError } from '../domain/workflow/workflow.ts'
import { defineBlock, type ProgramCall } from '../engine/block.ts'

export const functionBlock = defineBlock({
  type: 'function',
  label: 'Function',
  description: 'Runs JavaScript in a sandbox. The returned value is the result.',
  kind: 'step',
  parameters: t.Object({
    code: t.String({
      title: 'Code',
      description: 'The body of an async function. <block.path> is a variable with that value.',
    }),
    timeoutMs: t.Integer({ title: 'Time limit in ms', default: 5_000, minimum: 1, maximum: 300_000 }),
    onError: t.Optional(OnError),
  }),
  modes: { code: 'code', onError: 'literal' },
  outputs: ['result', 'stdout', 'error'],
  mayFail: true,
  showInput: (params) => ({ references: valuesBySource(callOf(params)) }),
  async run(params, { runProgram, signal }) {
    const { program, values } = callOf(params)
    const outcome = await runProgram({ program, values, timeoutMs: params.timeoutMs, signal })
    if (outcome.ok) return { outputs: { result: outcome.result, stdout: outcome.stdout, error: null } }
    const { code, message, stdout } = outcome
    return { outputs: { result: null, stdout }, error: { code, message } }
  },
})

/** The parameter mode `code` compiles the text to a call. */
function callOf(params: Readonly<Record<string, unknown>>): ProgramCall {
  return params['code'] as ProgramCall
}

function valuesBySource({ sources, values }: ProgramCall): Record<string, unknown> {
  const bySource: Record<string, unknown> = {}
  for (const [index, source] of sources.entries()) setMember(bySource, source, values[index])
  return bySource
}
