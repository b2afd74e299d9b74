import type { RunEvent } from '../../../http/routes/editor/runs.ts'

export type { RunEvent }

/** The span of a block execution that has ended. */
export type RunSpan = Extract<RunEvent, { event: 'block.ended' }>['span']
