import { isObject } from '../domain/run/input.ts'
import { replyOf } from '../domain/workflow/chat.ts'
import type { Plan } from '../engine/compile/plan.ts'

/** The reply of a run that ended without its caller, as text. `output`: as jobs return it. */
export function endedReply({ document }: Pick<Plan, 'document'>, output: unknown): string {
  const responds = Object.values(document.blocks).some(({ type }) => type === 'response')
  const isResponse = responds && isObject(output) && 'data' in output && typeof output['status'] === 'number'
  return replyOf(isResponse ? output['data'] : output)
}
