import { Type as t } from '@sinclair/typebox'
import { BlockError, type BlockResult, defineBlock, type Expressions, idsOf } from '../engine/block.ts'

const Condition = t.Object({
  id: t.String({ minLength: 1, maxLength: 100 }),
  expression: t.String({ title: 'Expression', description: 'A JavaScript expression with references in it.' }),
})

export const condition = defineBlock({
  type: 'condition',
  label: 'Condition',
  description: 'Continues at the handle of the first expression that is true.',
  kind: 'step',
  isPure: true,
  parameters: t.Object({ conditions: t.Array(Condition, { title: 'Conditions', minItems: 1, maxItems: 100 }) }),
  modes: { conditions: 'expressions' },
  outputs: ['branch', 'result'],
  branches: { list: 'conditions', prefix: 'condition-', otherwise: 'else', output: 'branch' },
  mayFail: false,
  showInput: (params) => branchesOf(params).shown,
  check({ conditions }) {
    const ids = idsOf(conditions)
    return ids.flatMap((id, index) => {
      const path = `conditions.${index}.id`
      if (id === 'else') {
        return [
          {
            level: 'error',
            code: 'RESERVED_ID',
            path,
            message: 'The id "else" is reserved for the branch that is taken when no expression is true.',
          },
        ]
      }
      if (ids.indexOf(id) === index) return []
      return [{ level: 'error', code: 'DUPLICATE_ID', path, message: `Two branches have the id "${id}".` }]
    })
  },
  run(params, context) {
    return firstTrue(branchesOf(params).list, 0, () => context.signal)
  },
})

function branchesOf({ conditions }: { conditions?: unknown }): Expressions<{ id: string }> {
  return conditions as Expressions<{ id: string }>
}

type Branch = Expressions<{ id: string }>['list'][number]

/** Synchronous until an expression needs the sandbox. */
function firstTrue(
  branches: readonly Branch[],
  from: number,
  signal: () => AbortSignal,
): BlockResult | Promise<BlockResult> {
  for (let index = from; index < branches.length; index += 1) {
    const { entry, evaluate } = branches[index] as Branch
    try {
      const value = evaluate(signal)
      if (value instanceof Promise) return afterSandbox(value, branches, index, signal)
      if (value) return taken(entry)
    } catch (error) {
      throw naming(entry, error)
    }
  }
  return { outputs: { branch: 'else', result: false }, port: 'condition-else' }
}

async function afterSandbox(
  value: Promise<unknown>,
  branches: readonly Branch[],
  index: number,
  signal: () => AbortSignal,
): Promise<BlockResult> {
  const { entry } = branches[index] as Branch
  const settled = await value.catch((error: unknown) => Promise.reject(naming(entry, error)))
  return settled ? taken(entry) : firstTrue(branches, index + 1, signal)
}

/** The error with the branch whose expression failed. */
function naming({ id }: { id: string }, error: unknown): unknown {
  if (!(error instanceof BlockError)) return error
  return new BlockError(
    error.code,
    error.message.replace(/^The expression failed/, `The expression of branch "${id}" failed`),
  )
}

function taken({ id }: { id: string }): BlockResult {
  return { outputs: { branch: id, result: true }, port: `condition-${id}` }
}
