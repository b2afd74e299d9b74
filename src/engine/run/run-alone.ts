import type { Span } from '../../domain/run/log.ts'
import { BlockError, type Outputs } from '../block.ts'
import { aloneFrames, withValueAt } from './alone-frames.ts'
import { BlockContextImpl } from './block-context.ts'
import type { PlanStep, RunOnly, ScopeEnd } from './contracts.ts'
import { Frame } from './frame.ts'
import type { Run } from './run.ts'
import { executeNode } from './walk/walk.ts'

/** Runs one block alone, with the outputs that the blocks around it had in the previous run. */
export async function runAlone(run: Run, only: RunOnly, root: Span): Promise<ScopeEnd> {
  const { steps, before, given } = only
  const { node } = steps.at(-1) as PlanStep
  const { cancellation } = run
  const first = new Frame(run, undefined, undefined, run.plan.root.nodes.length)
  for (const { node: earlier, span } of before) {
    const execution = { run, frame: first, cancellation, spans: [], node: earlier, body: undefined }
    earlier.definition.restore?.((span.output ?? {}) as Outputs, new BlockContextImpl(execution, span), span.input)
  }
  for (const { reference, value } of given) {
    const { of, path } = reference
    if (of.kind === 'variable') run.variables.set(of.name, withValueAt(run.variables.get(of.name), path, value))
  }
  let frames: Frame[]
  try {
    frames = aloneFrames(run, only, run.partial?.cached)
  } catch (error) {
    if (!(error instanceof BlockError)) throw error
    const outer = steps.at(-2)?.node ?? node
    return { kind: 'failed', node: outer, error: { code: error.code, message: error.message } }
  }
  const end = await executeNode({ run, frame: frames.at(-1) as Frame, cancellation, spans: root.children }, node)
  if (end.kind === 'failed') return { kind: 'failed', node, error: end.error }
  return end.kind === 'ended' ? { kind: 'completed', output: end.outputs } : { kind: 'stopped' }
}
