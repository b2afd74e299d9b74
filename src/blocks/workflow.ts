import { Type as t } from '@sinclair/typebox'
import { isObject } from '../domain/run/input.ts'
import { OnError } from '../domain/workflow/workflow.ts'
import { defineBlock } from '../engine/block.ts'

export const workflow = defineBlock({
  type: 'workflow',
  label: 'Workflow',
  description: 'Runs another deployed workflow of the same workspace inside this run.',
  kind: 'step',
  isRepeatable: true,
  // The other workflow may.
  mayPause: () => true,
  parameters: t.Object({
    workflowId: t.String({ title: 'Workflow', description: 'The ID of the workflow to run.', minLength: 1 }),
    input: t.Optional(t.Unknown({ title: 'Input', description: 'The input of that workflow: an object.' })),
    onError: t.Optional(OnError),
  }),
  modes: { input: 'json', onError: 'literal' },
  outputs: ['success', 'output', 'error', 'executionId'],
  mayFail: true,
  async run({ workflowId, input }, context) {
    const given = input ?? {}
    const outcome = await context.runWorkflow(workflowId, isObject(given) ? given : { input: given })
    const { success, output, error, executionId } = outcome
    return error
      ? { outputs: { success, output, error, executionId }, error }
      : { outputs: { success, output, error, executionId } }
  },
})
